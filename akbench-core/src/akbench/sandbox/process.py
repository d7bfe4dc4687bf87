"""The harness's side of a sandboxed process: starts the warden, collects output, keeps the deadline and bounds.

Public for distributions that bring a sandbox, besides `akbench.spec`: a sandbox says how its enclosure is started
(a `Start`), and `supervise` does the rest, in every sandbox alike.
"""

from __future__ import annotations

import json
import math
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Protocol

from akbench.sandbox.disk import DiskWatch
from akbench.spec import HostError, ProcessEvidence, SandboxRequest

__all__ = [
    "START_SECONDS",
    "SUPERVISED",
    "WARDEN",
    "Enclosure",
    "Handover",
    "Start",
    "hand_over",
    "memory_file",
    "spawn",
    "supervise",
]

SUPERVISED = frozenset({"disk_bytes", "file_bytes", "files", "output_bytes"})
"""The bounds that `supervise` and the warden keep in every sandbox."""

WARDEN = Path(__file__).with_name("warden.py")
"""The script that is the first process inside every sandbox."""

START_SECONDS = 30.0
"""The longest that a sandbox may take until the process inside has started."""

_KILL_SECONDS = 30.0
_CANCEL_POLL_SECONDS = 0.1
_READ_BYTES = 1 << 16
_DIAGNOSTIC_BYTES = 1 << 14


class Enclosure(Protocol):
    """A started sandbox, which ends when its warden has ended. `subprocess.Popen` is one."""

    def poll(self) -> int | None:
        """How it ended; None while it is there. Raises `HostError` if what carries it has broken down."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it is gone. Raises `subprocess.TimeoutExpired`, or `HostError` as `poll` does."""

    def kill(self) -> None:
        """End it and everything in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """What a started warden must get: its order, and the descriptors that the order names by their numbers.

    - `order`: a descriptor of the order.
    - `named`: each further descriptor, by its name in the order.
    - `diagnostic`: for what goes wrong before the warden can speak for itself; the warden's stderr.
    """

    order: int
    named: Mapping[str, int]
    diagnostic: int


type Start = Callable[[Handover, ExitStack], Enclosure]
"""How a sandbox starts its enclosure with the warden inside; what it opens for that goes on the stack.

Raises `OSError` or `HostError` with the reason why it cannot.
"""


def spawn(argv: tuple[str, ...], handover: Handover, descriptors: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """Start a program of the host which becomes the warden, or brings it forth, and inherits what that needs.

    `descriptors` are further ones that the program needs itself.
    """
    return subprocess.Popen(
        argv,
        env={},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=handover.diagnostic,
        pass_fds=(handover.order, *handover.named.values(), *descriptors),
        start_new_session=True,  # or a terminal's Ctrl-C reached it: the harness decides when to interrupt
    )


def memory_file(content: bytes, stack: ExitStack) -> int:
    """A descriptor of an anonymous file with this content, at its start; closed with `stack`."""
    descriptor = os.memfd_create("akbench")
    stack.callback(os.close, descriptor)
    with os.fdopen(os.dup(descriptor), "wb") as target:
        target.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def hand_over(handover: Handover, connection: socket.socket) -> None:
    """Send a warden that was started with the path of a unix socket, and has connected to it, what it needs."""
    everything = {"order": handover.order, "diagnostic": handover.diagnostic, **handover.named}
    socket.send_fds(connection, [" ".join(everything).encode()], list(everything.values()))


def supervise(request: SandboxRequest, start: Start, *, processes: int | None) -> ProcessEvidence:
    """Run the request's process under a warden that `start` starts; `processes` is its RLIMIT_NPROC.

    The request names the model's socket and the working directory as the warden sees them. Raises `HostError` if
    something of it cannot be killed, or if the sandbox broke down.
    """
    watch = _Watch(request)
    if request.cancelled.is_set():
        watch.cancelled = True
        watch.never_started("cancelled before the start")
    else:
        with watch.disk:
            _run(request, start, processes, watch)
    return watch.evidence()


def _run(request: SandboxRequest, start: Start, processes: int | None, watch: _Watch) -> None:
    with ExitStack() as stack:
        pipes = _Pipes(request, stack)
        try:
            enclosure = _start(request, start, processes, pipes)
        except (OSError, HostError) as error:
            watch.never_started(str(error))
            return
        finally:
            pipes.close_far_ends()
        try:
            watch.follow(enclosure, pipes)
        finally:
            _end(enclosure, pipes, request.grace_seconds)
        watch.disk.conclude()


def _end(enclosure: Enclosure, pipes: _Pipes, grace_seconds: float) -> None:
    """Make sure that the warden is gone, and so all of its process tree."""
    pipes.control.close()
    with suppress(subprocess.TimeoutExpired):
        enclosure.wait(grace_seconds + _KILL_SECONDS)
        return
    enclosure.kill()
    enclosure.wait(_KILL_SECONDS)


class _Pipes:
    """The pipes between harness and warden; the far ends are the warden's."""

    def __init__(self, request: SandboxRequest, stack: ExitStack) -> None:
        self._stack = stack
        self._far = stack.enter_context(ExitStack())
        self.stdout, self.stdout_end = self._reading()
        self.stderr, self.stderr_end = self._reading()
        self.status, self.status_end = self._reading()
        self.diagnostic, self.diagnostic_end = self._reading()
        self.control_end, control = os.pipe()
        self._far.callback(os.close, self.control_end)
        self.control = stack.enter_context(os.fdopen(control, "wb", buffering=0))
        self.stdin = memory_file(request.stdin, self._far)

    def _reading(self) -> tuple[IO[bytes], int]:
        near, far = os.pipe()
        self._far.callback(os.close, far)
        return self._stack.enter_context(os.fdopen(near, "rb", buffering=0)), far

    def close_far_ends(self) -> None:
        """Close what only the warden may hold, so that its end is seen as the end of the pipes."""
        self._far.close()

    def order(self) -> dict[str, int]:
        """The warden's descriptors, by their names in its order."""
        return {
            "stdin": self.stdin,
            "stdout": self.stdout_end,
            "stderr": self.stderr_end,
            "status": self.status_end,
            "control": self.control_end,
        }


