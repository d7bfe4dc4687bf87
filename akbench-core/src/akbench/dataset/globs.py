"""Glob patterns over the paths of a tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

__all__ = ["matcher"]

type Pattern = tuple[str, ...]
"""The names of a path or of a pattern, from the outermost folder on."""


def matcher(globs: Iterable[str]) -> Callable[[bytes], bool]:
    """A predicate: does any of `globs` match the whole path?

    ``*``, ``?`` and ``[…]`` match within one name, dot files included; ``**`` stands for any number of folders,
    none included. So ``tests/**`` matches everything under ``tests`` and a file or link called ``tests`` itself.
    """
    rules = _Rules(tuple(tuple(glob.split("/")) for glob in globs))

    def matches(path: bytes) -> bool:
        names = tuple(os.fsdecode(path).split("/"))
        return rules.covers(names[:-1]) or rules.name(names)

    return matches


class _Rules:
    """Patterns asked about the many paths of one tree; what holds for a folder or a name is worked out once."""

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        # What ends in `**` matches the folder before that, and with it all that lies there.
        self._deep = frozenset(_without_end(pattern) for pattern in patterns if pattern[-1] == "**")
        self._all = (*self._deep, *(pattern for pattern in patterns if pattern[-1] != "**"))
        self._by_last_name: dict[str, tuple[Pattern, ...]] = {}
        self._covered: dict[Pattern, bool] = {(): () in self._deep}

    def name(self, names: Pattern) -> bool:
        """Whether a pattern matches the path itself."""
        return any(_match(names, pattern) for pattern in self._candidates(names[-1]))

    def covers(self, folder: Pattern) -> bool:
        """Whether a pattern matches everything in the folder."""
        if folder not in self._covered:
            here = (_match(folder, pattern) for pattern in self._candidates(folder[-1]) if pattern in self._deep)
            self._covered[folder] = self.covers(folder[:-1]) or any(here)
        return self._covered[folder]

    def _candidates(self, name: str) -> tuple[Pattern, ...]:
        if name not in self._by_last_name:
            found = (pattern for pattern in self._all if pattern and fnmatchcase(name, pattern[-1]))
            self._by_last_name[name] = tuple(found)
        return self._by_last_name[name]


def _without_end(pattern: Pattern) -> Pattern:
    while pattern and pattern[-1] == "**":
        pattern = pattern[:-1]
    return pattern


def _match(names: Pattern, pattern: Pattern) -> bool:
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
