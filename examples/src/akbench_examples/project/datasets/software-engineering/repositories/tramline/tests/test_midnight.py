import datetime as dt

import pytest

from tramline import Planner, parse_time, read_network

NETWORK = read_network("""\
stop A 0 Airport
stop B 0 Bridge

line NIGHT fr,sa
  stops A B
  trip 23:50 24:10
  trip 25:10 25:30
line EARLY mo-fr except 2026-03-05
  stops A B
  trip 04:30 04:50
""")
MONDAY = dt.date(2026, 3, 2)


def first(weekday, at):
    found = Planner(NETWORK, MONDAY + dt.timedelta(days=weekday)).earliest("A", "B", parse_time(at))
    return found and (found.rides[0].line, found.departure)


def test_a_night_service_runs_into_the_morning_after_its_day():
    assert first(5, "00:30") == ("NIGHT", 70)
    assert first(6, "00:30") == ("NIGHT", 70)


@pytest.mark.parametrize("weekday", [0, 1, 4])
def test_it_does_not_run_in_the_morning_of_its_day(weekday):
    assert first(weekday, "00:30")[0] == "EARLY"


def test_a_trip_may_pass_midnight():
    assert first(4, "23:00") == ("NIGHT", 1430)


def test_the_morning_of_the_next_day_is_looked_at():
    assert first(0, "12:00") == ("EARLY", 1440 + 270)
    assert first(6, "12:00") == ("EARLY", 1440 + 270)


def test_exceptions_are_dates_of_service_days():
    assert first(2, "12:00") is None
    assert first(3, "12:00") == ("EARLY", 1440 + 270)
