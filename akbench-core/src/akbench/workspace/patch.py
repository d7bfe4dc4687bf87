"""Patches between trees, made and applied by git without a working tree."""

from __future__ import annotations

import tempfile
from pathlib import Path

from akbench.dataset.tree import Tree, read_tree
from akbench.git import bare_repository, git
from akbench.spec import HostError, InputError
from akbench.workspace.snapshot import Snapshot

__all__ = ["apply_patch", "difference"]

_COMPLETE = (
    "-p",
    "--binary",
    "--full-index",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--unified=3",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


def difference(repository: Path, before: str, after: str) -> bytes:
    """The patch from one tree of a bare repository to another (git ids); binary files and modes included."""
    return git("diff-tree", *_COMPLETE, before, after, repository=repository)


def apply_patch(snapshot: Snapshot, patch: bytes, store: Path) -> Tree:
    """The snapshot's tree with `patch` applied; new contents are kept in the new bare repository `store`.

    Raises `InputError` with git's words if the patch does not apply exactly.
    """
    bare_repository(store)
    (store / "objects" / "info" / "alternates").write_text(f"{snapshot.objects.resolve()}\n")
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index"}
        git("read-tree", snapshot.tree, repository=store, environ=index)
        if patch:
            try:
                git("apply", "--cached", "--whitespace=nowarn", "-", repository=store, stdin=patch, environ=index)
            except HostError as error:
                raise InputError(f"the patch does not apply: {error}") from error
        tree_id = git("write-tree", repository=store, environ=index).decode().strip()
    tree = read_tree(store / "objects", tree_id)
    return Tree(entries=tree.entries, stores=(store / "objects", snapshot.objects))
