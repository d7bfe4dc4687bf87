"""JSON text to plain values; doubled keys, NaN and infinite numbers are refused."""

from __future__ import annotations

import json
import math
from typing import NoReturn

from akbench_abv3.reading.bounded import UnreadableError

__all__ = ["parse_json"]


def parse_json(text: str) -> object:
    """Return the value; UnreadableError carries line:column where the parser knows it."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"{error.lineno}:{error.colno} {error.msg}") from error
    except RecursionError as error:
        raise UnreadableError("nested too deeply") from error
    except ValueError as error:
        raise UnreadableError("a number has too many digits") from error


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
