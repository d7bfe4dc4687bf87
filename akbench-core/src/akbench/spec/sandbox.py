"""What a sandbox implements: run one process so that it, and all it starts, ends with the run."""

from __future__ import annotations

import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from akbench.spec.probe import Problem
from akbench.spec.process import ProcessEvidence

__all__ = ["Bind", "Limits", "Sandbox", "SandboxProbe", "SandboxRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """A host path shown inside the sandbox."""

    host: Path
    inside: str
    writable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one process tree: wall clock (seconds), processes (count), size of any one file (bytes)."""

    timeout_seconds: float
    processes: int = 512
    file_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRequest:
    """One process to run. `argv`, `environ`, `cwd` are as seen inside.

    - `model_socket`: a unix socket on the host that carries the model endpoint; inside it is
      ``http://127.0.0.1:<model_port>``. None: no network at all.
    - `report`: a file descriptor of the harness handed to the process as descriptor `report_fd`.
    - `cancelled`: set by the harness to stop the run.
    """

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    cwd: str
    binds: tuple[Bind, ...]
    stdin: bytes
    stdout: Path
    stderr: Path
    limits: Limits
    cancelled: threading.Event
    interrupt: signal.Signals = signal.SIGKILL
    grace_seconds: float = 0.0
    model_socket: Path | None = None
    model_port: int | None = None
    report: int | None = None
    report_fd: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxProbe:
    """Whether the sandbox works here; `facts` (version, uid, limits not enforceable) are recorded with the run."""

    problems: tuple[Problem, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


class Sandbox(ABC):
    """Confines one process tree. Built without arguments; safe to use from several threads."""

    bounded: bool
    """Whether what runs inside is really confined (files, network, processes)."""

    @abstractmethod
    def probe(self) -> SandboxProbe:
        """Try it for real: run a trivial process inside."""

    @abstractmethod
    def inside(self, name: str, host: Path) -> str:
        """Where the harness's directory `host`, called `name`, appears inside."""

    @abstractmethod
    def program_root(self) -> str | None:
        """Where programs of the host may be mounted; None if paths cannot be moved."""

    @abstractmethod
    def model_port(self) -> int:
        """A loopback port that is free inside, for the model endpoint."""

    @abstractmethod
    def own(self, path: Path) -> None:
        """Make the tree at `path` writable for the processes inside (a change of owner where users differ)."""

    @abstractmethod
    def run(self, request: SandboxRequest) -> ProcessEvidence:
        """Run the process to its end, its deadline or its cancellation; afterwards nothing it started is alive."""
