"""Which paths a tree may hold, and whether a symbolic link stays inside its tree."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["LinkFate", "follow", "name_flaw", "oddly_named"]

_GIT_DIRECTORY = frozenset({b".git", b"git~1"})
_MOST_HOPS = 40


class LinkFate(StrEnum):
    """Where a symbolic link leads: inside its tree (dangling links too), out of it, or round in circles."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    LOOP = "loop"


def name_flaw(path: bytes) -> str | None:
    """Why git would refuse `path` (relative, slashes between names) in a tree; None if it would not."""
    for name in path.split(b"/"):
        if name in (b"", b".", b".."):
            return "not a plain relative path"
        if b"\0" in name:
            return "holds a zero byte"
        if _means_git_directory(name):
            return "names git's own directory"
    return None


def _means_git_directory(name: bytes) -> bool:
    """Git refuses what some file system would take for .git, on every system (core.protectNTFS)."""
    return b"git" in name.lower() and any(
        part.split(b":")[0].rstrip(b" .").lower() in _GIT_DIRECTORY or part.lower() == b".git"
        for part in name.split(b"\\")
    )


def oddly_named(path: bytes) -> bool:
    """Whether a path is not UTF-8 or holds characters that a terminal would obey."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return True
    return not text.isprintable()


def follow(link: bytes, links: Mapping[bytes, bytes]) -> LinkFate:
    """Where the link at path `link` leads in a tree whose links are `links` (path -> target).

    Every link on the way is followed: `a/../x` may leave a tree in which `a` leads to a shallower place.
    """
    place: list[bytes] = []
    todo = link.split(b"/")[::-1]
    hops = 0
    while todo:
        name = todo.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            if not place:
                return LinkFate.OUTSIDE
            place.pop()
            continue
        place.append(name)
        target = links.get(b"/".join(place))
        if target is None:
            continue
        hops += 1
        if hops > _MOST_HOPS:
            return LinkFate.LOOP
        if target.startswith(b"/"):
            return LinkFate.OUTSIDE
        place.pop()
        todo.extend(target.split(b"/")[::-1])
    return LinkFate.INSIDE
