import datetime as dt

import pytest

from tramline import Planner, read_network

TEXT = """\
stop A 0 Airport
stop B 0 Bridge
line WORK mo-fr except 2026-03-05
  stops A B
  trip 05:00 05:10
line REST sa,su
  stops A B
  trip 07:00 07:10
line LATE fr
  stops A B
  trip 24:30 24:40
"""


def leaves(day, at):
    """Line and departure of the next journey on a day of March 2026, whose second is a Monday."""
    found = Planner(read_network(TEXT), dt.date(2026, 3, day)).earliest("A", "B", at)
    return found and (found.rides[0].line, found.departure)


@pytest.mark.parametrize(
    ("day", "at", "expected"),
    [
        (4, 1439, None),  # nothing on the fifth
        (6, 1480, ("REST", 1440 + 420)),
        (7, 1439, ("REST", 1440 + 420)),
        (8, 1439, ("WORK", 1440 + 300)),
    ],
)
def test_the_evening_knows_what_runs_the_next_morning(day, at, expected):
    assert leaves(day, at) == expected


@pytest.mark.parametrize(("day", "expected"), [(7, ("LATE", 30)), (5, ("WORK", 1440 + 300))])
def test_the_small_hours_know_what_still_runs_from_the_day_before(day, expected):
    assert leaves(day, 0) == expected


def test_a_planner_knows_three_service_days():
    known = [(run.trip.line, run.shift) for run in read_network(TEXT).runs(dt.date(2026, 3, 7))]
    assert known == [("WORK", -1440), ("LATE", -1440), ("REST", 0), ("REST", 1440)]
