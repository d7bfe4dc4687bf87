"""The tree in a folder on disk, read without following a link or waiting for anything."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from akbench.dataset.gather import NOISE, Caps, CapsReached, Gathered, Gatherer, OddityKind, in_memory
from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.spec import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_directory", "walk"]

_SPECIAL = {
    stat.S_IFIFO: OddityKind.FIFO,
    stat.S_IFSOCK: OddityKind.SOCKET,
    stat.S_IFCHR: OddityKind.DEVICE,
    stat.S_IFBLK: OddityKind.DEVICE,
}


def read_directory(root: Path, *, caps: Caps | None = None) -> Gathered:
    """The files under `root`, without its ``.git`` and without `NOISE`.

    Links that lead out of it are left out and recorded, like everything that is no file. Raises `InputError` when
    there is no such folder, or it goes beyond `caps`.
    """
    contents, keep = in_memory()
    gatherer = Gatherer(caps=caps or Caps(), keep=keep)
    try:
        walk(root, gatherer, skip=lambda path: path.rpartition(b"/")[2] in NOISE)
    except CapsReached:
        raise InputError(f"the folder is too big: {gatherer.oddities[-1].detail}", place=str(root)) from None
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("there is no such folder", place=str(root)) from None
    gatherer.judge_links(keep_escaping=False)
    tree = Tree.checked(gatherer.entries, contents)
    return Gathered(tree=tree, oddities=tuple(gatherer.oddities))


def walk(root: Path, gatherer: Gatherer, *, skip: Callable[[bytes], bool]) -> None:
    """Hand everything under `root` to `gatherer`, but the root's ``.git`` and the folders that `skip` names.

    Every name is opened relative to its opened folder, never through a link and without blocking, so that what
    lies there can neither lead the walk elsewhere nor stop it.
    """
    with _opened(root, os.O_DIRECTORY) as folder:
        _Walk(gatherer, skip).folder(folder, b"", 0)


@contextmanager
def _opened(path: Path | bytes, flags: int, within: int | None = None) -> Iterator[int]:
    always = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, always | flags, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Walk:
    def __init__(self, gatherer: Gatherer, skip: Callable[[bytes], bool]) -> None:
        self._gatherer = gatherer
        self._skip = skip

    def folder(self, folder: int, prefix: bytes, depth: int) -> None:
        for name in sorted(map(os.fsencode, os.listdir(folder))):
            path = prefix + name
            if name == b".git":
                self._repository(path)
                continue
            try:
                self._item(folder, name, path, depth)
            except OSError as error:
                self._gatherer.note(path, OddityKind.UNREADABLE, error.strerror or str(error))

    def _repository(self, path: bytes) -> None:
        if path != b".git":
            self._gatherer.note(path, OddityKind.NESTED_REPOSITORY, "its files are kept, its history is not")

    def _item(self, folder: int, name: bytes, path: bytes, depth: int) -> None:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            self._subfolder(folder, name, path, depth)
        elif not self._gatherer.admits(path):
            return
        elif stat.S_ISLNK(info.st_mode):
            self._link(folder, name, path)
        elif stat.S_ISREG(info.st_mode):
            self._file(folder, name, path)
        else:
            self._gatherer.note(path, _SPECIAL[stat.S_IFMT(info.st_mode)], "left out of the tree")

    def _subfolder(self, folder: int, name: bytes, path: bytes, depth: int) -> None:
        if self._skip(path):
            return
        if depth >= self._gatherer.caps.depth:
            self._gatherer.note(path, OddityKind.TOO_DEEP, f"deeper than {depth} folders")
            return
        with _opened(name, os.O_DIRECTORY, folder) as inner:
            self.folder(inner, path + b"/", depth + 1)

    def _link(self, folder: int, name: bytes, path: bytes) -> None:
        target = os.readlink(name, dir_fd=folder)
        if self._gatherer.fits(path, len(target)):
            self._gatherer.add(path, LINK, target)

    def _file(self, folder: int, name: bytes, path: bytes) -> None:
        with _opened(name, 0, folder) as descriptor:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise OSError(0, "it changed while it was read")
            if self._gatherer.fits(path, info.st_size):
                content = _read(descriptor, info.st_size)
                self._gatherer.add(path, PROGRAM if info.st_mode & stat.S_IXUSR else FILE, content)


def _read(descriptor: int, size: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        content = file.read(size)
    if len(content) != size:
        raise OSError(0, "it changed while it was read")
    return content
