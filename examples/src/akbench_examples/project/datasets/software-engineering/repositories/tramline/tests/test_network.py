import datetime as dt

import pytest

from tramline import Call, Network, Service, Stop, TimetableError

DAILY = Service.parse("daily")


@pytest.fixture
def network():
    network = Network()
    for code in "ABC":
        network.add_stop(Stop(code, f"Stop {code}"))
    return network


def test_trips_are_kept_by_line_in_their_order(network):
    late = network.add_trip("T1", DAILY, [Call("A", 60, 60), Call("B", 70, 70)])
    network.add_trip("T2", DAILY, [Call("A", 0, 0), Call("B", 5, 5)])
    early = network.add_trip("T1", DAILY, [Call("A", 30, 30), Call("C", 40, 40)])
    assert network.line("T1") == [late, early]


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ([Call("A", 0, 0)], "two stops"),
        ([Call("A", 0, 0), Call("B", 0, 1)], "arrives at B too early, at 00:00"),
        ([Call("A", 5, 4), Call("B", 9, 9)], "leaves A before it arrives, at 00:04"),
        ([Call("A", 0, 0), Call("D", 9, 9)], "no stop D"),
    ],
)
def test_trips_that_cannot_be_driven_are_refused(network, calls, message):
    with pytest.raises(TimetableError, match=message):
        network.add_trip("T1", DAILY, calls)
    assert network.trips == []


def test_codes_are_unique_and_well_formed(network):
    with pytest.raises(TimetableError, match="there is a stop A already"):
        network.add_stop(Stop("A", "Another"))
    with pytest.raises(TimetableError, match="not a stop's code"):
        network.add_stop(Stop("a", "Another"))


def test_a_run_has_the_times_of_the_day_asked_about(network):
    network.add_trip("N1", DAILY, [Call("A", 1430, 1435), Call("B", 1450, 1450)])
    before, on, after = network.runs(dt.date(2026, 3, 2))
    assert before.calls() == [Call("A", -10, -5), Call("B", 10, 10)]
    assert on.calls() == [Call("A", 1430, 1435), Call("B", 1450, 1450)]
    assert after.calls()[0] == Call("A", 2870, 2875)
