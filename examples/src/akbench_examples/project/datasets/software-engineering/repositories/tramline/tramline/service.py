"""On which days a line runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator

from tramline.errors import TimetableError

WEEKDAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")


class Service:
    """Days of the week, less single dates."""

    def __init__(self, weekdays: Iterable[int], exceptions: Iterable[dt.date] = ()) -> None:
        self.weekdays = frozenset(weekdays)
        self.exceptions = frozenset(exceptions)

    @classmethod
    def parse(cls, days: str, exceptions: str = "") -> Service:
        """Read ``mo-th,sa`` or ``daily``, and dates with commas between them; raises TimetableError otherwise."""
        named = "mo-su" if days == "daily" else days
        weekdays = {day for part in named.split(",") for day in _weekdays(part)}
        return cls(weekdays, [parse_date(text) for text in exceptions.split(",") if text])

    def runs_on(self, date: dt.date) -> bool:
        """Whether trips of the service day `date` run."""
        return date.weekday() in self.weekdays and date not in self.exceptions

    def __str__(self) -> str:
        days = "daily" if len(self.weekdays) == 7 else ",".join(WEEKDAYS[day] for day in sorted(self.weekdays))
        dates = ",".join(date.isoformat() for date in sorted(self.exceptions))
        return f"{days} except {dates}" if dates else days

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Service):
            return NotImplemented
        return (self.weekdays, self.exceptions) == (other.weekdays, other.exceptions)

    def __hash__(self) -> int:
        return hash((self.weekdays, self.exceptions))


def _weekdays(part: str) -> Iterator[int]:
    """The days of ``mo`` or ``fr-mo``, which goes on over the end of the week."""
    first, dash, last = part.partition("-")
    names = [first, last] if dash else [first]
    if not set(names) <= set(WEEKDAYS):
        raise TimetableError(f"not a day or a range of days: {part!r}")
    day, end = WEEKDAYS.index(first), WEEKDAYS.index(names[-1])
    yield day
    while day != end:
        day = (day + 1) % 7
        yield day


def parse_date(text: str) -> dt.date:
    """Read ``2026-12-24``; raises TimetableError for anything else."""
    try:
        return dt.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise TimetableError(f"not a date: {text!r}") from None
