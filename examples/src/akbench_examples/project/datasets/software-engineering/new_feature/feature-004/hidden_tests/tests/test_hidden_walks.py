import datetime as dt
import random
from itertools import pairwise

import pytest

MONDAY = dt.date(2026, 3, 2)
STOPS = "".join(f"stop {code} {change} Stop {code}\n" for code, change in zip("ABCDE", (5, 5, 5, 5, 0), strict=True))


def planned(text, origin, target, at):
    from tramline import Planner, parse_time, read_network

    return Planner(read_network(STOPS + text), MONDAY).earliest(origin, target, parse_time(at))


def legs(text, origin, target, at):
    """Line or walk, stops and times, as in ``T AB 10:00-10:10``."""
    from tramline import Walk, format_time

    found = planned(text, origin, target, at)
    return found and [
        f"{'walk' if isinstance(leg, Walk) else leg.line} {leg.origin}{leg.target} "
        f"{format_time(leg.departure)}-{format_time(leg.arrival)}"
        for leg in found.legs
    ]


def line(name, stops, *trips):
    return f"line {name} daily\nstops {' '.join(stops)}\n" + "".join(f"trip {trip}\n" for trip in trips)


def test_walks_lead_both_ways():
    from tramline import read_network

    network = read_network(f"{STOPS}walk A B 4\nwalk C A 6\n")
    assert network.walks_from("A") == {"B": 4, "C": 6}
    assert network.walks_from("B") == {"A": 4}
    assert network.walks_from("D") == {}


@pytest.mark.parametrize(
    "walk", ["walk A B", "walk A B 0", "walk A B -1", "walk A B 1.5", "walk A B two", "walk A B 3 4"]
)
def test_walks_that_make_no_sense_are_named_with_their_line(walk):
    from tramline import TimetableError, read_network

    with pytest.raises(TimetableError) as caught:
        read_network(f"{STOPS}\n{walk}\n")
    assert caught.value.line == 7
    assert read_network(f"{STOPS}\nwalk A B 1\n").walks_from("B") == {"A": 1}


@pytest.mark.parametrize("walk", ["walk A A 3", "walk A Z 3", "walk Z A 3", "walk C D 3", "walk D C 4"])
def test_a_walk_joins_two_known_stops_once(walk):
    from tramline import TimetableError, read_network

    with pytest.raises(TimetableError) as caught:
        read_network(f"{STOPS}walk C D 3\nwalk C E 3\n{walk}\n")
    assert caught.value.line == 8


def test_walks_are_checked_when_added_from_python():
    from tramline import Network, Stop, TimetableError

    network = Network()
    for code in "AB":
        network.add_stop(Stop(code, code))
    for wrong in (("A", "A", 1), ("A", "C", 1), ("A", "B", 0)):
        with pytest.raises(TimetableError):
            network.add_walk(*wrong)
    network.add_walk("A", "B", 1)
    with pytest.raises(TimetableError):
        network.add_walk("B", "A", 2)
    assert network.walks_from("A") == {"B": 1}


def test_the_whole_journey_can_be_a_walk():
    text = "walk A B 4\n" + line("T", "AB", "10:00 10:10")
    found = planned(text, "A", "B", "09:30")
    assert (found.rides, found.departure, found.arrival, found.changes) == ((), 570, 574, 0)
    assert legs(text, "B", "A", "09:30") == ["walk BA 09:30-09:34"]


def test_a_ride_is_taken_when_it_is_quicker():
    assert legs("walk A B 40\n" + line("T", "AB", "10:00 10:10"), "A", "B", "09:55") == ["T AB 10:00-10:10"]


def test_a_walk_at_the_end_begins_on_arrival():
    found = planned("walk B C 3\n" + line("T", "AB", "10:00 10:10"), "A", "C", "09:00")
    assert [(leg.origin, leg.departure, leg.arrival) for leg in found.legs] == [("A", 600, 610), ("B", 610, 613)]
    assert (found.departure, found.arrival, found.changes) == (600, 613, 0)


def test_a_walk_at_the_beginning_reaches_its_ride_just_in_time():
    text = "walk A B 3\n" + line("T", "BC", "10:02 10:10", "10:20 10:30")
    assert legs(text, "A", "C", "09:30") == ["walk AB 09:59-10:02", "T BC 10:02-10:10"]
    assert legs(text, "A", "C", "09:59") == ["walk AB 09:59-10:02", "T BC 10:02-10:10"]
    assert legs(text, "A", "C", "10:00") == ["walk AB 10:17-10:20", "T BC 10:20-10:30"]


def test_a_walk_needs_no_time_for_changing():
    text = "walk B C 1\n" + line("T", "AB", "10:00 10:10") + line("U", "CD", "10:10 10:20", "10:11 10:21")
    found = planned(text, "A", "D", "10:00")
    assert (found.arrival, found.changes, len(found.legs), len(found.rides)) == (621, 1, 3, 2)


def test_changing_at_one_stop_takes_its_minutes_as_before():
    text = "walk D E 1\n" + line("T", "AB", "10:00 10:10") + line("U", "BC", "10:14 10:20", "10:15 10:21")
    assert legs(text, "A", "C", "10:00") == ["T AB 10:00-10:10", "U BC 10:15-10:21"]


