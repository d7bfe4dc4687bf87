"""Putting a report on disk so that a reader never meets half a page, and nothing of an older report stays behind."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from akbench.spec import HostError, InputError

__all__ = ["MANIFEST", "File", "publish"]

MANIFEST = "akbench-report.json"
"""The list of the files that a report consists of; only these are ever overwritten or removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of the report: its path below the report's folder, with forward slashes, and its content."""

    path: str
    content: bytes


def publish(files: Iterable[File], target: Path) -> None:
    """Make `target` hold exactly the report `files` (and whatever else was there that no report wrote).

    All files are produced beside `target` before the first one is replaced, so a failure leaves the older report as it
    was. Raises `InputError` if a file of somebody else would be overwritten, `HostError` if the disk refuses.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
            _swap(_stage(files, Path(scratch)), Path(scratch), target)
    except OSError as error:
        raise HostError(f"the report cannot be written to {target}: {error.strerror or error}") from error


def _stage(files: Iterable[File], scratch: Path) -> list[str]:
    paths = []
    for file in files:
        path = scratch / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        paths.append(file.path)
    return paths


def _swap(paths: list[str], scratch: Path, target: Path) -> None:
    older = _listed(target)
    _refuse_foreign(set(paths) - older, target)
    target.mkdir(exist_ok=True)
    # Written first with old and new names: after a crash in between, the next report still knows what it may remove.
    _list(older.union(paths), scratch, target)
    for path in paths:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (scratch / path).replace(target / path)
    for path in older.difference(paths):
        _remove(path, target)
    _list(set(paths), scratch, target)


def _listed(target: Path) -> set[str]:
    manifest = target / MANIFEST
    if not manifest.exists():
        return set()
    try:
        files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("not the list of a report's files; remove it to start anew", place=str(manifest)) from error
    return {path for path in files if _stays_inside(path)}


def _stays_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts and not PurePosixPath(path).is_absolute()


def _list(paths: set[str], scratch: Path, target: Path) -> None:
    draft = scratch / MANIFEST
    draft.write_text(json.dumps({"files": sorted(paths)}, indent=1) + "\n", encoding="utf-8")
    draft.replace(target / MANIFEST)


def _refuse_foreign(paths: set[str], target: Path) -> None:
    foreign = sorted(path for path in paths if (target / path).exists())
    if foreign:
        raise InputError(f"{foreign[0]} exists and is no part of a report; choose another folder", place=str(target))


def _remove(path: str, target: Path) -> None:
    (target / path).unlink(missing_ok=True)
    for folder in PurePosixPath(path).parents:
        if folder == PurePosixPath() or any((target / folder).iterdir()):
            return
        (target / folder).rmdir()
