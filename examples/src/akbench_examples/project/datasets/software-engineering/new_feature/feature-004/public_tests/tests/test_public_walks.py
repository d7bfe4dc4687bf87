import datetime as dt

import tramline

NETWORK = tramline.read_network("""\
stop HBF 4 Central Station
stop UNI 1 University
stop OLD 1 Old Town
stop ZOO 2 Zoo
walk UNI OLD 4
line T1 daily
  stops HBF UNI
  trip 07:00 07:06
line T2 daily
  stops OLD ZOO
  trip 07:09 07:20
  trip 07:10 07:21
""")


def legs(origin, target, at):
    found = tramline.Planner(NETWORK, dt.date(2026, 3, 2)).earliest(origin, target, tramline.parse_time(at))
    return [(leg.origin, tramline.format_time(leg.departure), tramline.format_time(leg.arrival)) for leg in found.legs]


def test_a_walk_between_two_rides():
    assert legs("HBF", "ZOO", "06:50") == [
        ("HBF", "07:00", "07:06"),
        ("UNI", "07:06", "07:10"),
        ("OLD", "07:10", "07:21"),
    ]


def test_a_walk_at_the_beginning_starts_late():
    assert legs("UNI", "ZOO", "06:50") == [("UNI", "07:05", "07:09"), ("OLD", "07:09", "07:20")]
