"""A task's reference solution as a tree and as a patch against what the agent is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.assembly import AssembledTask
from akbench.dataset.tree import Tree
from akbench.git import bare_repository
from akbench.spec import InputError
from akbench.workspace.patch import apply_patch, difference
from akbench.workspace.snapshot import Snapshot, take_snapshot

__all__ = ["Reference", "patch_between", "reference_solution"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The solved tree and the patch that leads there from the given one."""

    tree: Tree
    patch: bytes


def reference_solution(assembled: AssembledTask, snapshot: Snapshot, cache: Path, scratch: Path) -> Reference:
    """The inverse of the task's mutations, or its ``solution/reference.patch``.

    `scratch` is an empty folder. Raises `InputError` if the patch does not apply to the given tree.
    """
    if assembled.original is None:
        path = assembled.task.reference_patch
        patch = path.read_bytes()
        try:
            return Reference(tree=apply_patch(snapshot, patch, scratch / "reference.git"), patch=patch)
        except InputError as error:
            raise InputError(str(error), place=str(path)) from error
    solved = take_snapshot(assembled.original, cache)
    patch = patch_between(snapshot, solved, scratch / "reference.git")
    return Reference(tree=assembled.original, patch=patch)


def patch_between(given: Snapshot, solved: Snapshot, store: Path) -> bytes:
    """The patch from one snapshot to another. `store` is a new folder.

    Neither snapshot may see the other's objects, so a third repository borrows from both.
    """
    bare_repository(store)
    alternates = f"{given.objects.resolve()}\n{solved.objects.resolve()}\n"
    (store / "objects" / "info" / "alternates").write_text(alternates)
    return difference(store, given.tree, solved.tree)
