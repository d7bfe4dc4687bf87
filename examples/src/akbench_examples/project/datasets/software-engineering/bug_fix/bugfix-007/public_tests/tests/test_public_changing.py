import datetime as dt

from tramline import Planner, parse_time, read_network

NETWORK = read_network("""\
stop OLD 1 Old Town
stop HBF 5 Central Station
stop ZOO 2 Zoo

line T1 daily
  stops OLD HBF
  trip 07:00 07:10
line T2 daily
  stops HBF ZOO
  trip 07:12 07:20
  trip 07:15 07:23
""")


def test_two_minutes_are_too_short_for_a_change_of_five():
    journey = Planner(NETWORK, dt.date(2026, 3, 2)).earliest("OLD", "ZOO", parse_time("07:00"))
    assert [ride.departure for ride in journey.rides] == [parse_time("07:00"), parse_time("07:15")]
