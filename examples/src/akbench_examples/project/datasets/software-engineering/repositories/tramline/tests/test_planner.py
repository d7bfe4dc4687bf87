import datetime as dt

import pytest

from tramline import Planner, Ride, TimetableError, parse_time, read_network

TEXT = """\
stop A 0 Airport
stop B 0 Bridge
stop C 0 Castle
stop D 0 Docks

line R daily
  stops A B C D
  trip 08:00 08:10 08:20 08:40
  trip 09:00 09:10 09:20 09:40
line X daily
  stops A D
  trip 08:30 08:50
line Y daily
  stops B D
  trip 08:12 08:30
"""


def journey(origin, target, at):
    return Planner(read_network(TEXT), dt.date(2026, 3, 2)).earliest(origin, target, parse_time(at))


def test_a_ride_goes_through_without_a_change():
    found = journey("A", "C", "07:30")
    assert found.rides == (Ride("R", "A", 480, "C", 500),)
    assert (found.departure, found.arrival, found.changes) == (480, 500, 0)


def test_changing_is_worth_it_when_it_arrives_earlier():
    found = journey("A", "D", "08:00")
    assert [(ride.line, ride.origin, ride.target) for ride in found.rides] == [("R", "A", "B"), ("Y", "B", "D")]
    assert (found.arrival, found.changes) == (510, 1)


def test_a_later_departure_can_arrive_earlier():
    assert [ride.line for ride in journey("A", "D", "08:01").rides] == ["X"]
    assert [ride.line for ride in journey("B", "D", "08:13").rides] == ["R"]


def test_the_minute_asked_for_is_early_enough():
    assert journey("A", "B", "08:00").departure == 480
    assert journey("A", "B", "08:01").departure == 540


def test_after_the_last_trip_the_next_day_is_looked_at():
    assert journey("A", "B", "09:01").departure == 1440 + 480


def test_there_may_be_no_way():
    assert journey("D", "A", "08:00") is None


def test_stops_must_be_known_and_different():
    with pytest.raises(TimetableError, match="there is no stop Z"):
        journey("A", "Z", "08:00")
    with pytest.raises(TimetableError, match="already at A"):
        journey("A", "A", "08:00")
