"""Glob patterns over the paths of a tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

__all__ = ["matcher"]


def matcher(globs: Iterable[str]) -> Callable[[bytes], bool]:
    """A predicate: does any of `globs` match the whole path?

    ``*``, ``?`` and ``[…]`` match within one name, dot files included; ``**`` stands for any number of folders,
    none included. So ``tests/**`` matches everything under ``tests`` and a file or link called ``tests`` itself.
    """
    patterns = [tuple(glob.split("/")) for glob in globs]

    def matches(path: bytes) -> bool:
        names = tuple(os.fsdecode(path).split("/"))
        return any(_match(names, pattern) for pattern in patterns)

    return matches


def _match(names: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not names
    if pattern[0] == "**":
        return any(_match(names[skip:], pattern[1:]) for skip in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], pattern[0]) and _match(names[1:], pattern[1:])