def _start(request: SandboxRequest, start: Start, processes: int | None, pipes: _Pipes) -> Enclosure:
    with ExitStack() as stack:
        order = memory_file(json.dumps(_order(request, processes, pipes)).encode(), stack)
        report = {} if request.report is None else {"report": request.report}
        named = {**pipes.order(), **report}
        return start(Handover(order=order, named=named, diagnostic=pipes.diagnostic_end), stack)


def _order(request: SandboxRequest, processes: int | None, pipes: _Pipes) -> Mapping[str, Any]:
    return {
        "argv": request.argv,
        "environ": dict(request.environ),
        "cwd": request.cwd,
        "report": request.report,
        "report_fd": request.report_fd,
        "file_bytes": request.limits.file_bytes,
        "processes": processes,
        "interrupt": int(request.interrupt),
        "grace_seconds": request.grace_seconds,
        "model_port": request.model_port,
        "model_socket": None if request.model_socket is None else str(request.model_socket),
        **pipes.order(),
    }


class _Output:
    """A file of what a process writes, up to `limit` bytes."""

    def __init__(self, target: IO[bytes], limit: int) -> None:
        self._target = target
        self._left = limit

    def take(self, data: bytes) -> None:
        """Write what still fits."""
        self._target.write(data[: self._left])
        self._left -= min(len(data), self._left)


