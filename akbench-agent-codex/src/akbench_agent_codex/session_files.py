"""Collecting Codex's session files from a directory that the agent could write to."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SessionFile", "SessionFiles", "collect_session_files", "read_bounded", "read_tail"]

FOLDER = "sessions"
PATTERN = "rollout-*.jsonl"
FILE_LIMIT = 64 << 20
"""Largest file that is read (bytes)."""
TOTAL_LIMIT = 256 << 20
"""Most that is read of all of them together (bytes)."""
COUNT_LIMIT = 500
DEPTH_LIMIT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFile:
    """One session file; `path` is relative to CODEX_HOME."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFiles:
    """The files read, and for each that was not: its path and why. Sums over `files` are whole only without these."""

    files: tuple[SessionFile, ...] = ()
    left_out: tuple[str, ...] = ()


def collect_session_files(codex_home: Path) -> SessionFiles:
    """The session files below `codex_home`, reached without following any link."""
    files: list[SessionFile] = []
    left_out: list[str] = []
    total = 0
    for path, descriptor in _matching(codex_home):
        reason, content = _read(descriptor, min(FILE_LIMIT, TOTAL_LIMIT - total))
        if reason is None and len(files) < COUNT_LIMIT:
            files.append(SessionFile(path=path, content=content))
            total += len(content)
        else:
            left_out.append(f"{path}: {reason or f'more than {COUNT_LIMIT} files'}")
    return SessionFiles(files=tuple(files), left_out=tuple(left_out))


def read_bounded(path: Path, limit: int = FILE_LIMIT) -> tuple[bytes, bool]:
    """The first `limit` bytes of a file that the harness wrote, and whether that is all; nothing if it is missing."""
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        return b"", True
    return content[:limit], len(content) <= limit


def read_tail(path: Path, size: int) -> bytes:
    """The last `size` bytes of a file that the harness wrote; nothing if it is missing."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - size))
            return file.read(size)
    except FileNotFoundError:
        return b""


def _matching(root: Path) -> Iterator[tuple[str, int | None]]:
    """Relative path and open descriptor of each matching name; None where it could not be opened."""
    try:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        yield from _below(top, FOLDER, DEPTH_LIMIT)
    finally:
        os.close(top)


def _below(parent: int, path: str, depth: int) -> Iterator[tuple[str, int | None]]:
    folder = _open(path.rpartition("/")[2], parent, os.O_DIRECTORY)
    if folder is None:
        return
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
        for name, is_folder in names:
            if is_folder and depth > 0:
                yield from _below(folder, f"{path}/{name}", depth - 1)
            elif not is_folder and fnmatch.fnmatchcase(name, PATTERN):
                yield f"{path}/{name}", _open(name, folder)
    finally:
        os.close(folder)


def _open(name: str, folder: int, flags: int = 0) -> int | None:
    # O_NONBLOCK: opening a pipe that the agent left must not wait for a writer.
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | flags, dir_fd=folder)
    except OSError:
        return None


def _read(descriptor: int | None, limit: int) -> tuple[str | None, bytes]:
    """Why the file cannot be used, or None and its bytes."""
    if descriptor is None:
        return "a link, or not readable", b""
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            return "not a regular file", b""
        if about.st_size > limit:
            return f"larger than {limit} bytes", b""
        return None, file.read(limit)
