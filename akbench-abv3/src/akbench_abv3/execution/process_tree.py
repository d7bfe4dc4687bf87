"""All processes that a command started, daemons among them, and signals to them.

On Linux this process becomes the reaper of its orphaned descendants, so that one that left its
session or was disowned is still found. Elsewhere only the command's process group is reached.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ProcessTree", "adopting_orphans"]

_PR_SET_CHILD_SUBREAPER: Final = 36
_PROC: Final = Path("/proc")


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be the parent of orphaned descendants while the block runs (Linux; elsewhere nothing)."""
    if not sys.platform.startswith("linux"):
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Process:
    pid: int
    parent: int
    is_dead: bool


class ProcessTree:
    """The processes started after this object was made, from the command's group downwards."""

    def __init__(self) -> None:
        self._before = frozenset(one.pid for one in _children_of(os.getpid(), _processes()))
        self._leader = 0

    def lead(self, pid: int) -> None:
        """Name the command's first process, the leader of its group."""
        self._leader = pid

    def living(self) -> tuple[int, ...]:
        """Return the processes that still run, apart from the leader; dead orphans are reaped."""
        if not _PROC.is_dir():
            return (self._leader,) if _group_lives(self._leader) else ()
        everyone = _processes()
        found: list[int] = []
        waiting = [one for one in _children_of(os.getpid(), everyone) if one.pid not in self._before]
        while waiting:
            one = waiting.pop()
            waiting.extend(_children_of(one.pid, everyone))
            if one.pid == self._leader:
                continue
            if not one.is_dead:
                found.append(one.pid)
            elif one.parent == os.getpid():
                _reap(one.pid)
        return tuple(found)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to all of them; a stopped process is woken to hear it."""
        pids = self.living()
        for wanted in (number, signal.SIGCONT):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, wanted)
            for pid in pids:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, wanted)


def _processes() -> tuple[_Process, ...]:
    if not _PROC.is_dir():
        return ()
    numbers = (int(one.name) for one in _PROC.iterdir() if one.name.isdigit())
    return tuple(process for process in map(_process, numbers) if process is not None)


def _process(pid: int) -> _Process | None:
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:  # it ended meanwhile
        return None
    state, parent, *_ = text.rpartition(b")")[2].split()
    return _Process(pid=pid, parent=int(parent), is_dead=state in (b"Z", b"X"))


def _children_of(pid: int, everyone: tuple[_Process, ...]) -> list[_Process]:
    return [one for one in everyone if one.parent == pid]


def _reap(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