def test_two_walks_do_not_follow_each_other():
    assert legs("walk A B 3\nwalk B C 3\n", "A", "C", "10:00") is None
    text = "walk B C 3\nwalk C D 3\n" + line("T", "AB", "10:00 10:10") + line("U", "CD", "10:30 10:31")
    assert legs(text, "A", "D", "10:00") == ["T AB 10:00-10:10", "walk BC 10:10-10:13", "U CD 10:30-10:31"]


def test_who_walks_to_a_stop_may_board_before_someone_who_arrived_there_earlier():
    text = (
        "walk B C 4\n"
        + line("T", "ABC", "10:00 10:05 10:07")
        + line("U", "CD", "10:09 10:20", "10:12 10:30")
        + line("V", "CE", "10:11 10:40", "10:12 10:45")
    )
    assert legs(text, "A", "D", "10:00") == ["T AB 10:00-10:05", "walk BC 10:05-10:09", "U CD 10:09-10:20"]


def test_who_arrives_later_by_vehicle_may_walk_on():
    text = "walk A B 5\nwalk B C 5\n" + line("T", "AB", "10:00 10:08")
    assert legs(text, "A", "C", "10:00") == ["T AB 10:00-10:08", "walk BC 10:08-10:13"]


def test_a_walk_comes_before_a_change_only_where_it_helps():
    text = "walk B C 9\n" + line("T", "ABC", "10:00 10:05 10:08") + line("U", "CD", "10:13 10:20")
    assert legs(text, "A", "D", "10:00") == ["T AC 10:00-10:08", "U CD 10:13-10:20"]


def test_the_command_prints_walks(tmp_path, capsys):
    from tramline.cli import main

    (tmp_path / "town.tt").write_text(f"{STOPS}walk B C 3\n{line('T10', 'AB', '10:00 10:10')}")
    assert main(["plan", str(tmp_path / "town.tt"), "A", "C", "--on", "2026-03-02", "--at", "09:00"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "10:00  Stop A  T10   10:10  Stop B",
        "10:10  Stop B  walk  10:13  Stop C",
    ]


def town(seed):
    """A small network made up at random: minutes for changing, walks, and trips as lists of stop and time."""
    draw = random.Random(seed)
    changes = {code: draw.randint(0, 6) for code in "ABCDE"}
    pairs = [(a, b) for a in changes for b in changes if a < b]
    walks = {pair: draw.randint(1, 9) for pair in draw.sample(pairs, 3)}
    trips = []
    for _ in range(9):
        stops = draw.sample("ABCDE", draw.randint(2, 4))
        time = draw.randint(600, 640)
        trips.append([(stop, time := time + draw.randint(1, 9)) for stop in stops])
    return changes, walks, trips


def arrivals(changes, walks, trips, origin, at):
    """When each stop can be reached, by trying out everything."""
    ways = walks | {(b, a): minutes for (a, b), minutes in walks.items()}
    seen, todo = set(), [(origin, at, "start")]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        stop, time, came = state
        ready = time + (changes[stop] if came == "ride" else 0)
        for trip in trips:
            for place, (here, leaves) in enumerate(trip):
                if here == stop and leaves >= ready:
                    todo += [(there, arrives, "ride") for there, arrives in trip[place + 1 :]]
        if came != "walk":
            todo += [(there, time + minutes, "walk") for (here, there), minutes in ways.items() if here == stop]
    return {code: min((time for stop, time, _ in seen if stop == code), default=None) for code in changes}


def possible(legs, changes, walks, trips):
    """Whether one leg can follow the other."""
    from tramline import Walk

    ways = walks | {(b, a): minutes for (a, b), minutes in walks.items()}
    for here, there in pairwise(legs):
        both = not isinstance(here, Walk) and not isinstance(there, Walk)
        wait = changes[here.target] if both else 0
        if here.target != there.origin or here.arrival + wait > there.departure:
            return False
        if isinstance(here, Walk) and isinstance(there, Walk):
            return False
    return all(
        leg.arrival - leg.departure == ways[leg.origin, leg.target]
        if isinstance(leg, Walk)
        else {(leg.origin, leg.departure), (leg.target, leg.arrival)} <= set(trips[int(leg.line[1:])])
        for leg in legs
    )


@pytest.mark.parametrize("seed", range(40))
def test_nothing_arrives_earlier_in_towns_made_up_at_random(seed):
    from tramline import Call, Network, Planner, Service, Stop

    changes, walks, trips = town(seed)
    network = Network()
    for code, minutes in changes.items():
        network.add_stop(Stop(code, code, minutes))
    for pair, minutes in walks.items():
        network.add_walk(*pair, minutes)
    for number, trip in enumerate(trips):
        network.add_trip(f"L{number}", Service.parse("mo"), [Call(stop, time, time) for stop, time in trip])
    planner = Planner(network, MONDAY)
    for origin in changes:
        expected = arrivals(changes, walks, trips, origin, 600)
        for target in set(changes) - {origin}:
            found = planner.earliest(origin, target, 600)
            assert (found and found.arrival) == expected[target]
            if found:
                assert found.departure >= 600
                assert (found.legs[0].origin, found.legs[-1].target) == (origin, target)
                assert possible(found.legs, changes, walks, trips)
