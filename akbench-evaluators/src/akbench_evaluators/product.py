"""The product as a check sees it: functions that are called and programs that are run in other processes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

__all__ = ["Completed", "Product", "ProductError", "ProductTimeoutError"]

_LARGEST_ANSWER = 8 << 20
_LARGEST_OUTPUT = 8 << 20
_PIECE = 1 << 16


class ProductError(Exception):
    """The product raised, ended, or answered with something that is no JSON; `kind` names the exception's type."""

    def __init__(self, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind


class ProductTimeoutError(ProductError):
    """The product did not answer in time; its process is gone."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A program's end: `exit_code` is negative for a signal; outputs are text, cut at 8 MiB each."""

    exit_code: int
    stdout: str
    stderr: str


class Product:
    """Reaches the product in the workspace. Its process is started when it is first called."""

    def __init__(self, *, workspace: str, python: str, environ: Mapping[str, str], server: str) -> None:
        self._workspace = workspace
        self._python = python
        self._environ = dict(environ)
        self._server = server
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._count = 0

    def call(self, target: str, /, *args: Any, timeout: float = 10.0, **kwargs: Any) -> Any:
        """The value of ``module:function`` (or ``module:Class.method``) for these arguments, all of them JSON.

        Calls share one process until it ends, so that state of the product lasts from one to the next. Raises
        `ProductError` for what it raises, `ProductTimeoutError` after `timeout` seconds.
        """
        self._count += 1
        question = {"id": self._count, "target": target, "args": args, "kwargs": kwargs}
        line = json.dumps(question).encode("ascii") + b"\n"
        process = self._running()
        deadline = time.monotonic() + timeout
        try:
            self._ask(process, line, deadline)
            answer = self._answer(process, deadline)
        except ProductError:
            self.restart()
            raise
        if "error" in answer:
            raise ProductError(f"{target} raised {answer['error']}: {answer.get('text')}", str(answer["error"]))
        return answer.get("value")

    def run(self, argv: Sequence[str], /, *, stdin: str = "", timeout: float = 10.0) -> Completed:
        """Run a program in the workspace, without a shell. Raises `ProductTimeoutError` after `timeout` seconds."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as source:
            source.write(stdin.encode())
            source.seek(0)
            try:
                process = self._start([*argv], stdin=source, stdout=out, stderr=err)
            except OSError as error:
                raise ProductError(f"{argv[0]} could not be started: {error}") from error
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                raise ProductTimeoutError(f"{argv[0]} did not end within {timeout:g} s") from None
            finally:
                _end(process)
            return Completed(exit_code=code, stdout=_text(out), stderr=_text(err))

    def restart(self) -> None:
        """End the product's process, if there is one; the next call starts a new one."""
        if self._process is not None:
            _end(self._process)
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
        self._process, self._rest = None, b""

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = self._start(
                [self._python, "-B", "-c", self._server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None
            )
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
        return self._process

    def _start(self, argv: list[str], *, stdin: Any, stdout: Any, stderr: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            cwd=self._workspace,
            env=self._environ,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
        )

    def _ask(self, process: subprocess.Popen[bytes], line: bytes, deadline: float) -> None:
        assert process.stdin is not None
        rest = line
        while rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([], [process.stdin], [], left)[1]:
                raise ProductTimeoutError("the product did not take the question in time")
            try:
                rest = rest[os.write(process.stdin.fileno(), rest[:_PIECE]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise ProductError(f"the product's process ended ({_how(process)})") from None

    def _answer(self, process: subprocess.Popen[bytes], deadline: float) -> dict[str, Any]:
        """The answer to the last question; lines that answer none are skipped."""
        while True:
            line = self._line(process, deadline)
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError):
                raise ProductError("the product answered with something that is no JSON") from None
            if isinstance(answer, dict) and answer.get("id") == self._count:
                return answer

    def _line(self, process: subprocess.Popen[bytes], deadline: float) -> bytes:
        assert process.stdout is not None
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                raise ProductTimeoutError("the product did not answer in time")
            piece = os.read(process.stdout.fileno(), _PIECE)
            if not piece:
                raise ProductError(f"the product's process ended ({_how(process)})")
            self._rest += piece
            if len(self._rest) > _LARGEST_ANSWER:
                raise ProductError(f"the product's answer is longer than {_LARGEST_ANSWER} bytes")
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _how(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(1.0)
    except subprocess.TimeoutExpired:
        return "it closed its pipe"
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(file: Any) -> str:
    file.seek(0)
    content: bytes = file.read(_LARGEST_OUTPUT)
    return content.decode("utf-8", "replace")
