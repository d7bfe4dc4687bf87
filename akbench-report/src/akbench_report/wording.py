"""Values as people read them: numbers with units, dates, JSON, and untrusted text with nothing invisible in it."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from akbench.spec import JsonValue, Reading

__all__ = [
    "cut",
    "date",
    "json_text",
    "metric_name",
    "number",
    "percent",
    "points",
    "size",
    "value",
    "visible",
]

_CONTROL_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | {
    0x7F: "␡"
}
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


def _seconds(amount: float) -> str:
    if amount < 60:
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
    scaled = float(count)
    for unit in ("kB", "MB", "GB"):
        scaled /= 1000
        if scaled < 1000:
            break
    return f"{scaled:.1f} {unit}"


def value(metric: str, amount: float | str | bool) -> str:  # noqa: FBT001
    """A metric's value with the unit that its id names."""
    if isinstance(amount, bool | str):
        return {True: "yes", False: "no"}.get(amount, str(amount)) if isinstance(amount, bool) else amount
    if metric.endswith("_seconds"):
        return _seconds(amount)
    if metric.endswith("_usd"):
        return _dollars(amount)
    if metric.endswith("_bytes"):
        return size(round(amount))
    return percent(amount) if metric.endswith("_rate") else number(amount)


def reading_value(metric: str, reading: Reading) -> str:
    """A reading's value with its unit; empty where there is none."""
    return "" if reading.value is None else value(metric, reading.value)


def metric_name(metric: str) -> str:
    """A metric's id in words, its unit left to its values."""
    if metric.endswith("_seconds"):
        name = metric.removesuffix("_seconds")
        return words(name if name.endswith(("time", "duration")) else f"{name}_time")
    return words(metric.removesuffix("_usd").removesuffix("_bytes"))


def words(identifier: str) -> str:
    """An identifier in words."""
    return str(identifier).replace("_", " ")


def json_text(content: JsonValue | Any) -> str:  # noqa: ANN401
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
