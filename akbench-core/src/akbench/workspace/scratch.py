"""Folders for as long as a harness works: each says whose it is, so that what a dead harness left can be told.

Public for distributions that bring a sandbox, as `akbench.sandbox.process` is.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from akbench.ownership import Owner
from akbench.workspace.removal import remove_tree

__all__ = ["PREFIX", "abandoned_folders", "scratch_folder", "unclear_folders"]

PREFIX = "akbench-"
"""How the names of our folders in the system's temporary folder begin."""

_MARKER = ".akbench-owner"
_MARKER_BYTES = 1000


@contextmanager
def scratch_folder(prefix: str = PREFIX, parent: Path | None = None) -> Iterator[Path]:
    """A new empty folder in `parent` (the system's temporary folder if None), removed at the end.

    It is closed to other users until its user opens it. It holds one hidden file, the marker.
    """
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        (path / _MARKER).write_text(str(Owner.this()), encoding="utf-8")
        yield path
    finally:
        remove_tree(path)


def abandoned_folders(parent: Path, prefix: str = "") -> tuple[Path, ...]:
    """The scratch folders of this user in `parent` whose harness is gone. What has no marker is not ours to judge."""
    return tuple(
        path for path, owner in _marked_folders(parent, prefix) if isinstance(owner, Owner) and owner.is_gone()
    )


def unclear_folders(parent: Path, prefix: str = "") -> tuple[tuple[Path, str], ...]:
    """Folders of this user in `parent` whose marker names no owner, and why; they may be anybody's."""
    return tuple((path, owner) for path, owner in _marked_folders(parent, prefix) if isinstance(owner, str))


def _marked_folders(parent: Path, prefix: str) -> Iterator[tuple[Path, Owner | str]]:
    if not parent.is_dir():
        return
    for path in sorted(path for path in parent.iterdir() if path.name.startswith(prefix)):
        owner = _owner_of(path)
        if owner is not None:
            yield path, owner


def _owner_of(path: Path) -> Owner | str | None:
    """Who made the folder, or what is wrong with its marker; None if it is no scratch folder of this user."""
    try:
        about = path.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
            return None
        content = _marker_content(path / _MARKER)
    except FileNotFoundError:  # removed meanwhile, or without a marker
        return None
    except OSError as error:
        return f"{_MARKER} cannot be read: {error.strerror}"
    if content is None:
        return f"{_MARKER} is no file of this user"
    return Owner.parse(content.decode("utf-8", "replace")) or f"{_MARKER} names no owner"


def _marker_content(path: Path) -> bytes | None:
    """What the marker says, without following a link or waiting for a writer; None if it is no file of this user."""
    if not _is_own_file(path.lstat()):
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        return os.read(descriptor, _MARKER_BYTES) if _is_own_file(os.fstat(descriptor)) else None
    finally:
        os.close(descriptor)


def _is_own_file(about: os.stat_result) -> bool:
    return stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()