class _Watch:
    """What is seen of one process, as it is seen, and when it has to be stopped."""

    def __init__(self, request: SandboxRequest) -> None:
        self.request = request
        self.timed_out = self.cancelled = False
        self.disk = DiskWatch(tuple(bind.host for bind in request.binds if bind.writable), request.limits)
        self.start_error: str | None = None
        self._exit_code: int | None = None
        self._signal: int | None = None
        self._started_at = datetime.now(UTC)
        self._finished_at: datetime | None = None
        self._started: float | None = None
        self._duration = 0.0
        self._status = bytearray()
        self._diagnostic = bytearray()
        self._out_of_memory = False
        self._told = False  # to stop, for exceeding a bound
        self._give_up = 0.0  # the monotonic time by which the warden must have come to its next step

    def never_started(self, reason: str) -> None:
        """Note why, and leave empty output files."""
        self.start_error = reason
        self.request.stdout.write_bytes(b"")
        self.request.stderr.write_bytes(b"")

    def follow(self, enclosure: Enclosure, pipes: _Pipes) -> None:
        """Collect output and status until the warden has ended, telling it to stop when it is time."""
        self._give_up = time.monotonic() + START_SECONDS
        with self.request.stdout.open("wb") as stdout, self.request.stderr.open("wb") as stderr:
            limit = self.request.limits.output_bytes
            takers = {
                pipes.stdout: _Output(stdout, limit).take,
                pipes.stderr: _Output(stderr, limit).take,
                pipes.status: self._take_status,
                pipes.diagnostic: self._take_diagnostic,
            }
            self._read_all(takers, enclosure, pipes)
            self._conclude(enclosure.wait(), stderr)

    def _read_all(
        self,
        takers: Mapping[IO[bytes], Callable[[bytes], None]],
        enclosure: Enclosure,
        pipes: _Pipes,
    ) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe, take in takers.items():
                selector.register(pipe, selectors.EVENT_READ, take)
            while selector.get_map():
                for key, _ in selector.select(self._patience()):
                    data = os.read(key.fd, _READ_BYTES)
                    key.data(data)
                    if not data:
                        selector.unregister(key.fileobj)
                self._stop_when_due(enclosure, pipes)

    def _patience(self) -> float:
        """Seconds until something is due; short, as a threading event cannot be selected on."""
        due = min(self._give_up, self._deadline()) - time.monotonic()
        return max(0.0, min(due, _CANCEL_POLL_SECONDS))

    def _deadline(self) -> float:
        if self._started is None or self._stopping():
            return math.inf
        return self._started + self.request.limits.timeout_seconds

    def _stopping(self) -> bool:
        return self._stopped() or self._finished_at is not None

    def _stopped(self) -> bool:
        return self.timed_out or self.cancelled or self._told

    def _stop_when_due(self, enclosure: Enclosure, pipes: _Pipes) -> None:
        now = time.monotonic()
        enclosure.poll()  # raises if what carries it is broken
        if not self._stopping():
            self.timed_out = now >= self._deadline()
            self._told = not self.timed_out and self.disk.exceeded is not None
            self.cancelled = not self.timed_out and not self._told and self.request.cancelled.is_set()
            if self._stopping():
                self._interrupt(pipes)
        if now >= self._give_up:
            self._abandon(enclosure)

    def _interrupt(self, pipes: _Pipes) -> None:
        self._give_up = time.monotonic() + self.request.grace_seconds + _KILL_SECONDS
        with suppress(BrokenPipeError):  # it has just ended by itself
            pipes.control.write(b"x")

    def _abandon(self, enclosure: Enclosure) -> None:
        """Kill a warden that hangs; in a PID namespace everything inside dies with it."""
        if enclosure.poll() is not None:
            raise HostError("a process of the run outlived its sandbox and cannot be ended")
        enclosure.kill()
        enclosure.wait(_KILL_SECONDS)
        if self._started is None:
            self.start_error = f"the sandbox did not start within {START_SECONDS:g} s"
        self._give_up = time.monotonic() + _KILL_SECONDS

    def _take_diagnostic(self, data: bytes) -> None:
        self._diagnostic += data[: _DIAGNOSTIC_BYTES - len(self._diagnostic)]

    def _take_status(self, data: bytes) -> None:
        if not data:  # the warden is gone, whether it said so or not
            self._give_up = min(self._give_up, time.monotonic() + _KILL_SECONDS)
        *lines, rest = (bytes(self._status) + data).split(b"\n")
        self._status[:] = rest
        for line in lines:
            self._note(json.loads(line))

    def _note(self, status: dict[str, Any]) -> None:
        if "started" in status:
            self._started, self._started_at = time.monotonic(), datetime.now(UTC)
            if not self._stopping():
                self._give_up = math.inf
            return
        self._finish()
        self.start_error = status.get("start_error")
        self._exit_code, self._signal = status.get("exit_code"), status.get("signal")
        self._out_of_memory = status.get("out_of_memory", False) and self._signal == signal.SIGKILL

    def _finish(self) -> None:
        now = time.monotonic()
        self._finished_at = datetime.now(UTC)
        self._duration = 0.0 if self._started is None else now - self._started
        self._give_up = now + _KILL_SECONDS

    def _conclude(self, returncode: int, stderr: IO[bytes]) -> None:
        if self._finished_at is not None:
            return
        self._finish()
        said = bytes(self._diagnostic).decode(errors="replace").strip()
        if self._started is None:
            fallback = f"the sandbox ended with {returncode} before the process started"
            self.start_error = self.start_error or said or fallback
        else:
            self._signal = signal.SIGKILL  # what the kernel does to the process when its warden dies
            stderr.write(f"\nakbench: the sandbox broke down ({returncode}): {said}\n".encode())

    def evidence(self) -> ProcessEvidence:
        """All that was seen."""
        return ProcessEvidence(
            exit_code=self._exit_code,
            signal=self._signal,
            timed_out=self.timed_out,
            cancelled=self.cancelled,
            started_at=self._started_at,
            finished_at=self._finished_at or datetime.now(UTC),
            duration_seconds=self._duration,
            stdout=self.request.stdout,
            stderr=self.request.stderr,
            start_error=self.start_error,
            exceeded=self.disk.exceeded or self._memory_excess(),
        )

    def _memory_excess(self) -> str | None:
        if not self._out_of_memory or self._stopped():
            return None
        return f"it needed more memory than its {self.request.limits.memory_bytes} bytes"
