"""Snapshots: a task's tree as a bare repository that holds one root commit and nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dulwich.objects import Blob, Commit, ObjectID, ShaFile

from akbench.dataset.objects import move_into_place, write_objects
from akbench.dataset.tree import Tree, read_tree
from akbench.git import bare_repository

__all__ = ["Snapshot", "take_snapshot"]

_WHO = b"Repository <repository@example.invalid>"
_WHEN = 946_684_800  # 2000-01-01T00:00:00Z
_MESSAGE = b"Initial commit\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A bare repository with one commit, `commit`, of the tree `tree` (git ids) on branch ``main``.

    Author, committer, date and message are fixed, so equal trees have equal commits on every machine. It is the
    harness's own: agents get copies.
    """

    repository: Path
    tree: str
    commit: str

    @property
    def objects(self) -> Path:
        """Its object directory."""
        return self.repository / "objects"

    def read(self) -> Tree:
        """The tree it holds, with the contents on disk."""
        return read_tree(self.objects, self.tree)


def take_snapshot(tree: Tree, cache: Path) -> Snapshot:
    """The snapshot of `tree`, made once under ``cache/snapshots/<tree id>.git``."""
    commit = _commit(tree.id)
    place = cache / "snapshots" / f"{tree.id}.git"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as making:
            move_into_place(_make(tree, commit, Path(making) / "repo.git"), place)
    return Snapshot(repository=place, tree=tree.id, commit=commit.id.decode())


def _make(tree: Tree, commit: Commit, draft: Path) -> Path:
    bare_repository(draft)
    write_objects(draft / "objects", _objects(tree, commit))
    (draft / "refs" / "heads" / "main").write_bytes(commit.id + b"\n")
    return draft


def _objects(tree: Tree, commit: Commit) -> Iterator[ShaFile]:
    yield commit
    _, folders = tree.folders
    for folder in folders:
        yield folders[folder]
    for _, content in tree.contents():
        yield Blob.from_string(content)


def _commit(tree_id: str) -> Commit:
    commit = Commit()
    commit.tree = ObjectID(tree_id.encode())
    commit.author = commit.committer = _WHO
    commit.author_time = commit.commit_time = _WHEN
    commit.author_timezone = commit.commit_timezone = 0
    commit.message = _MESSAGE
    return commit
