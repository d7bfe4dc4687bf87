import datetime as dt

import pytest

from tramline import Planner, parse_time, read_network

MONDAY = dt.date(2026, 3, 2)
STOPS = "stop A 0 Airport\nstop B 0 Bridge\n"


def mornings(days, trip, at):
    """The days of the week, from 0 for Monday, on which a journey can leave within an hour."""
    network = read_network(f"{STOPS}line N {days}\nstops A B\ntrip {trip}\n")
    time = parse_time(at)
    found = []
    for day in range(7):
        journey = Planner(network, MONDAY + dt.timedelta(days=day)).earliest("A", "B", time)
        if journey and journey.departure <= time + 60:
            found.append(day)
    return found


@pytest.mark.parametrize(
    ("days", "expected"), [("fr,sa", [5, 6]), ("mo", [1]), ("su", [0]), ("sa-su", [0, 6]), ("mo-fr", [1, 2, 3, 4, 5])]
)
def test_a_night_ends_on_the_day_after(days, expected):
    assert mornings(days, "25:10 25:30", "00:30") == expected


@pytest.mark.parametrize(
    ("days", "expected"), [("fr,sa", [3, 4]), ("mo", [6]), ("su", [5]), ("mo-fr", [0, 1, 2, 3, 6])]
)
def test_an_evening_goes_on_into_the_day_after(days, expected):
    assert mornings(days, "00:10 00:30", "23:30") == expected


def test_a_trip_that_passes_midnight_is_on_its_way_in_the_morning():
    text = f"{STOPS}stop C 0 Castle\nline N sa\nstops A B C\ntrip 23:40 24:20 24:50\n"
    network = read_network(text)
    found = [Planner(network, MONDAY + dt.timedelta(days=day)).earliest("B", "C", 0) for day in (4, 5, 6)]
    assert [journey.departure for journey in found] == [1440 + 1460, 1460, 20]


def test_days_left_out_are_service_days():
    network = read_network(f"{STOPS}line N daily except 2026-03-07\nstops A B\ntrip 25:10 25:30\n")
    found = [Planner(network, dt.date(2026, 3, day)).earliest("A", "B", 0) for day in (6, 7, 8, 9)]
    assert [journey.departure for journey in found] == [70, 70, 1440 + 70, 70]


def test_runs_are_those_of_three_service_days_in_their_order():
    network = read_network(f"{STOPS}line N tu\nstops A B\ntrip 10:00 10:10\nline M th\nstops A B\ntrip 11:00 11:10\n")
    shifts = [(run.trip.line, run.shift) for run in network.runs(dt.date(2026, 3, 4))]
    assert shifts == [("N", -1440), ("M", 1440)]
