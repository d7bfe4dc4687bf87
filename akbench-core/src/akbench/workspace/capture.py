"""What an agent leaves behind: the final tree and its difference from the snapshot.

Git is never run in the agent's repository, whose configuration could run programs here, and no link is followed.
Capture once everything the agent started has ended, or the tree changes while it is read.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob, ObjectID

from akbench.dataset.directory import walk
from akbench.dataset.gather import NOISE, Caps, CapsReached, Gatherer, Oddity
from akbench.dataset.tree import Tree
from akbench.git import bare_repository
from akbench.spec import HostError
from akbench.workspace.patch import difference
from akbench.workspace.snapshot import Snapshot

__all__ = ["Capture", "capture"]

_FAST = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """An agent's work: its final tree, the patch that leads there from the snapshot, and what was unusual.

    `complete` is False when a bound ended the reading; files not reached then look deleted.
    """

    tree: Tree
    patch: bytes
    oddities: tuple[Oddity, ...]
    complete: bool


def capture(workspace: Path, snapshot: Snapshot, store: Path, *, caps: Caps | None = None) -> Capture:
    """Read the agent's `workspace`; what differs from `snapshot` is kept in the new bare repository `store`.

    Untracked and ignored files count, whatever the agent's git thinks of them. Left out: the root's ``.git``, the
    history (not the files) of repositories within, folders named in `NOISE` that the snapshot has no file in, and
    what an `Oddity` says was not kept.
    """
    base = snapshot.read()
    bare_repository(store)
    (store / "objects" / "info" / "alternates").write_text(f"{snapshot.objects.resolve()}\n")
    with closing(DiskObjectStore(store / "objects", loose_compression_level=_FAST)) as objects:
        gatherer = Gatherer(caps=caps or Caps(), keep=_Keeper(objects, base))
        complete = _walk(workspace, gatherer, base)
        gatherer.judge_links(keep_escaping=True)
        tree = Tree(entries=gatherer.entries, stores=(snapshot.objects, store / "objects"))
        _write_folders(tree, base, objects)
    return Capture(
        tree=tree,
        patch=difference(store, snapshot.tree, tree.id),
        oddities=tuple(gatherer.oddities),
        complete=complete,
    )


class _Keeper:
    """Writes contents that the snapshot does not have."""

    def __init__(self, objects: DiskObjectStore, base: Tree) -> None:
        self._objects = objects
        self._known = {entry.blob for entry in base.entries.values()}

    def __call__(self, content: bytes) -> ObjectID:
        blob = Blob.from_string(content)
        if blob.id not in self._known:
            self._objects.add_object(blob)
            self._known.add(blob.id)
        return blob.id


def _walk(workspace: Path, gatherer: Gatherer, base: Tree) -> bool:
    ours = base.directories()
    try:
        walk(workspace, gatherer, skip=lambda path: path.rpartition(b"/")[2] in NOISE and path not in ours)
    except CapsReached:
        return False
    except OSError as error:
        raise HostError(f"the agent's workspace {workspace} cannot be read: {error.strerror}") from error
    return True


def _write_folders(tree: Tree, base: Tree, objects: DiskObjectStore) -> None:
    _, known = base.folders
    _, folders = tree.folders
    for folder in folders:
        if folder not in known:
            objects.add_object(folders[folder])
