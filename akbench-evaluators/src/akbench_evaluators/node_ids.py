"""pytest's node ids and the selectors that name them: a file, a folder, a class, a test, one parametrised case."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["last_name", "path_of", "selected", "selects"]

_WHOLE_TREE = ("", ".")


def path_of(node_id: str) -> str:
    """The file or folder that a selector or node id lies in."""
    return node_id.split("::", 1)[0]


def last_name(selector: str) -> str | None:
    """The function or class a selector ends with, without its parameters; None for a file or folder."""
    _, found, names = selector.split("[", 1)[0].partition("::")
    return names.rsplit("::", 1)[-1] if found else None


def selects(selector: str, node_id: str) -> bool:
    """Whether `selector` names the node or something that contains it."""
    if selector in _WHOLE_TREE:
        return True
    return node_id == selector or node_id.startswith((f"{selector}::", f"{selector}[", f"{selector}/"))


def selected(selectors: Iterable[str], node_id: str) -> bool:
    """Whether any of the selectors names the node."""
    return any(selects(selector, node_id) for selector in selectors)
