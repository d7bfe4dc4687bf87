import datetime as dt
import random
from itertools import pairwise
from time import perf_counter

import pytest

MONDAY = dt.date(2026, 3, 2)
STOPS = "stop A 0 Airport\nstop B 2 Bridge\nstop C 0 Castle\nstop D 0 Docks\n"


def line(name, stops, *trips):
    return f"line {name} daily\nstops {' '.join(stops)}\n" + "".join(f"trip {trip}\n" for trip in trips)


def listed(text, since, until, origin="A", target="C"):
    """Departure, arrival and lines of all journeys."""
    from tramline import Planner, format_time, parse_time, read_network

    planner = Planner(read_network(STOPS + text), MONDAY)
    return [
        (format_time(found.departure), format_time(found.arrival), "".join(ride.line for ride in found.rides))
        for found in planner.alternatives(origin, target, parse_time(since), parse_time(until))
    ]


def test_fewer_changes_are_worth_arriving_later():
    text = line("X", "AC", "10:00 10:50") + line("T", "AB", "10:00 10:10") + line("U", "BC", "10:12 10:30")
    assert listed(text, "10:00", "10:00") == [("10:00", "10:30", "TU"), ("10:00", "10:50", "X")]


def test_fewer_changes_are_worth_leaving_earlier():
    text = line("X", "AC", "10:00 10:40") + line("T", "AB", "10:05 10:10") + line("U", "BC", "10:12 10:40")
    assert listed(text, "09:00", "11:00") == [("10:00", "10:40", "X"), ("10:05", "10:40", "TU")]


def test_who_arrives_no_earlier_leaves_as_late_as_possible():
    text = line("X", "AC", "10:00 10:40", "10:10 10:40", "10:20 10:41")
    assert listed(text, "09:00", "11:00") == [("10:10", "10:40", "X"), ("10:20", "10:41", "X")]


def test_a_feeder_is_not_taken_before_the_last_that_is_in_time():
    text = line("T", "AB", "10:00 10:10", "10:10 10:20", "10:20 10:30") + line("U", "BC", "10:23 10:40")
    assert listed(text, "09:00", "10:19") == [("10:10", "10:40", "TU")]


def test_both_ends_of_the_time_belong_to_it():
    text = line("X", "AC", "10:00 10:20", "10:10 10:30", "10:20 10:40")
    assert [found[0] for found in listed(text, "10:00", "10:20")] == ["10:00", "10:10", "10:20"]
    assert [found[0] for found in listed(text, "10:01", "10:19")] == ["10:10"]


def test_what_leaves_after_the_time_spoils_nothing():
    text = line("X", "AC", "10:00 11:00", "10:30 10:50")
    assert listed(text, "10:00", "10:29") == [("10:00", "11:00", "X")]
    assert listed(text, "10:00", "10:30") == [("10:30", "10:50", "X")]


def test_what_leaves_after_the_time_is_not_changed_into_at_the_start():
    text = line("X", "AC", "10:30 10:50") + line("T", "AB", "10:00 10:10") + line("U", "BC", "10:45 11:00")
    assert listed(text, "10:00", "10:29") == [("10:00", "11:00", "TU")]


def test_of_equal_journeys_one_is_listed():
    text = line("X", "AC", "10:00 10:20") + line("Y", "AC", "10:00 10:20")
    (found,) = listed(text, "10:00", "10:00")
    assert found[:2] == ("10:00", "10:20")


def test_journeys_are_sorted_by_departure_and_arrival():
    text = (
        line("X", "AC", "10:00 10:50", "10:10 11:00")
        + line("T", "AB", "10:00 10:10")
        + line("U", "BC", "10:12 10:48")
        + line("V", "BD", "10:12 10:20")
        + line("W", "DC", "10:20 10:30")
    )
    assert listed(text, "09:00", "12:00") == [
        ("10:00", "10:30", "TVW"),
        ("10:00", "10:48", "TU"),
        ("10:00", "10:50", "X"),
        ("10:10", "11:00", "X"),
    ]


def test_changing_takes_its_minutes():
    text = line("T", "AB", "10:00 10:10") + line("U", "BC", "10:11 10:20", "10:12 10:21")
    assert listed(text, "10:00", "10:00") == [("10:00", "10:21", "TU")]


def test_journeys_may_start_and_end_on_other_days():
    text = line("X", "AC", "23:50 24:10")
    assert listed(text, "00:00", "24:00") == [("23:50", "00:10+1", "X")]
    assert listed(text, "00:00", "47:59") == [("23:50", "00:10+1", "X"), ("23:50+1", "00:10+2", "X")]


def test_nobody_gets_out_at_the_first_stop_again():
    text = line("T", "AB", "10:00 10:10") + line("U", "BA", "10:15 10:20") + line("X", "AC", "10:30 10:40")
    assert listed(text, "10:00", "10:10") == []
    assert listed(text, "10:00", "10:30") == [("10:30", "10:40", "X")]


def test_there_may_be_no_journey():
    text = line("X", "AC", "10:00 10:20")
    assert listed(text, "10:01", "11:00") == []
    assert listed(text, "10:00", "11:00", "C", "A") == []


