import datetime as dt

import tramline

NETWORK = tramline.read_network("""\
stop HBF 4 Central Station
stop UNI 1 University
stop ZOO 2 Zoo
line T1 mo-fr
  stops HBF UNI ZOO
  trip 07:00 07:06 07:15
  trip 08:20 08:26 08:35
line T2 mo-fr
  stops ZOO HBF
  trip 07:10 07:20
line T3 sa,su
  stops HBF ZOO
  trip 07:05 07:20
""")
MONDAY = dt.date(2026, 3, 2)


def test_the_next_hour_of_a_stop_is_listed():
    (found,) = tramline.departures(NETWORK, "HBF", MONDAY, tramline.parse_time("07:00"))
    assert (found.time, found.line, found.destination, found.via) == (420, "T1", "ZOO", ("UNI",))


def test_the_end_of_a_line_is_no_departure():
    assert [found.line for found in tramline.departures(NETWORK, "ZOO", MONDAY, 0, within=1440)] == ["T2"]
