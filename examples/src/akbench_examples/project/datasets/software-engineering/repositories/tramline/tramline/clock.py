"""Times, in whole minutes from the midnight at which a day begins."""

from __future__ import annotations

import re

from tramline.errors import TimetableError

DAY = 24 * 60

_TIME = re.compile(r"(\d{2}):(\d{2})")


def parse_time(text: str) -> int:
    """Read ``07:05``, up to ``47:59`` for what goes on after midnight; raises TimetableError for anything else."""
    match = _TIME.fullmatch(text)
    hours, minutes = map(int, match.groups()) if match else (48, 0)
    if hours >= 48 or minutes >= 60:
        raise TimetableError(f"not a time: {text!r}")
    return 60 * hours + minutes


def format_time(minutes: int) -> str:
    """The time as people write it; ``01:10+1`` on the day after, ``23:50-1`` on the day before."""
    days, rest = divmod(minutes, DAY)
    return f"{rest // 60:02}:{rest % 60:02}" + (f"{days:+}" if days else "")
