"""What the command line prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tramline.clock import format_time
from tramline.errors import TimetableError
from tramline.network import Call, Network, Trip
from tramline.planner import Journey


def stop_lines(network: Network) -> Iterator[str]:
    """All stops by code, with the minutes it takes to change."""
    stops = sorted(network.stops.values(), key=lambda stop: stop.code)
    return columns([(stop.code, f"{stop.change}", stop.name) for stop in stops])


def table_lines(network: Network, line: str) -> Iterator[str]:
    """A line's timetable: a column for each trip in the order of their first departures, a row for each stop."""
    trips = sorted(network.line(line), key=lambda trip: trip.calls[0].departure)
    rows = [(network.stop(code).name, *(_time(trip, code) for trip in trips)) for code in _order(trips)]
    return columns([(line, *(str(trip.service) for trip in trips)), *rows])


def journey_lines(network: Network, journey: Journey) -> Iterator[str]:
    """A journey, a line for each ride."""
    return columns(
        [
            (
                format_time(ride.departure),
                network.stop(ride.origin).name,
                ride.line,
                format_time(ride.arrival),
                network.stop(ride.target).name,
            )
            for ride in journey.rides
        ]
    )


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of the same length with their cells aligned at the left, two spaces between them and none at the end."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _order(trips: Sequence[Trip]) -> list[str]:
    """The stops of all trips so that each trip calls at them from top to bottom.

    A stop that an earlier trip does not have comes behind the stop which the later trip calls at before it.
    """
    order: list[str] = []
    for trip in trips:
        place = 0
        for call in trip.calls:
            if call.stop not in order:
                order.insert(place, call.stop)
            elif order.index(call.stop) < place:
                raise TimetableError(f"the trips of line {trip.line} go different ways and make no table")
            place = order.index(call.stop) + 1
    return order


def _time(trip: Trip, code: str) -> str:
    return next((_departure(call) for call in trip.calls if call.stop == code), "-")


def _departure(call: Call) -> str:
    return format_time(call.departure)
