import datetime as dt

from tramline import Planner, parse_time, read_network

NETWORK = read_network("""\
stop HBF 4 Central Station
stop ZOO 2 Zoo

line N1 fr,sa
  stops HBF ZOO
  trip 25:10 25:30
line T1 daily
  stops HBF ZOO
  trip 05:00 05:20
""")


def first(date, at):
    return Planner(NETWORK, dt.date.fromisoformat(date)).earliest("HBF", "ZOO", parse_time(at)).rides[0].line


def test_the_night_tram_runs_on_sunday_morning_and_not_on_thursday_morning():
    assert [first(date, "00:30") for date in ("2026-03-08", "2026-03-05")] == ["N1", "T1"]
