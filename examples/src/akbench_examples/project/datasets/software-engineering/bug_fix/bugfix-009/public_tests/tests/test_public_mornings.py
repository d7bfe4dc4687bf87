import datetime as dt

from tramline import Planner, format_time, parse_time, read_network

NETWORK = read_network("""\
stop HBF 4 Central Station
stop UNI 1 University

line T4 mo-fr
  stops HBF UNI
  trip 04:30 04:36
line T5 daily
  stops HBF UNI
  trip 06:00 06:06
""")


def leaves(date):
    return format_time(
        Planner(NETWORK, dt.date.fromisoformat(date)).earliest("HBF", "UNI", parse_time("23:50")).departure
    )


def test_the_first_tram_of_the_next_morning_is_one_that_runs():
    assert [leaves(date) for date in ("2026-03-07", "2026-03-08")] == ["06:00+1", "04:30+1"]
