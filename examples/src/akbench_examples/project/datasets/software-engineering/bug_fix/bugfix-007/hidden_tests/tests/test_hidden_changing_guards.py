import datetime as dt

from tramline import Planner, parse_time, read_network

NETWORK = read_network("""\
stop A 9 Airport
stop B 9 Bridge
stop C 9 Castle
line T daily
  stops A B C
  trip 10:00 10:10/10:11 10:20
""")


def journey(origin, target, at):
    return Planner(NETWORK, dt.date(2026, 3, 2)).earliest(origin, target, parse_time(at))


def test_setting_out_takes_no_time():
    assert journey("A", "B", "10:00").departure == parse_time("10:00")
    assert journey("B", "C", "10:11").departure == parse_time("10:11")


def test_who_stays_in_the_vehicle_does_not_change():
    found = journey("A", "C", "09:50")
    assert (found.arrival, found.changes) == (parse_time("10:20"), 0)
