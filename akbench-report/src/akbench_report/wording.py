"""Values as people read them: numbers with units, dates, JSON, and untrusted text with nothing invisible in it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from akbench.spec import JsonValue

__all__ = ["cut", "date", "json_text", "number", "percent", "points", "quantity", "seconds", "size", "visible", "words"]

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: "␡"}
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn"}


def visible(text: object) -> object:
    """What a template may print: markup of ours as it is, anything else with control characters made visible.

    Terminal escapes, text direction overrides, zero-width characters and lone surrogates would otherwise let an
    agent's output look like something else, or break the page.
    """
    if isinstance(text, Markup):
        return text
    shown = "not recorded" if text is None else str(text)
    return shown if shown.isascii() and shown.isprintable() else "".join(map(_visible, shown))


def _visible(char: str) -> str:
    if char in "\n\t" or char.isprintable():
        return char
    if ord(char) in _CONTROL_PICTURES:
        return _CONTROL_PICTURES[ord(char)]
    return f"⟨U+{ord(char):04X}⟩" if unicodedata.category(char) in _HIDDEN else char


def cut(text: str, limit: int) -> tuple[str, int]:
    """The first `limit` characters of `text`, and how many were left out."""
    return text[:limit], max(0, len(text) - limit)


def date(moment: datetime) -> str:
    """A moment in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def percent(fraction: float) -> str:
    """A proportion as a percentage, with a decimal only where it says something."""
    return f"{fraction * 100:.1f}".removesuffix(".0") + " %"


def points(difference: float) -> str:
    """A difference of two proportions in percentage points, always signed."""
    return f"{difference * 100:+.1f}".replace("-", "\N{MINUS SIGN}") + " pp"


def number(amount: float) -> str:
    """A count or measurement without a unit."""
    if float(amount).is_integer():
        return f"{int(amount):,}"
    return f"{amount:,.3g}" if abs(amount) < 100 else f"{amount:,.1f}"


def seconds(amount: float) -> str:
    """A duration."""
    if amount < 0.1:
        return f"{amount * 1000:.0f} ms"
    if round(amount, 1) < 60:
        return f"{amount:.2f} s" if amount < 10 else f"{amount:.1f} s"
    minutes, seconds = divmod(round(amount), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"


def _dollars(amount: float) -> str:
    return f"${amount:,.4f}" if abs(amount) < 1 else f"${amount:,.2f}"


def size(count: int) -> str:
    """A number of bytes."""
    if count < 1000:
        return f"{count} B"
    power = min(len(str(count)) - 1, 11) // 3
    return f"{count / 1000**power:.1f} {('kB', 'MB', 'GB')[power - 1]}"


_IN_UNIT: Mapping[str | None, Callable[[float], str]] = {
    None: number,
    "seconds": seconds,
    "USD": _dollars,
    "bytes": lambda amount: size(round(amount)),
    "fraction": percent,
    "tokens": number,
    "requests": number,
    "calls": number,
}


def quantity(amount: float | str | bool, unit: str | None) -> str:  # noqa: FBT001
    """A value with its unit; counted things are named by their metric's title already."""
    if isinstance(amount, bool):
        return "yes" if amount else "no"
    if isinstance(amount, str):
        return amount
    return _IN_UNIT[unit](amount) if unit in _IN_UNIT else f"{number(amount)} {unit}"


def words(identifier: str) -> str:
    """An identifier in words."""
    return str(identifier).replace("_", " ")


def json_text(content: JsonValue | Any) -> str:
    """A JSON value on one line; text without quotes where it cannot be mistaken for another value."""
    if isinstance(content, str) and content not in {"", "null", "true", "false"} and not _is_numeric(content):
        return content
    return json.dumps(content, ensure_ascii=False, default=str)


def _is_numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
