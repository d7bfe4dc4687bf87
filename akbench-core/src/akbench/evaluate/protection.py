"""The tree that is judged: the agent's own, with everything that could sway the judgement put back."""

from __future__ import annotations

import os
from dataclasses import dataclass

from akbench.dataset.tree import Tree

__all__ = ["ALWAYS_PROTECTED", "JudgedTree", "judged_tree"]

ALWAYS_PROTECTED = (
    "**/conftest.py",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/pytest.toml",
    "**/.pytest.toml",
    "**/tox.ini",
    "**/setup.cfg",
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/sitecustomize/**",
    "**/usercustomize/**",
    "**/*.pth",
    "**/*.egg-info/**",
    "**/*.dist-info/**",
    "**/*.egg-info",
    "**/*.pyc",
    "**/.git/**",
    "**/.gitattributes",
)
"""Paths that steer a test run rather than the product; no task may be solved by changing them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTree:
    """A tree ready to be judged, and the protected paths whose state the agent had changed."""

    tree: Tree
    touched: tuple[str, ...]


def judged_tree(*, final: Tree, given: Tree, hidden: Tree, protected: tuple[str, ...]) -> JudgedTree:
    """The agent's `final` tree, with protected paths put back to how they were `given` and `hidden` files laid over."""
    globs = (*ALWAYS_PROTECTED, *protected)
    changed = final.only(globs).entries
    original = given.only(globs).entries
    touched = sorted(path for path in changed.keys() | original.keys() if changed.get(path) != original.get(path))
    touched += sorted(path for path in hidden.entries if path in final.entries and path not in given.entries)
    tree = final.without(globs).overlay(given.only(globs)).overlay(hidden)
    return JudgedTree(tree=tree, touched=tuple(dict.fromkeys(os.fsdecode(path) for path in touched)))
