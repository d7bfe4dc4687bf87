"""JSON text to plain values; doubled keys, NaN and infinite numbers are refused."""

from __future__ import annotations

import json
import math
from typing import NoReturn

from akbench_abv3.completed import MAX_JSON_COMMAS, MAX_NESTING
from akbench_abv3.reading.bounded import UnreadableError

__all__ = ["parse_json"]


def parse_json(text: str, most_commas: int = MAX_JSON_COMMAS) -> object:
    """Return the value; UnreadableError carries line:column where the parser knows it."""
    if len(text) > most_commas and text.count(",") > most_commas:
        raise UnreadableError(f"more than {most_commas} commas: too many values")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"{error.lineno}:{error.colno} {error.msg}") from error
    except RecursionError as error:
        raise UnreadableError("nested too deeply") from error
    except ValueError as error:
        raise UnreadableError("a number has too many digits") from error
    if text.count("[") + text.count("{") > MAX_NESTING:
        _refuse_deep(value)
    return value


def _refuse_deep(value: object) -> None:
    # Level by level: what would be read again or written out by recursion must be within its reach.
    level = [value]
    for _ in range(MAX_NESTING):
        level = [inner for outer in level for inner in _collections_in(outer)]
        if not level:
            return
    raise UnreadableError(f"nested more than {MAX_NESTING} levels deep")


def _collections_in(value: object) -> list[object]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in inside if isinstance(one, dict | list)]


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise UnreadableError(f'key "{key}" occurs twice')
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise UnreadableError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise UnreadableError(f"{text} is beyond a finite number")
    return value
