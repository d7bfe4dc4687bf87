"""Values handed over in files, so that none ever stands in a command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from akbench_abv3.completed import MIB
from akbench_abv3.reading.bounded import UnreadableError, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HandOverError", "values_from_files"]


class HandOverError(Exception):
    """A NAME=PATH cannot be used; the text never holds the value."""


def values_from_files(pairs: Iterable[str], known: frozenset[str]) -> dict[str, str]:
    """Read each `NAME=PATH`; a last newline is dropped. `known` are the variables that are wanted."""
    values: dict[str, str] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not equals or not path:
            raise HandOverError("--from-file takes NAME=PATH, a variable and the file that holds its value")
        if name not in known:
            wanted = ", ".join(sorted(known)) or "none"
            raise HandOverError(f"no declared dependency takes {name} (known: {wanted})")
        values[name] = _value(name, Path(path))
    return values


def _value(name: str, path: Path) -> str:
    try:
        value = read_text(path, MIB).removesuffix("\n").removesuffix("\r")
    except UnreadableError as error:
        # Somebody may have given the value in place of a path, so the path is not repeated.
        raise HandOverError(f"{name}: the file named cannot be read: {error}") from error
    if not value or "\0" in value:
        raise HandOverError(f"{name}: the file named holds no usable value")
    return value
