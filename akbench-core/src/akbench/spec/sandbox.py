"""What a sandbox implements: run one process so that it, and all it starts, ends with the run."""

from __future__ import annotations

import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from akbench.spec.errors import HostError
from akbench.spec.probe import Problem
from akbench.spec.process import ProcessEvidence

__all__ = ["TASK_IMAGES", "Bind", "Leftover", "Limits", "Sandbox", "SandboxImage", "SandboxProbe", "SandboxRequest"]

TASK_IMAGES = "task_images"
"""What a sandbox honours that runs tasks in images of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """A host path shown inside the sandbox."""

    host: Path
    inside: str
    writable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one process tree. None: unbounded.

    - `timeout_seconds`: its wall clock.
    - `processes`: processes at once (threads count as such).
    - `file_bytes`: the size of any one file; writing beyond it fails.
    - `output_bytes`: what is kept of stdout, and of stderr; the rest is dropped. A file of exactly this size was cut.
    - `disk_bytes`, `files`: what its writable folders hold together, links and folders counted as files; whoever
      exceeds it is ended, see `ProcessEvidence.exceeded`.
    - `memory_bytes`: memory of all processes together; `cpus`: processors, fractions included.
    """

    timeout_seconds: float
    processes: int = 512
    file_bytes: int = 1 << 30
    output_bytes: int = 64 << 20
    disk_bytes: int | None = None
    files: int | None = None
    memory_bytes: int | None = None
    cpus: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRequest:
    """One process to run. `argv`, `environ`, `cwd` are as seen inside.

    - `model_socket`: a unix socket on the host that carries the model endpoint; inside it is
      ``http://127.0.0.1:<model_port>``. None: no network at all.
    - `report`: a file descriptor of the harness handed to the process as descriptor `report_fd`.
    - `cancelled`: set by the harness to stop the run.
    - `image`: the image to run in, for a sandbox that honours ``image``; None for its own.
    - `shows_python`: whether the harness's Python must appear in that image at its own path, as prepared environments
      need it, even where it hides the image's own.
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
    image: str | None = None
    shows_python: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxImage:
    """An image that is there and in which processes can run.

    - `id`: identifies its content, and is what `SandboxRequest.image` takes; recorded with every run.
    - `environ`: the variables that it sets for its processes; `workdir`: the folder in which they begin.
    - `interpreter`: the words that start the harness's own Python in it, which has the standard library and nothing
      else, whatever the image itself holds.
    """

    id: str
    environ: Mapping[str, str]
    workdir: str
    interpreter: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxProbe:
    """Whether the sandbox works here; `facts` (version, uid, limits not enforceable) are recorded with the run."""

    problems: tuple[Problem, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """Something of AK-Bench that outlived the harness it belonged to: a container, say, and its name."""

    kind: str
    name: str


class Sandbox(ABC):
    """Confines one process tree. Built without arguments; safe to use from several threads."""

    bounded: bool
    """Whether what runs inside is really confined (files, network, processes)."""

    honours: frozenset[str]
    """What it carries out: ``image`` of an environment descriptor, the names of bounds in `Limits`, `TASK_IMAGES`.

    A plan that asks for anything else is refused. Who honours `TASK_IMAGES` has `find_image` and `build_image`.
    """

    @abstractmethod
    def probe(self, image: str | None = None) -> SandboxProbe:
        """Try it for real: run a trivial process inside, in the image if one is named."""

    def leftovers(self) -> tuple[Leftover, ...]:
        """What the harnesses of this machine that are gone have left of it. Nothing, if its runs end with them."""
        return ()

    def remove(self, leftover: Leftover) -> None:
        """Remove one of these; no error if it is gone by now."""
        raise NotImplementedError(f"{type(self).__name__} has no leftovers, and was asked to remove {leftover.name}")

    def find_image(self, name: str) -> SandboxImage:
        """The image that a task names by reference or id. Nothing is fetched.

        Raises `HostError` that says how to get it if it is not there, `InputError` if no task can run in it.
        """
        raise HostError(f"{type(self).__name__} runs no images of tasks, and was asked for {name!r}")

    def build_image(self, context: Path, dockerfile: str) -> SandboxImage:
        """The image that the file `dockerfile` in the folder `context` describes: built once, found again from then on.

        Raises `InputError` if the file is at fault, `HostError` with the end of what was said if it cannot be built.
        """
        raise HostError(f"{type(self).__name__} builds no images, and was asked for that of {context / dockerfile}")

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
