import datetime as dt

from tramline import Planner, parse_time, read_network

STOPS = """\
stop OLD 1 Old Town
stop HBF 5 Central Station
stop ZOO 2 Zoo
"""
LINES = """\
line IN daily
  stops OLD HBF ZOO
  trip 07:00 07:10/07:12 07:20
line OUT daily
  stops HBF OLD
  trip 07:14 07:24
  trip 07:15 07:25
line NEW daily
  stops ZOO OLD
  trip 07:21 07:40
  trip 07:22 07:41
"""


def arrival(origin, target, at, text=STOPS + LINES):
    return Planner(read_network(text), dt.date(2026, 3, 2)).earliest(origin, target, parse_time(at)).arrival


def test_a_change_takes_the_minutes_of_the_stop_where_it_happens():
    text = f"{STOPS}stop END 0 End\n{LINES}line GO daily\nstops ZOO END\ntrip 07:21 07:30\ntrip 07:22 07:31\n"
    assert arrival("OLD", "END", "07:00", text) == parse_time("07:31")
    text = f"{STOPS}stop END 0 End\n{LINES}line GO daily\nstops HBF END\ntrip 07:14 07:30\ntrip 07:15 07:31\n"
    assert arrival("OLD", "END", "07:00", text) == parse_time("07:31")


def test_setting_out_and_arriving_take_no_time():
    assert arrival("HBF", "OLD", "07:14") == parse_time("07:24")
    assert arrival("OLD", "ZOO", "07:00") == parse_time("07:20")


def test_staying_in_the_vehicle_is_no_change():
    assert arrival("OLD", "ZOO", "06:30") == parse_time("07:20")