def test_stops_must_be_known_and_different():
    from tramline import Planner, TimetableError, read_network

    planner = Planner(read_network(STOPS), MONDAY)
    assert planner.alternatives("A", "C", 0, 60) == []
    with pytest.raises(TimetableError, match="there is no stop Z"):
        planner.alternatives("Z", "A", 0, 60)
    with pytest.raises(TimetableError, match="already at A"):
        planner.alternatives("A", "A", 0, 60)


@pytest.fixture
def plan(tmp_path, capsys):
    from tramline.cli import main

    path = tmp_path / "town.tt"
    text = line("X", "AC", "10:00 10:50") + line("T", "AB", "10:00 10:10") + line("U", "BC", "10:12 10:30")
    path.write_text(STOPS + text)

    def run(*arguments):
        code = main(["plan", str(path), "A", "C", "--on", "2026-03-02", *arguments])
        return code, capsys.readouterr().out

    return run


def test_the_command_prints_them_with_a_blank_line_between(plan):
    assert plan("--at", "10:00", "--until", "10:00") == (
        0,
        "10:00  Airport  T  10:10  Bridge\n10:12  Bridge   U  10:30  Castle\n\n10:00  Airport  X  10:50  Castle\n",
    )


def test_the_command_prints_one_journey_without_an_end(plan):
    assert plan("--at", "10:00", "--until", "10:00")[1].count("\n\n") == 1
    assert plan("--at", "10:00") == (0, "10:00  Airport  T  10:10  Bridge\n10:12  Bridge   U  10:30  Castle\n")


def test_the_command_says_when_there_is_no_way(plan):
    assert plan("--at", "10:00", "--until", "10:00")[0] == 0
    assert plan("--at", "10:01", "--until", "11:00") == (2, "no way from A to C\n")


def town(seed, stops="ABCDE", trips=12):
    """A small network made up at random: minutes for changing, and trips as lists of stop and time."""
    draw = random.Random(seed)
    changes = {code: draw.randint(0, 4) for code in stops}
    made = []
    for _ in range(trips):
        time = draw.randint(600, 640)
        calls = draw.sample(stops, draw.randint(2, 4))
        made.append([(stop, time := time + draw.randint(1, 12)) for stop in calls])
    return changes, made


def network_of(changes, trips, service="mo"):
    from tramline import Call, Network, Service, Stop

    network = Network()
    for code, minutes in changes.items():
        network.add_stop(Stop(code, code, minutes))
    for number, trip in enumerate(trips):
        network.add_trip(f"L{number}", Service.parse(service), [Call(stop, time, time) for stop, time in trip])
    return network


def worth_having(changes, trips, origin, target, since, until):
    """Departure, arrival and changes of the journeys to which none is preferable, by trying out everything."""
    seen, todo, found = set(), [(origin, None, None, 0)], set()
    while todo:
        state = todo.pop()
        if state in seen or state[3] > 6:
            continue
        seen.add(state)
        stop, time, first, rides = state
        if stop == target:
            found.add((first, time, rides - 1))
        for trip in trips:
            for place, (here, leaves) in enumerate(trip):
                in_time = since <= leaves <= until if rides == 0 else time + changes[stop] <= leaves
                if here == stop and in_time:
                    start = leaves if first is None else first
                    later = [(there, arrives, start, rides + 1) for there, arrives in trip[place + 1 :]]
                    todo += [state for state in later if state[0] != origin]
    return sorted(
        one
        for one in found
        if not any(o != one and o[0] >= one[0] and o[1] <= one[1] and o[2] <= one[2] for o in found)
    )


@pytest.mark.parametrize("seed", range(30))
def test_none_is_missing_and_none_too_many_in_towns_made_up_at_random(seed):
    from tramline import Planner

    changes, trips = town(seed)
    planner = Planner(network_of(changes, trips), MONDAY)
    for target in "BCDE":
        found = planner.alternatives("A", target, 605, 635)
        expected = worth_having(changes, trips, "A", target, 605, 635)
        assert [(one.departure, one.arrival, one.changes) for one in found] == expected
        for journey in found:
            rides = journey.rides
            assert (rides[0].origin, rides[-1].target) == ("A", target)
            for ride in rides:
                assert {(ride.origin, ride.departure), (ride.target, ride.arrival)} <= set(trips[int(ride.line[1:])])
            for here, there in pairwise(rides):
                assert here.target == there.origin
                assert here.arrival + changes[here.target] <= there.departure


def test_a_town_with_many_trips_takes_no_more_than_seconds():
    from tramline import Planner

    draw = random.Random(0)
    stops = [f"S{number}" for number in range(40)]
    changes = dict.fromkeys(stops, 2)
    trips = []
    for _ in range(600):
        time = draw.randint(360, 1320)
        trips.append([(stop, time := time + draw.randint(2, 5)) for stop in draw.sample(stops, 8)])
    planner = Planner(network_of(changes, trips), MONDAY)
    begin = perf_counter()
    found = planner.alternatives("S0", "S1", 420, 540)
    assert perf_counter() - begin < 30
    assert len(found) > 1
