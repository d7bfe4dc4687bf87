"""Bytes and text of files in a repository that nobody has vouched for."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "OutsideError",
    "UnreadableError",
    "contained",
    "entries_of",
    "is_file",
    "is_folder",
    "is_there",
    "read_bytes",
    "read_text",
]


class UnreadableError(Exception):
    """A file cannot be read as what it should be; the text says why."""


class OutsideError(UnreadableError):
    """A path leads out of the repository."""


def contained(root: Path, relative: str) -> Path:
    """Return the real path of `relative` below `root`.

    Raises OutsideError when it leaves the root, by `..`, as an absolute path or through a link.
    """
    if "\0" in relative:
        raise OutsideError("the path has a NUL character")
    real_root = os.path.realpath(root)
    real = os.path.realpath(Path(real_root, relative))
    if real != real_root and not real.startswith(real_root.rstrip(os.sep) + os.sep):
        raise OutsideError(f"{relative} leaves the repository")
    return Path(real)


def is_there(path: Path) -> bool:
    """Tell whether `path` leads to anything; what cannot be looked at is not there."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises for names that are too long or closed folders


def is_file(path: Path) -> bool:
    """Tell whether `path` leads to a regular file; never raises."""
    return os.path.isfile(path)  # noqa: PTH113 - as above


def is_folder(path: Path) -> bool:
    """Tell whether `path` leads to a folder; never raises."""
    return os.path.isdir(path)  # noqa: PTH112 - as above


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes; UnreadableError otherwise."""
    with _opened(path) as descriptor:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise UnreadableError("not a regular file")
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            content = stream.read(limit + 1)
    if len(content) > limit:
        raise UnreadableError(f"larger than {_size(limit)}")
    return content


def read_text(path: Path, limit: int) -> str:
    """Return the UTF-8 text of a regular file of at most `limit` bytes; UnreadableError otherwise."""
    content = read_bytes(path, limit)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(f"line {line}: not UTF-8 (byte 0x{content[error.start]:02x})") from error


def entries_of(folder: Path, limit: int) -> tuple[os.DirEntry[str], ...]:
    """Return the entries of a folder that are not hidden, in no order; UnreadableError over `limit`."""
    found: list[os.DirEntry[str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) >= limit:
                    raise UnreadableError(f"more than {limit} entries")
                if not entry.name.startswith("."):
                    found.append(entry)
    except OSError as error:
        raise UnreadableError(error.strerror or "cannot be listed") from error
    return tuple(found)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    # O_NONBLOCK: opening a named pipe must not wait for a writer.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise UnreadableError(getattr(error, "strerror", None) or str(error)) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _size(limit: int) -> str:
    mib = limit // (1024 * 1024)
    return f"{mib} MiB" if mib else f"{limit} bytes"
