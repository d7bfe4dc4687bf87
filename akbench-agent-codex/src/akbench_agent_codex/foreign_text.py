"""Reading what an agent wrote: any bytes, any shape, no trust."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import NoReturn

__all__ = ["TEXT_LIMIT", "count", "exit_code", "json_lines", "mapping", "moment", "shortened", "text"]

TEXT_LIMIT = 32_768
"""Longest text taken into a trace (characters); the artifact keeps the whole."""

_LARGEST_COUNT = 2**63 - 1
_EXIT_CODES = 2**31
_FIRST_MS, _LAST_MS = 0, 253_402_300_799_999


def json_lines(content: bytes) -> Iterator[Mapping[str, object] | None]:
    """Each line that is not blank as a JSON object, or None where it is none."""
    for line in content.split(b"\n"):
        if line.strip():
            yield _object(line)


def _object(line: bytes) -> Mapping[str, object] | None:
    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def text(value: object) -> str | None:
    """`value` if it is a text, with what cannot be encoded replaced."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def shortened(value: object) -> str | None:
    """Like `text`, cut at `TEXT_LIMIT` with a note of how much is gone."""
    whole = text(value)
    if whole is None or len(whole) <= TEXT_LIMIT:
        return whole
    return f"{whole[:TEXT_LIMIT]}\n[{len(whole) - TEXT_LIMIT} more characters]"


def count(value: object) -> int | None:
    """`value` if it is a whole number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _LARGEST_COUNT else None


def exit_code(value: object) -> int | None:
    """`value` if it can be an exit code."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < _EXIT_CODES else None


def mapping(value: object) -> Mapping[str, object]:
    """`value` if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def moment(value: object) -> datetime | None:
    """A time in UTC from ISO text or from milliseconds since 1970."""
    if isinstance(value, str):
        return _from_iso(value)
    milliseconds = count(value)
    if milliseconds is None or not _FIRST_MS <= milliseconds <= _LAST_MS:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _from_iso(value: str) -> datetime | None:
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return when.astimezone(UTC) if when.tzinfo else None
