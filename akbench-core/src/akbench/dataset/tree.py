"""A tree of files as git sees it: paths, modes, contents; a value that never changes."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from dulwich.index import commit_tree
from dulwich.object_store import DiskObjectStore, MemoryObjectStore
from dulwich.objects import Blob, ObjectID

from akbench.dataset.globs import matcher
from akbench.dataset.names import name_flaw
from akbench.dataset.objects import move_into_place, write_objects
from akbench.spec import InputError

__all__ = ["FILE", "LINK", "PROGRAM", "Entry", "Tree", "blob_id", "read_tree"]

FILE = stat.S_IFREG | 0o644
PROGRAM = stat.S_IFREG | 0o755
LINK = stat.S_IFLNK
"""The modes that a file of a tree may have."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: git's mode (regular, executable or symbolic link) and the id of its content."""

    mode: int
    blob: ObjectID


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Files by path. Contents lie in memory (`fresh`) or in git object directories on disk (`stores`).

    Two trees are equal when their files are, wherever the contents lie. No slots: git's objects for the tree
    are computed once.
    """

    entries: Mapping[bytes, Entry]
    stores: tuple[Path, ...] = field(default=(), compare=False)
    fresh: Mapping[ObjectID, bytes] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, files: Mapping[bytes, tuple[int, bytes]]) -> Tree:
        """The tree of `files`: path -> (mode, content). Raises `InputError` for a path that git would refuse."""
        entries = {path: Entry(mode, blob_id(content)) for path, (mode, content) in files.items()}
        return cls.checked(entries, {entries[path].blob: content for path, (_, content) in files.items()})

    @classmethod
    def checked(cls, entries: Mapping[bytes, Entry], fresh: Mapping[ObjectID, bytes]) -> Tree:
        """The tree of `entries` whose contents are in `fresh`, once its paths are found to be possible together."""
        _check_paths(entries)
        return _tree(entries, (), fresh)

    @property
    def id(self) -> str:
        """Git's id of the tree."""
        root, _ = self.folders
        return root.decode()

    @cached_property
    def folders(self) -> tuple[ObjectID, MemoryObjectStore]:
        """Git's tree objects for this tree: the id of the root and a store that holds them all."""
        objects = MemoryObjectStore()
        listing = [(path, entry.blob, entry.mode) for path, entry in self.entries.items()]
        return commit_tree(objects, listing), objects

    def directories(self) -> frozenset[bytes]:
        """The paths of all folders that hold a file, however deep."""
        return frozenset(folder for path in self.entries for folder in _folders_of(path))

    def contents(self) -> Iterator[tuple[ObjectID, bytes]]:
        """Each distinct content once, with its id."""
        with closing(_Contents(self)) as read:
            for blob in dict.fromkeys(entry.blob for entry in self.entries.values()):
                yield blob, read(blob)

    def read(self, path: bytes) -> bytes:
        """The content of one file (for a link: its target). Raises `InputError` if there is no such file."""
        with closing(_Contents(self)) as read:
            return read(self._entry(path).blob)

    def _entry(self, path: bytes) -> Entry:
        try:
            return self.entries[path]
        except KeyError:
            raise InputError("there is no such file in the tree", place=os.fsdecode(path)) from None

    def matching(self, globs: Iterable[str]) -> tuple[bytes, ...]:
        """The paths that any of `globs` matches, sorted; see `matcher` for the language."""
        return tuple(sorted(filter(matcher(globs), self.entries)))

    def only(self, globs: Iterable[str]) -> Tree:
        """The files that any of `globs` matches."""
        matches = matcher(globs)
        return self._of({path: entry for path, entry in self.entries.items() if matches(path)})

    def without(self, globs: Iterable[str]) -> Tree:
        """The files that none of `globs` matches."""
        matches = matcher(globs)
        return self._of({path: entry for path, entry in self.entries.items() if not matches(path)})

    def overlay(self, other: Tree) -> Tree:
        """This tree with `other` laid over it: where both have something in a place, `other` has it.

        A file of `other` takes the place of a whole folder, and its folders the place of a file or link.
        """
        above = other.directories()
        entries = {
            path: entry
            for path, entry in self.entries.items()
            if path not in above and other.entries.keys().isdisjoint(_folders_of(path))
        }
        stores = tuple(dict.fromkeys(self.stores + other.stores))
        return _tree({**entries, **other.entries}, stores, {**self.fresh, **other.fresh})

    def replace(self, path: bytes, content: bytes) -> Tree:
        """This tree with new content in one of its files. Raises `InputError` if there is no such file."""
        entry = Entry(self._entry(path).mode, blob_id(content))
        return _tree({**self.entries, path: entry}, self.stores, {**self.fresh, entry.blob: content})

    def _of(self, entries: Mapping[bytes, Entry]) -> Tree:
        return _tree(entries, self.stores, self.fresh)

    def stored(self, cache: Path) -> Tree:
        """The same tree with its contents on disk, under ``cache/trees/<id>``, instead of in memory."""
        place = cache / "trees" / self.id
        if not place.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as making:
                draft = Path(making) / "objects"
                write_objects(draft, (Blob.from_string(content) for _, content in self.contents()))
                move_into_place(draft, place)
        return Tree(entries=self.entries, stores=(place,))

    def materialise(self, target: Path) -> None:
        """Write the files into `target`, a new or empty folder, exactly as they are: no git filter, no attribute.

        Links come last, so that nothing is written through one. Raises `InputError` if `target` holds anything.
        """
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise InputError("the folder for the files is not empty", place=str(target))
        root = os.fsencode(target)
        for folder in sorted(self.directories()):
            os.mkdir(os.path.join(root, folder))  # noqa: PTH102, PTH118 - paths are bytes: names need not be text
        with closing(_Contents(self)) as read:
            links = [path for path, entry in self.entries.items() if entry.mode == LINK]
            for path, entry in self.entries.items():
                if entry.mode != LINK:
                    _write_file(root + b"/" + path, entry.mode & 0o777, read(entry.blob))
            for path in links:
                os.symlink(read(self.entries[path].blob), root + b"/" + path)  # noqa: PTH211 - bytes, see above


