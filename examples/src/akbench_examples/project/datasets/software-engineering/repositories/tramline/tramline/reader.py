"""From text to a network."""

from __future__ import annotations

from collections.abc import Callable

from tramline.clock import parse_time
from tramline.errors import TimetableError
from tramline.network import Call, Network, Stop
from tramline.service import Service


def read_network(text: str) -> Network:
    """Read a timetable; raises TimetableError with the line number at the first thing that is not understood."""
    reader = _Reader()
    for number, raw in enumerate(text.splitlines(), start=1):
        words = raw.partition("#")[0].split()
        if words:
            try:
                reader.take(*words)
            except TimetableError as error:
                raise TimetableError(error.message, number) from None
    return reader.network


class _Reader:
    """Takes one statement after the other; `line`, `stops` and `trip` build on each other."""

    def __init__(self) -> None:
        self.network = Network()
        self._line = ""
        self._service = Service(())
        self._stops: list[str] = []
        self._statements: dict[str, Callable[[list[str]], None]] = {
            "stop": self._take_stop,
            "line": self._take_line,
            "stops": self._take_stops,
            "trip": self._take_trip,
        }

    def take(self, keyword: str, *words: str) -> None:
        """One statement, word by word."""
        if keyword not in self._statements:
            raise TimetableError(f"expected one of {', '.join(self._statements)}, not {keyword!r}")
        self._statements[keyword](list(words))

    def _take_stop(self, words: list[str]) -> None:
        if len(words) < 3 or not words[1].isdecimal():
            raise TimetableError("expected stop CODE MINUTES NAME")
        code, change, *name = words
        self.network.add_stop(Stop(code, " ".join(name), int(change)))

    def _take_line(self, words: list[str]) -> None:
        if len(words) not in {2, 4} or words[2:3] not in ([], ["except"]):
            raise TimetableError("expected line NAME DAYS [except DATES]")
        self._line = words[0]
        self._service = Service.parse(words[1], *words[3:])
        self._stops = []

    def _take_stops(self, words: list[str]) -> None:
        if not self._line:
            raise TimetableError("stops belong below a line")
        for code in words:
            self.network.stop(code)
        self._stops = words

    def _take_trip(self, words: list[str]) -> None:
        if not self._stops:
            raise TimetableError("a trip belongs below the stops of its line")
        if len(words) != len(self._stops):
            raise TimetableError(f"expected {len(self._stops)} times, got {len(words)}")
        calls = [_call(stop, text) for stop, text in zip(self._stops, words, strict=True) if text != "-"]
        self.network.add_trip(self._line, self._service, calls)


def _call(stop: str, text: str) -> Call:
    arrival, _, departure = text.partition("/")
    return Call(stop, parse_time(arrival), parse_time(departure or arrival))
