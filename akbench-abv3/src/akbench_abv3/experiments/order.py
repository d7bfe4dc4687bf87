"""The natural order of file names: config2 before config10."""

from __future__ import annotations

import os
import re
from typing import Final

__all__ = ["natural_key"]

_DIGITS: Final = re.compile(r"([0-9]+)")


def natural_key(name: str) -> tuple[tuple[tuple[int, int, bytes], ...], bytes]:
    """Return a sort key: digit runs compare as numbers, the rest and ties by bytes."""
    parts = tuple(_part(text) for text in _DIGITS.split(name) if text)
    return parts, os.fsencode(name)


def _part(text: str) -> tuple[int, int, bytes]:
    if text.isascii() and text.isdigit():
        return 0, int(text), b""
    return 1, 0, os.fsencode(text)
