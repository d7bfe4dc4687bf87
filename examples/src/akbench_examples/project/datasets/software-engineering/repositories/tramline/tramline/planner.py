"""The way from one stop to another.

All rides between two neighbouring calls, the hops, are gone through once in the order in which they leave. A hop can be
taken by whoever sits in its vehicle already, or is at its first stop in time.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tramline.errors import TimetableError
from tramline.network import Network


@dataclass(frozen=True)
class Ride:
    """From boarding a vehicle to leaving it."""

    line: str
    origin: str
    departure: int
    target: str
    arrival: int


@dataclass(frozen=True)
class Journey:
    """Rides, each from the stop where the one before ends."""

    rides: tuple[Ride, ...]

    @property
    def departure(self) -> int:
        """When the first ride leaves."""
        return self.rides[0].departure

    @property
    def arrival(self) -> int:
        """When the last ride arrives."""
        return self.rides[-1].arrival

    @property
    def changes(self) -> int:
        """How often one changes from one vehicle to another."""
        return len(self.rides) - 1


class Hop(NamedTuple):
    """A vehicle's way from one call to the next. Hops sort by departure; `run` tells vehicles apart."""

    departure: int
    arrival: int
    run: int
    origin: str
    target: str
    line: str


class Planner:
    """Finds journeys on one date; trips of the day before and the day after are taken into account."""

    def __init__(self, network: Network, date: dt.date) -> None:
        self._network = network
        self._hops = sorted(_hops(network, date))

    def earliest(self, origin: str, target: str, at: int) -> Journey | None:
        """The journey that arrives first of those that leave at `at` or later; None when there is no way.

        Changing takes the minutes that the stop asks for, setting out takes none. Raises TimetableError when a stop is
        unknown, or both are the same.
        """
        self._check(origin, target)
        ready = {origin: at}
        boarded: dict[int, Hop] = {}
        reached: dict[str, Ride] = {}
        for hop in self._hops:
            if target in reached and hop.departure >= reached[target].arrival:
                break
            if hop.run not in boarded:
                if hop.origin not in ready or ready[hop.origin] > hop.departure:
                    continue
                boarded[hop.run] = hop
            if hop.target != origin and (hop.target not in reached or hop.arrival < reached[hop.target].arrival):
                start = boarded[hop.run]
                reached[hop.target] = Ride(hop.line, start.origin, start.departure, hop.target, hop.arrival)
                ready[hop.target] = hop.arrival + self._network.stop(hop.target).change
        return _journey(origin, target, reached) if target in reached else None

    def _check(self, origin: str, target: str) -> None:
        self._network.stop(origin)
        self._network.stop(target)
        if origin == target:
            raise TimetableError(f"already at {target}")


def _journey(origin: str, target: str, reached: dict[str, Ride]) -> Journey:
    """Go back from the target, ride by ride."""
    rides = [reached[target]]
    while rides[0].origin != origin:
        rides.insert(0, reached[rides[0].origin])
    return Journey(tuple(rides))


def _hops(network: Network, date: dt.date) -> Iterator[Hop]:
    for number, run in enumerate(network.runs(date)):
        for here, there in pairwise(run.calls()):
            yield Hop(here.departure, there.arrival, number, here.stop, there.stop, run.trip.line)
