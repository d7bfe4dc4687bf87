"""Texts that look like a credential."""

from __future__ import annotations

import re
from typing import Final

from akbench_abv3.completed import KEY_SHAPES

__all__ = ["looks_like_credential"]

_SHAPE: Final = re.compile("|".join(KEY_SHAPES))


def looks_like_credential(text: str) -> bool:
    """Tell whether a text holds something shaped like an API key or token."""
    return _SHAPE.search(text) is not None