class _Contents:
    """Reads contents of a tree. Object stores are opened per use: they are not safe between threads."""

    def __init__(self, tree: Tree) -> None:
        self._fresh = tree.fresh
        self._stores = [DiskObjectStore(store) for store in tree.stores]

    def __call__(self, blob: ObjectID) -> bytes:
        if blob in self._fresh:
            return self._fresh[blob]
        for store in self._stores:
            if blob in store:
                return store.get_raw(blob)[1]
        raise KeyError(blob)

    def close(self) -> None:
        for store in self._stores:
            store.close()


def blob_id(content: bytes) -> ObjectID:
    """Git's id of a file's content."""
    return Blob.from_string(content).id


@lru_cache(maxsize=8)
def read_tree(store: Path, tree_id: str) -> Tree:
    """The tree `tree_id` of the git object directory `store`; remembered, as runs of one task read the same one."""
    with closing(DiskObjectStore(store)) as objects:
        listing = objects.iter_tree_contents(ObjectID(tree_id.encode()))
        entries = {item.path: Entry(item.mode, item.sha) for item in listing}
    return Tree(entries=entries, stores=(store,))


def _tree(entries: Mapping[bytes, Entry], stores: tuple[Path, ...], fresh: Mapping[ObjectID, bytes]) -> Tree:
    """A tree that holds no content in memory which it doesn't need."""
    used = {entry.blob for entry in entries.values()}
    kept = {blob: content for blob, content in fresh.items() if blob in used}
    return Tree(entries=entries, stores=stores, fresh=kept)


def _check_paths(paths: Iterable[bytes]) -> None:
    known = set(paths)
    for path in known:
        flaw = name_flaw(path)
        if flaw is None and not known.isdisjoint(_folders_of(path)):
            flaw = "lies under another file"
        if flaw is not None:
            raise InputError(f"{flaw}; such a path cannot be in a tree", place=os.fsdecode(path))


def _folders_of(path: bytes) -> Iterator[bytes]:
    end = path.find(b"/")
    while end != -1:
        yield path[:end]
        end = path.find(b"/", end + 1)


def _write_file(path: bytes, mode: int, content: bytes) -> None:
    # The mode is set afterwards, since the process's umask would cut it.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - opened by descriptor, see above
        file.write(content)
        os.fchmod(descriptor, mode)
