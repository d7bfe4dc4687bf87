"""What a process's writable folders hold, measured again and again while it runs."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from akbench.spec import Limits

__all__ = ["DiskWatch"]

_BLOCK_BYTES = 512  # the unit of st_blocks, whatever the file system's own is
_REST_SECONDS = 1.0
_REST_SHARE = 20
"""Between two measurements lies this many times what one takes: at most a twentieth of a processor is spent."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(slots=True)
class _Census:
    """What is in some folders: space on the disk in bytes, and files, with links and folders among them."""

    limits: Limits
    disk_bytes: int = 0
    files: int = 0
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def take(self, folders: tuple[Path, ...], stop: threading.Event) -> str | None:
        """Count everything below `folders`, up to the first bound that is exceeded: which, in words."""
        waiting = [str(folder) for folder in folders]
        while waiting and not stop.is_set():
            try:
                self._folder(waiting.pop(), waiting)
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    return "a folder lies too deep for what is in it to be measured"
                if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES}:
                    raise
            if excess := self._excess():
                return excess
        return None

    def _folder(self, path: str, waiting: list[str]) -> None:
        descriptor = os.open(path, _FOLDER)
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:  # removed since
                        continue
                    self._count(found)
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(f"{path}/{entry.name}")
                    if self._excess():
                        return
        finally:
            os.close(descriptor)

    def _count(self, found: os.stat_result) -> None:
        self.files += 1
        if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
            if (found.st_dev, found.st_ino) in self._seen:
                return
            self._seen.add((found.st_dev, found.st_ino))
        self.disk_bytes += found.st_blocks * _BLOCK_BYTES

    def _excess(self) -> str | None:
        if self.limits.files is not None and self.files > self.limits.files:
            return f"its folders hold more than {self.limits.files} files"
        if self.limits.disk_bytes is not None and self.disk_bytes > self.limits.disk_bytes:
            return f"its folders hold more than {self.limits.disk_bytes} bytes"
        return None


class DiskWatch:
    """A context manager: while it is open, `exceeded` says which of the bounds `disk_bytes` and `files` was exceeded.

    Folders that their owner closed to the harness are not looked into, and files that have no name any more are not
    seen; the bound of a single file's size holds for these too.
    """

    def __init__(self, folders: tuple[Path, ...], limits: Limits) -> None:
        self.exceeded: str | None = None
        self._folders, self._limits = folders, limits
        self._closed = threading.Event()
        bounded = limits.disk_bytes is not None or limits.files is not None
        self._thread = threading.Thread(target=self._watch, name="disk watch", daemon=True) if bounded else None

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def conclude(self) -> None:
        """Measure once more, now that nothing writes: a bound holds however quickly it was exceeded."""
        if self._thread is None:
            return
        self._closed.set()
        self._thread.join()
        if self.exceeded is None:
            self.exceeded = _Census(self._limits).take(self._folders, threading.Event())

    def _watch(self) -> None:
        rest = _REST_SECONDS
        while not self._closed.wait(rest):
            begun = time.monotonic()
            self.exceeded = _Census(self._limits).take(self._folders, self._closed)
            if self.exceeded is not None:
                return
            rest = max(_REST_SECONDS, _REST_SHARE * (time.monotonic() - begun))
