"""Semantic versions, and which of a repository's Git tags gives one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SEMVER_PATTERN", "TagVersion", "is_semver", "version_of_tags"]

_NUMBER = r"(?:0|[1-9][0-9]*)"
_PRE = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
SEMVER_PATTERN: Final = (
    rf"^{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRE}(?:\.{_PRE})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$"
)
_SEMVER: Final = re.compile(SEMVER_PATTERN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagVersion:
    """A version taken from a Git tag. `distance` is the number of commits from HEAD back to it."""

    version: str
    tag: str
    distance: int
    is_semantic: bool


def is_semver(text: str) -> bool:
    """Tell whether `text` is a semantic version 2.0.0, without a leading v."""
    return _SEMVER.match(text) is not None and not text.endswith("\n")


def version_of_tags(tags: Iterable[tuple[int, str]]) -> TagVersion | None:
    """Choose the version among reachable tags, given as (distance from HEAD, name).

    The nearest tag that is a semantic version after one leading `v` wins; else the nearest of all.
    """
    nearest = sorted(tags, key=lambda tag: (tag[0], _precedence(tag[1]), tag[1]))
    semantic = [(distance, tag) for distance, tag in nearest if is_semver(tag.removeprefix("v"))]
    for distance, tag in (*semantic, *nearest):
        version = tag.removeprefix("v")
        return TagVersion(version=version, tag=tag, distance=distance, is_semantic=is_semver(version))
    return None


def _precedence(tag: str) -> tuple[int, ...]:
    # Of two tags on one commit the higher version, so 1.0.0 comes before 1.0.0-rc.1.
    core, _, pre = tag.removeprefix("v").partition("-")
    numbers = [int(part) for part in core.split("+")[0].split(".") if part.isascii() and part.isdigit()]
    return (*(-number for number in numbers), 1 if pre else 0)
