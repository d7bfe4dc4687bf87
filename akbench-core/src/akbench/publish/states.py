"""The states of a task's tree in which it is judged before anyone may use it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.assembly import AssembledTask
from akbench.dataset.tree import LINK, Tree
from akbench.spec import InputError
from akbench.workspace.patch import apply_patch
from akbench.workspace.reference import reference_solution
from akbench.workspace.snapshot import Snapshot

__all__ = ["DELETED", "EMPTIED", "NAIVE", "ORIGINAL", "SOLVED", "UNSOLVED", "TreeState", "tree_states"]

ORIGINAL = "original"
UNSOLVED = "unsolved"
SOLVED = "solved"
NAIVE = "naive/"
EMPTIED = "emptied"
DELETED = "deleted"

TEST_FILES = (
    "**/tests/**",
    "**/test/**",
    "**/testing/**",
    "**/*_testcases/**",
    "**/test_*",
    "**/*_test.*",
    "**/conftest.py",
)
"""What an agent that ruins everything leaves alone: it ruins the product, not the tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeState:
    """One state. `repeated` says whether it is judged as often as asked for, or once."""

    name: str
    tree: Tree
    repeated: bool = True


def tree_states(assembled: AssembledTask, snapshot: Snapshot, cache: Path, scratch: Path) -> tuple[TreeState, ...]:
    """All states of a task: solved first, the tree before its mutations only where it is another one.

    `scratch` is an empty folder that must outlive the trees. Raises `InputError` if a patch does not apply.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    solved = reference_solution(assembled, snapshot, cache, scratch).tree
    return (
        TreeState(name=SOLVED, tree=solved),
        TreeState(name=UNSOLVED, tree=assembled.given),
        *_original(assembled, solved),
        *_naive(assembled, snapshot, scratch),
        TreeState(name=EMPTIED, tree=_emptied(assembled.given), repeated=False),
        TreeState(name=DELETED, tree=assembled.given.only(TEST_FILES), repeated=False),
    )


def _original(assembled: AssembledTask, solved: Tree) -> Iterator[TreeState]:
    if assembled.original is not None and assembled.original != solved:
        yield TreeState(name=ORIGINAL, tree=assembled.original)


def _naive(assembled: AssembledTask, snapshot: Snapshot, scratch: Path) -> Iterator[TreeState]:
    for path in assembled.task.naive_patches:
        try:
            tree = apply_patch(snapshot, path.read_bytes(), scratch / f"naive-{path.stem}.git")
        except InputError as error:
            raise InputError(str(error), place=str(path)) from error
        yield TreeState(name=f"{NAIVE}{path.stem}", tree=tree)


def _emptied(given: Tree) -> Tree:
    tree = given
    for path in given.without(TEST_FILES).entries:
        if given.entries[path].mode != LINK:
            tree = tree.replace(path, b"")
    return tree


def visible_file(assembled: AssembledTask, test_id: str) -> bool:
    """Whether the agent sees the test: its file is in the given tree and no hidden one takes its place."""
    path = os.fsencode(test_id.split("::", 1)[0])
    return path in assembled.given.entries and path not in assembled.hidden.entries
