"""Combining factors into variants: pure functions over dimension values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from akbench.spec import JsonValue

__all__ = ["full_factorial", "matches"]

type Combination = dict[str, JsonValue]


def full_factorial(dimensions: Mapping[str, Iterable[JsonValue]]) -> list[Combination]:
    """Every combination of the dimensions' values; the first dimension varies slowest."""
    names = list(dimensions)
    return [dict(zip(names, values, strict=True)) for values in product(*dimensions.values())]


def matches(values: Mapping[str, JsonValue], wanted: Mapping[str, JsonValue]) -> bool:
    """Whether a combination has all the wanted values."""
    return all(name in values and values[name] == value for name, value in wanted.items())
