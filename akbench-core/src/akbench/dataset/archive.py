"""The tree inside a source archive, read without ever unpacking it to disk."""

from __future__ import annotations

import gzip
import stat
import struct
import tarfile
import zipfile
import zlib
from lzma import LZMAError
from pathlib import Path
from typing import Self

from akbench.dataset.gather import Caps, CapsReached, Gathered, Gatherer, OddityKind, in_memory
from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.spec import InputError

__all__ = ["read_archive"]

_OWNER_MAY_RUN = 0o100
_ZIP = b"PK"
_UTF8 = 0x800
_SLACK = 2
"""How much more than a tree may hold is unpacked on the way to it: files that are left out, or written twice."""
_MEMBERS_PER_FILE = 4
_LONGEST_HEADER = 1 << 20
_AT_ONCE = 1 << 18
_HEADERS = {
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
}
_UNREADABLE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, struct.error, EOFError, OSError),
    *(RuntimeError, ValueError, ArithmeticError, LookupError),
)
"""How a damaged archive shows itself: its readers let through whatever a number or name that is none raises."""


def read_archive(archive: Path, *, caps: Caps | None = None) -> Gathered:
    """The files of a ``.tar.gz`` or ``.zip`` whose single top folder is left out.

    Regular files and links that stay inside are taken; anything else is left out and recorded. Raises `InputError`
    for what is no such archive, has paths outside its one folder, or goes beyond `caps`.
    """
    contents, keep = in_memory()
    gatherer = Gatherer(caps=caps or Caps(), keep=keep)
    top = _TopFolder()
    is_zip = _begins(archive, _ZIP)
    try:
        (_take_zip if is_zip else _take_tar)(archive, top, gatherer)
    except CapsReached:
        raise InputError(f"the archive is too big: {gatherer.oddities[-1].detail}", place=str(archive)) from None
    except _UNREADABLE as error:
        kind = ".zip" if is_zip else ".tar.gz"
        raise InputError(f"not a readable {kind} archive: {error}", place=str(archive)) from error
    if top.name is None:
        raise InputError("the archive is empty", place=str(archive))
    gatherer.judge_links(keep_escaping=False)
    tree = Tree.checked(gatherer.entries, contents)
    return Gathered(tree=tree, oddities=tuple(gatherer.oddities))


def _begins(archive: Path, mark: bytes) -> bool:
    try:
        with archive.open("rb") as file:
            return file.read(len(mark)) == mark
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(archive)) from error


class _TopFolder:
    """The one folder that must hold everything."""

    def __init__(self) -> None:
        self.name: bytes | None = None

    def below(self, name: bytes, *, is_folder: bool) -> bytes:
        """The path of a member below the folder. Raises `TarError` for one that lies elsewhere."""
        first, _, path = name.removeprefix(b"./").partition(b"/")
        shown = name.decode("utf-8", "backslashreplace")
        if first in (b"", b".."):
            raise tarfile.TarError(f"{shown!r} lies outside the archive's folder")
        if self.name is None:
            self.name = first
        if first != self.name or not (path or is_folder):
            raise tarfile.TarError(f"{shown!r} lies beside the folder {self.name!r}; one folder must hold all")
        return path


class _Unpacked(gzip.GzipFile):
    """What comes out of a ``.gz`` file, up to `most` bytes, read once from the beginning to the end."""

    def __init__(self, archive: Path, most: int) -> None:
        super().__init__(archive)
        self._left = self._most = most

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self._left -= len(found)
        if self._left < 0:
            raise tarfile.ReadError(f"it unpacks to more than {self._most} bytes")
        return found


class _Member(tarfile.TarInfo):
    """A member whose headers are short: they are held in memory whole."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _HEADERS and found.size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {found.size} bytes; the bound is {_LONGEST_HEADER}")
        return found


def _take_tar(archive: Path, top: _TopFolder, gatherer: Gatherer) -> None:
    most = _SLACK * gatherer.caps.total_bytes + _most_members(gatherer) * tarfile.BLOCKSIZE
    with (
        _Unpacked(archive, most) as source,
        tarfile.open(fileobj=source, mode="r|", bufsize=_AT_ONCE, tarinfo=_Member) as tar,
    ):
        for number, member in enumerate(tar, start=1):
            _check_count(number, gatherer)
            if tar.offset > most:  # where the next one would begin: the way there may be endless
                raise tarfile.ReadError(f"it unpacks to more than {most} bytes")
            path = top.below(member.name.encode("utf-8", "surrogateescape"), is_folder=member.isdir())
            if not member.isdir():
                _take_member(tar, member, path, gatherer)


def _most_members(gatherer: Gatherer) -> int:
    return _MEMBERS_PER_FILE * gatherer.caps.files


def _check_count(members: int, gatherer: Gatherer) -> None:
    if members > _most_members(gatherer):
        raise tarfile.ReadError(f"it has more than {_most_members(gatherer)} members")


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


def _take_zip(archive: Path, top: _TopFolder, gatherer: Gatherer) -> None:
    with zipfile.ZipFile(archive) as packed:
        _check_count(len(packed.infolist()), gatherer)
        for member in packed.infolist():
            path = top.below(_name(member), is_folder=member.is_dir())
            if not member.is_dir() and gatherer.admits(path) and gatherer.fits(path, member.file_size):
                gatherer.add(path, _zip_mode(member), packed.read(member))


def _name(member: zipfile.ZipInfo) -> bytes:
    """The name's own bytes: those not marked as UTF-8 are shown as if they were of an old code page."""
    return member.orig_filename.encode("utf-8" if member.flag_bits & _UTF8 else "cp437", "surrogateescape")


def _zip_mode(member: zipfile.ZipInfo) -> int:
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return LINK
    return PROGRAM if mode & _OWNER_MAY_RUN else FILE


def _kind_of(member: tarfile.TarInfo) -> OddityKind:
    if member.islnk():
        return OddityKind.HARD_LINK
    return OddityKind.FIFO if member.isfifo() else OddityKind.DEVICE
