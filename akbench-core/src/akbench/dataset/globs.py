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
    """Follows how many names the pattern so far can have taken, so that many ``**`` cost no more than one."""
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
        if not reached:
            return False
    return len(names) in reached
