"""Processes: how an adapter asks for one, how it follows it, and what the core saw of it."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

__all__ = ["Artifact", "Host", "Invocation", "Mount", "ProcessEvidence", "RunningProcess"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A directory or file of the host that the agent needs to see, read-only, at the path `inside`.

    In a sandbox that cannot move paths `inside` equals `host`; use `AgentRequest.place` to ask for it.
    """

    host: Path
    inside: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """How to start a program. The core starts it, with the environment it made from scratch plus `environ`.

    - `files`: relative path -> content, written into the `state` directory before the start.
    - `interrupt`: the signal sent first when it has to stop; after `grace_seconds` it is killed with all it started.
    """

    argv: tuple[str, ...]
    stdin: bytes = b""
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    interrupt: signal.Signals = signal.SIGINT
    grace_seconds: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEvidence:
    """What the core saw of a process it ran in a sandbox. Times are timezone-aware UTC.

    `exit_code` is None when the process ended by a signal or never started; `signal` is that signal's number.
    `start_error` says why it never started; `exceeded` which bound it broke, for which it was ended if it had not ended
    by then. `stdout` and `stderr` are files on the host.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    stdout: Path
    stderr: Path
    start_error: str | None = None
    exceeded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A file worth keeping: its path relative to the `state` directory, and its name as an artifact."""

    path: str
    name: str
    media_type: str


class RunningProcess(ABC):
    """A process that the core started for an adapter and will end, whatever the adapter does."""

    @abstractmethod
    def wait(self, seconds: float) -> ProcessEvidence | None:
        """Wait at most `seconds`; the evidence once the process and all it started are gone, else None."""

    @abstractmethod
    def stop(self) -> None:
        """Ask for its end: the invocation's signal, then the kill after its grace. Returns at once; `wait` tells."""


class Host(ABC):
    """What the core lends to an adapter at work.

    `workspace`, `home` and `state` are the host's paths of the folders of the same names; what lies in them after an
    agent ran was written by it and is read with care (links!).
    """

    workspace: Path
    home: Path
    state: Path

    @abstractmethod
    def start(self, invocation: Invocation) -> RunningProcess:
        """Start a process where the experiment says that it runs. Raises `HostError` where none may be started."""
