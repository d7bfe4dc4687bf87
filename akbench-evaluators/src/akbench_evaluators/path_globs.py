"""Patterns for paths relative to a repository: ``*`` and ``?`` within one name, ``**`` across folders."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

__all__ = ["matches_any"]

_PIECE = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches_any(path: str, globs: Iterable[str]) -> bool:
    """Whether any of the patterns matches the whole path."""
    return any(_pattern(glob).fullmatch(path) for glob in globs)


@lru_cache(maxsize=512)
def _pattern(glob: str) -> re.Pattern[str]:
    parts, end = [], 0
    for piece in _PIECE.finditer(glob):
        parts += [re.escape(glob[end : piece.start()]), _MEANING[piece[0]]]
        end = piece.end()
    return re.compile("".join(parts) + re.escape(glob[end:]), re.DOTALL)
