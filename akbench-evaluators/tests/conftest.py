"""A minimal stand-in for the core's evaluation: the real runner as a real process, its report over real sockets."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from akbench import spec
from akbench_evaluators.command import CommandEvaluator
from akbench_evaluators.pytest_suite import PytestEvaluator

REPORT_LIMIT = 4 << 20


@dataclass
class Bench:
    """A workspace to fill, and the evaluators to judge it with."""

    root: Path
    python: str = sys.executable
    environ: dict[str, str] = field(default_factory=dict)
    report_limit: int = REPORT_LIMIT
    cancel_after: float | None = None
    quarantined: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def lay(self, files: dict[str, str]) -> None:
        for name, content in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def pytest(self, timeout: float = 60.0, **config: object) -> spec.Judgement:
        return self.judge(PytestEvaluator(), config, timeout)

    def command(self, *command: str, timeout: float = 60.0, **config: object) -> spec.Judgement:
        return self.judge(CommandEvaluator(), {"command": [*command], **config}, timeout)

    def judge(self, evaluator: spec.Evaluator, config: dict[str, object], timeout: float) -> spec.Judgement:
        evaluator.check_config(config)
        near, far = socket.socketpair()
        reading, writing = near.detach(), far.detach()
        request = self._request(config, writing, timeout)
        invocation = evaluator.prepare(request)
        for name, content in invocation.files.items():
            (self.root / "tools" / name).write_bytes(content)
        process, report = self._execute(invocation, reading, writing, timeout)
        evidence = spec.EvaluationEvidence(
            request=request,
            process=process,
            report=report[: self.report_limit],
            report_truncated=len(report) > self.report_limit,
        )
        return evaluator.judge(evidence)

    def _request(self, config, report_fd, timeout):
        (self.root / "tools").mkdir(exist_ok=True)
        (self.root / "tmp").mkdir(exist_ok=True)
        self.workspace.mkdir(exist_ok=True)
        environ = {
            "PATH": f"{Path(self.python).parent}:/usr/bin:/bin",
            "HOME": str(self.root / "tmp"),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.workspace),
            **self.environ,
        }
        return spec.EvaluationRequest(
            workspace=str(self.workspace),
            tools=str(self.root / "tools"),
            tmp=str(self.root / "tmp"),
            python=self.python,
            hidden_files=self.hidden,
            environ=environ,
            report_fd=report_fd,
            timeout_seconds=timeout,
            config=config,
            quarantined=self.quarantined,
        )

    def _execute(self, invocation, reading, writing, timeout):
        stdout, stderr = self.root / "stdout", self.root / "stderr"
        begun, started_at = time.monotonic(), datetime.now(UTC)
        given = self.root / "stdin"
        given.write_bytes(invocation.stdin)
        with stdout.open("wb") as out, stderr.open("wb") as err, given.open("r+b") as source:
            child = subprocess.Popen(
                invocation.argv,
                env=dict(invocation.environ),
                cwd=self.workspace,
                stdin=source,
                stdout=out,
                stderr=err,
                pass_fds=(writing,),
                start_new_session=True,
            )
        os.close(writing)
        chunks: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(reading, chunks))
        reader.start()
        stopped = False
        try:
            child.wait(timeout if self.cancel_after is None else self.cancel_after)
        except subprocess.TimeoutExpired:
            stopped = True
        _kill_group(child.pid)
        code = child.wait()
        reader.join(10)
        assert not reader.is_alive()
        process = spec.ProcessEvidence(
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            timed_out=stopped and self.cancel_after is None,
            cancelled=stopped and self.cancel_after is not None,
            started_at=started_at,
            finished_at=datetime.now(UTC),
            duration_seconds=time.monotonic() - begun,
            stdout=stdout,
            stderr=stderr,
        )
        return process, b"".join(chunks)


def _drain(reading: int, chunks: list[bytes]) -> None:
    with os.fdopen(reading, "rb", buffering=0) as stream:
        while chunk := stream.read(65536):
            chunks.append(chunk)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(root=tmp_path)
