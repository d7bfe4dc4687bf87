"""The tree inside a source archive, read without ever unpacking it to disk."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path

from akbench.dataset.gather import Caps, CapsReached, Gathered, Gatherer, OddityKind, in_memory
from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.spec import InputError

__all__ = ["read_archive"]

_OWNER_MAY_RUN = 0o100


def read_archive(archive: Path, *, caps: Caps | None = None) -> Gathered:
    """The files of a ``.tar.gz`` whose single top folder is left out.

    Regular files and links that stay inside are taken; anything else is left out and recorded. Raises `InputError`
    for what is no such archive, has paths outside its one folder, or goes beyond `caps`.
    """
    contents, keep = in_memory()
    gatherer = Gatherer(caps=caps or Caps(), keep=keep)
    try:
        with tarfile.open(archive, "r:gz") as tar:
            top = _take_members(tar, gatherer)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InputError(f"not a readable .tar.gz archive: {error}", place=str(archive)) from error
    except CapsReached:
        raise InputError(f"the archive is too big: {gatherer.oddities[-1].detail}", place=str(archive)) from None
    if top is None:
        raise InputError("the archive is empty", place=str(archive))
    gatherer.judge_links(keep_escaping=False)
    tree = Tree.checked(gatherer.entries, contents)
    return Gathered(tree=tree, oddities=tuple(gatherer.oddities))


def _take_members(tar: tarfile.TarFile, gatherer: Gatherer) -> bytes | None:
    top: bytes | None = None
    for member in tar:
        name = member.name.encode("utf-8", "surrogateescape").removeprefix(b"./")
        first, _, path = name.partition(b"/")
        if first in (b"", b".."):
            raise tarfile.TarError(f"{member.name!r} lies outside the archive's folder")
        if top is None:
            top = first
        if first != top or not (path or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} lies beside the folder {top!r}; one folder must hold all")
        if not member.isdir():
            _take_member(tar, member, path, gatherer)
    return top


def _take_member(tar: tarfile.TarFile, member: tarfile.TarInfo, path: bytes, gatherer: Gatherer) -> None:
    if not gatherer.admits(path):
        return
    if member.issym():
        target = member.linkname.encode("utf-8", "surrogateescape")
        if gatherer.fits(path, len(target)):
            gatherer.add(path, LINK, target)
    elif member.isreg():
        if gatherer.fits(path, member.size):
            source = tar.extractfile(member)
            assert source is not None, "a regular member has content"
            gatherer.add(path, PROGRAM if member.mode & _OWNER_MAY_RUN else FILE, source.read())
    else:
        gatherer.note(path, _kind_of(member), "left out of the tree")


def _kind_of(member: tarfile.TarInfo) -> OddityKind:
    if member.islnk():
        return OddityKind.HARD_LINK
    return OddityKind.FIFO if member.isfifo() else OddityKind.DEVICE
