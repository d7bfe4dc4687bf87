"""Stops, and the trips between them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tramline.clock import DAY, format_time
from tramline.errors import TimetableError
from tramline.service import Service

_CODE = re.compile(r"[A-Z0-9]+")


@dataclass(frozen=True)
class Stop:
    """A place where trips call; to change there takes `change` minutes."""

    code: str
    name: str
    change: int = 0


class Call(NamedTuple):
    """A trip's halt at a stop, in minutes of its service day."""

    stop: str
    arrival: int
    departure: int


@dataclass(frozen=True)
class Trip:
    """One vehicle's way along a line, on each day of its service."""

    line: str
    service: Service
    calls: tuple[Call, ...]

    def check(self) -> None:
        """Raise TimetableError unless the trip calls twice or more and its times go forward."""
        if len(self.calls) < 2:
            raise TimetableError("a trip must call at two stops or more")
        for call in self.calls:
            if call.departure < call.arrival:
                raise TimetableError(f"leaves {call.stop} before it arrives, at {format_time(call.departure)}")
        for before, after in pairwise(self.calls):
            if after.arrival <= before.departure:
                raise TimetableError(f"arrives at {after.stop} too early, at {format_time(after.arrival)}")


class Run(NamedTuple):
    """A trip on a certain day; `shift` turns its times into those of the day asked about."""

    trip: Trip
    shift: int

    def calls(self) -> list[Call]:
        """The trip's calls, in minutes of the day asked about."""
        shift = self.shift
        return [Call(stop, arrival + shift, departure + shift) for stop, arrival, departure in self.trip.calls]


class Network:
    """What a timetable holds. Build it up stop by stop and trip by trip; each is checked against what is there."""

    def __init__(self) -> None:
        self.stops: dict[str, Stop] = {}
        self.trips: list[Trip] = []

    def add_stop(self, stop: Stop) -> None:
        """Add a stop; raises TimetableError when its code is not well formed or taken."""
        if not _CODE.fullmatch(stop.code):
            raise TimetableError(f"not a stop's code: {stop.code!r}")
        if stop.code in self.stops:
            raise TimetableError(f"there is a stop {stop.code} already")
        self.stops[stop.code] = stop

    def add_trip(self, line: str, service: Service, calls: Sequence[Call]) -> Trip:
        """Add a trip; raises TimetableError when it cannot be driven or calls at unknown stops."""
        trip = Trip(line, service, tuple(calls))
        for call in trip.calls:
            self.stop(call.stop)
        trip.check()
        self.trips.append(trip)
        return trip

    def stop(self, code: str) -> Stop:
        """The stop with this code; raises TimetableError when there is none."""
        if code not in self.stops:
            raise TimetableError(f"there is no stop {code}")
        return self.stops[code]

    def line(self, name: str) -> list[Trip]:
        """The trips of a line as they were added; raises TimetableError when there are none."""
        trips = [trip for trip in self.trips if trip.line == name]
        if not trips:
            raise TimetableError(f"there is no line {name}")
        return trips

    def runs(self, date: dt.date) -> Iterator[Run]:
        """What runs on the service days before, on and after a date."""
        for days in (-1, 0, 1):
            day = date + dt.timedelta(days=days)
            for trip in self.trips:
                if trip.service.runs_on(day):
                    yield Run(trip, days * DAY)
