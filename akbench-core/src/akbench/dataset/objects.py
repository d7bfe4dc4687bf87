"""Git objects on disk, and folders that come into being whole or not at all."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from dulwich.errors import ChecksumMismatch, ObjectFormatException
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ShaFile

__all__ = ["UNREADABLE", "move_into_place", "write_objects"]

UNREADABLE = (KeyError, ValueError, OSError, AssertionError, zlib.error, ChecksumMismatch, ObjectFormatException)
"""How a damaged or missing git object shows itself."""

_FAST = 1


def write_objects(store: Path, objects: Iterable[ShaFile]) -> None:
    """Write `objects` into the git object directory `store`, made if need be, in one pack."""
    (store / "pack").mkdir(parents=True, exist_ok=True)
    with closing(DiskObjectStore(store, pack_compression_level=_FAST)) as disk:
        disk.add_objects([(item, None) for item in objects])


def move_into_place(draft: Path, place: Path) -> None:
    """Rename the folder `draft` to `place`; if another process was first, what it made is the same and stays."""
    try:
        draft.rename(place)
    except OSError:
        if not place.is_dir():
            raise
        shutil.rmtree(draft)
