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

__all__ = ["PREFIX", "abandoned_folders", "scratch_folder"]

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
    if not parent.is_dir():
        return ()
    found = (path for path in parent.iterdir() if path.name.startswith(prefix))
    return tuple(sorted(path for path in found if _is_abandoned(path)))


def _is_abandoned(path: Path) -> bool:
    try:
        about = path.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
            return False
        descriptor = os.open(path / _MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # removed meanwhile, closed to us, or without a marker
        return False
    with os.fdopen(descriptor, "rb") as marker:
        owner = Owner.parse(marker.read(_MARKER_BYTES).decode("utf-8", "replace"))
    return owner is not None and owner.is_gone()
