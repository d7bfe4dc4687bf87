import datetime as dt

import pytest

from tramline import Planner, format_time, parse_time, read_network


def departures(text, origin, target, at="10:00"):
    journey = Planner(read_network(text), dt.date(2026, 3, 2)).earliest(origin, target, parse_time(at))
    return [format_time(ride.departure) for ride in journey.rides]


def town(minutes, stops_of_first, trip, *second):
    stops = "".join(f"stop {code} {change} Stop {code}\n" for code, change in zip("ABCD", minutes, strict=True))
    trips = "".join(f"trip {times}\n" for times in second)
    return f"{stops}line T daily\nstops {stops_of_first}\ntrip {trip}\nline U daily\nstops C D\n{trips}"


def test_a_quick_change_is_taken_behind_a_stop_that_is_slow():
    text = town((9, 0, 1, 0), "A C", "10:00 10:10", "10:11 10:20", "10:19 10:30")
    assert departures(text, "A", "D") == ["10:00", "10:11"]


def test_the_stop_before_the_change_does_not_count():
    text = town((0, 8, 2, 0), "A B C", "10:00 10:05 10:10", "10:12 10:20", "10:18 10:30")
    assert departures(text, "A", "D") == ["10:00", "10:12"]
    text = town((4, 1, 4, 0), "A B C", "10:00 10:05 10:10", "10:11 10:20", "10:14 10:30")
    assert departures(text, "A", "D") == ["10:00", "10:14"]


def test_the_whole_minutes_are_enough_and_one_less_is_not():
    for minutes in (2, 5, 8):
        leaves = [f"10:{10 + minutes - 1:02} 10:40", f"10:{10 + minutes:02} 10:41"]
        assert departures(town((0, 0, minutes, 0), "A C", "10:00 10:10", *leaves), "A", "D")[1] == leaves[1][:5]


@pytest.mark.parametrize(("here", "there"), [(1, 6), (6, 1)])
def test_each_of_two_changes_takes_its_own_minutes(here, there):
    text = (
        f"stop A 3 A\nstop B {here} B\nstop C {there} C\nstop D 3 D\n"
        "line T daily\nstops A B\ntrip 10:00 10:10\n"
        "line U daily\nstops B C\n"
        + "".join(f"trip 10:{m:02} 10:30\n" for m in range(11, 20))
        + "line V daily\nstops C D\n"
        + "".join(f"trip 10:{m:02} 10:50\n" for m in range(31, 40))
    )
    journey = Planner(read_network(text), dt.date(2026, 3, 2)).earliest("A", "D", parse_time("10:00"))
    first, second, third = journey.rides
    assert second.departure - first.arrival >= here
    assert third.departure - second.arrival >= there
    assert third.departure == parse_time("10:30") + there


def test_stops_that_take_no_time_at_all_can_be_changed_at_in_the_same_minute():
    text = town((3, 7, 0, 5), "A B C", "10:00 10:05 10:10", "10:10 10:20", "10:30 10:40")
    assert departures(text, "A", "D") == ["10:00", "10:10"]
