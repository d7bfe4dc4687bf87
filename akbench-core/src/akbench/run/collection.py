"""Keeping files that agents and runtimes wrote: regular files only, no link followed, size bounded."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from akbench.run.journal import RunFolder
from akbench.spec import Artifact

__all__ = ["FILE_LIMIT", "keep_files"]

FILE_LIMIT = 64 << 20
"""Largest file that is kept (bytes)."""


def keep_files(folder: RunFolder, owner: str, state: Path, artifacts: Iterable[Artifact]) -> tuple[str, ...]:
    """Copy the named files of `state` into the run's folder `owner`; returns those that could not be."""
    missing = []
    for artifact in artifacts:
        content = _read(state, artifact.path)
        name = PurePosixPath(artifact.name)
        if content is None or name.is_absolute() or ".." in name.parts:
            missing.append(artifact.path)
        else:
            folder.write(f"{owner}/{name}", content, artifact.media_type)
    return tuple(missing)


def _read(root: Path, path: str) -> bytes | None:
    """The file's bytes, reached without following any link; None if it is not such a file or too large."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        return None
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return _read_regular(parts[-1], descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read_regular(name: str, directory: int) -> bytes | None:
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    with os.fdopen(file, "rb") as opened:
        about = os.fstat(opened.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > FILE_LIMIT:
            return None
        return opened.read(FILE_LIMIT)
