import datetime as dt

import tramline

NETWORK = tramline.read_network("""\
stop HBF 4 Central Station
stop UNI 1 University
stop ZOO 2 Zoo
line T1 daily
  stops HBF ZOO
  trip 07:00 07:20
  trip 07:20 07:40
  trip 07:40 08:00
line T2 daily
  stops HBF UNI
  trip 07:05 07:10
line T3 daily
  stops UNI ZOO
  trip 07:30 07:41
""")


def test_journeys_that_leave_in_the_time_are_listed():
    planner = tramline.Planner(NETWORK, dt.date(2026, 3, 2))
    found = planner.alternatives("HBF", "ZOO", tramline.parse_time("07:00"), tramline.parse_time("07:30"))
    assert [(journey.departure, journey.arrival, journey.changes) for journey in found] == [
        (420, 440, 0),
        (440, 460, 0),
    ]
