"""One command run to its end: its output taken, its time bounded, its whole process tree ended."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol

from akbench_abv3.completed import KILL_AFTER_SECONDS, LEFTOVER_GRACE_SECONDS
from akbench_abv3.execution.process_tree import ProcessTree, adopting_orphans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from akbench_abv3.execution.interrupts import Interrupts

__all__ = ["Ended", "Ending", "Sink", "supervise"]

_CHUNK: Final = 65536
_TICK_SECONDS: Final = 0.1
_GIVE_UP_SECONDS: Final = 5.0
"""After SIGKILL, for a process that the kernel cannot end."""


class Sink(Protocol):
    """Takes what a command writes."""

    def feed(self, chunk: bytes) -> None:
        """Take a chunk."""


class Ending(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended.

    `exit_code` is None when a signal (`signal`) ended it; `left_behind` counts the processes that it
    had started and not ended.
    """

    ending: Ending
    exit_code: int | None
    signal: str | None
    duration_seconds: float
    left_behind: int


def supervise(
    command: str,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    stdout: Sink,
    stderr: Sink,
    timeout_seconds: float | None,
    interrupts: Interrupts,
    held: tuple[int, ...] = (),
) -> Ended:
    """Run `command` in a shell and a process group of its own, without standard input.

    At the timeout, or when `interrupts` says so, the tree gets a signal, and SIGKILL 15 s later; a
    second interrupt kills at once. Nothing of the tree runs when this returns (Linux). If this program
    itself is killed, a guardian ends the tree; it keeps the file descriptors `held` open until then.
    """
    with adopting_orphans(), _guardian(held) as guard:
        tree = ProcessTree()
        process = subprocess.Popen(  # noqa: S602 - the specification's command is a shell command
            command,
            shell=True,
            executable="/bin/sh",
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        tree.lead(process.pid)
        guard(str(process.pid))
        assert process.stdout is not None
        assert process.stderr is not None
        with process.stdout, process.stderr:
            streams = {process.stdout: stdout, process.stderr: stderr}
            return _Supervision(process, tree, streams, timeout_seconds, interrupts).to_the_end()


@contextmanager
def _guardian(held: tuple[int, ...]) -> Iterator[Callable[[str], None]]:
    command = (sys.executable, "-I", "-S", Path(__file__).with_name("guardian.py"), str(LEFTOVER_GRACE_SECONDS))
    with subprocess.Popen(
        command,
        cwd="/",
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=held,
        bufsize=0,
    ) as process:
        assert process.stdin is not None
        stream = process.stdin

        def tell(line: str) -> None:
            with suppress(BrokenPipeError):  # somebody ended the guardian; the run goes on without
                stream.write(f"{line}\n".encode())

        try:
            yield tell
        finally:
            tell("")


class _Supervision:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        tree: ProcessTree,
        streams: Mapping[IO[bytes], Sink],
        timeout_seconds: float | None,
        interrupts: Interrupts,
    ) -> None:
        self._process, self._tree, self._interrupts = process, tree, interrupts
        self._started = time.monotonic()
        self._deadline = self._started + timeout_seconds if timeout_seconds else None
        self._ending = Ending.EXITED
        self._kill_at: float | None = None
        self._heard = 0
        self._left_behind = 0
        self._exited_at: float | None = None
        self._selector = selectors.DefaultSelector()
        self._selector.register(interrupts.wake_fd, selectors.EVENT_READ, None)
        for stream, sink in streams.items():
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, sink)

    def to_the_end(self) -> Ended:
        try:
            while not self._is_over():
                self._take_output(_TICK_SECONDS)
                self._look_at_the_clock()
        except BaseException:
            self._tree.send(signal.SIGKILL)
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._take_output(0)
            self._selector.close()
        return self._ended()

    def _is_over(self) -> bool:
        if self._process.poll() is None:
            return False
        now = time.monotonic()
        if self._exited_at is None:
            self._exited_at = now
        living = self._tree.living()
        if not living:
            return True
        if self._kill_at is None:
            self._left_behind = len(living)
            self._end_politely(signal.SIGTERM, LEFTOVER_GRACE_SECONDS)
        return self._kill_at is not None and now > self._kill_at + _GIVE_UP_SECONDS

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if self._interrupts.count > self._heard:
            self._hear()
        elif self._deadline is not None and now >= self._deadline and self._kill_at is None:
            self._ending = Ending.TIMEOUT
            self._end_politely(signal.SIGTERM, KILL_AFTER_SECONDS)
        if self._kill_at is not None and now >= self._kill_at:
            self._tree.send(signal.SIGKILL)

    def _hear(self) -> None:
        is_first = self._heard == 0 and self._interrupts.count == 1
        self._heard = self._interrupts.count
        self._ending = Ending.INTERRUPTED
        if is_first:
            self._interrupts.announce(f"stopping, at most {KILL_AFTER_SECONDS:.0f} s; again to end it at once")
            self._end_politely(self._interrupts.first or signal.SIGTERM, KILL_AFTER_SECONDS)
        else:
            self._kill_at = time.monotonic()

    def _end_politely(self, number: signal.Signals, grace_seconds: float) -> None:
        self._tree.send(number)
        self._kill_at = time.monotonic() + grace_seconds

    def _take_output(self, timeout_seconds: float) -> None:
        for key, _ in self._selector.select(timeout_seconds):
            if key.data is None:
                self._interrupts.drain()
            else:
                self._read(key)
        if timeout_seconds == 0:
            self._read_the_rest()

    def _read_the_rest(self) -> None:
        for key in tuple(self._selector.get_map().values()):
            while key.data is not None and self._read(key):
                pass

    def _read(self, key: selectors.SelectorKey) -> bool:
        """Pass one chunk on; tell whether there may be more."""
        try:
            chunk = os.read(key.fd, _CHUNK)
        except BlockingIOError:
            return False
        if chunk:
            key.data.feed(chunk)
            return True
        self._selector.unregister(key.fileobj)
        return False

    def _ended(self) -> Ended:
        code = self._process.returncode
        end = self._exited_at if self._exited_at is not None else time.monotonic()
        return Ended(
            ending=self._ending,
            exit_code=code if code >= 0 else None,
            signal=signal.Signals(-code).name if code < 0 else None,
            duration_seconds=round(end - self._started, 3),
            left_behind=self._left_behind,
        )
