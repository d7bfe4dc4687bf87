from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from akbench.spec import (
    AgentEvidence,
    AgentOutcome,
    AgentRequest,
    HostError,
    Invocation,
    ModelAccess,
    ProcessEvidence,
)
from akbench.testing.fixtures import scripted_model
from akbench_agent_codex.adapter import CodexAgent
from akbench_agent_codex.program import BINARY_VARIABLE, find_program

__all__ = ["scripted_model"]

DECLARED = {name: os.environ[name] for name in (BINARY_VARIABLE, "PATH") if name in os.environ}
QUICK = {"request_max_retries": 0, "stream_max_retries": 0}


@dataclass
class Rooms:
    """The folders of one run and what happened in them."""

    root: Path
    request: AgentRequest
    process: ProcessEvidence | None = None
    outcome: AgentOutcome | None = None

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    def evidence(self) -> AgentEvidence:
        assert self.process is not None
        state, home = self.root / "state", self.root / "home"
        return AgentEvidence(request=self.request, process=self.process, state=state, home=home)

    def written(self) -> list[Path]:
        return [path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()]


@dataclass
class CodexRunner:
    """Runs the adapter's invocation on this host (or in a given sandbox command) and interprets what is left."""

    root: Path
    files: dict[str, str] = field(default_factory=lambda: {"a.txt": "one\n"})

    def prepare(self, prompt: str, base_url: str, **options: Any) -> tuple[Rooms, Invocation]:
        root = Path(tempfile.mkdtemp(dir=self.root))
        for name in ("workspace", "home", "state", "tmp"):
            (root / name).mkdir(parents=True)
        for name, content in self.files.items():
            (root / "workspace" / name).write_text(content)
        places = options.pop("places", {name: str(root / name) for name in ("workspace", "home", "state", "tmp")})
        config = {"model": "gpt-5.5", "reasoning_effort": "low", **QUICK, **options.pop("config", {})}
        request = AgentRequest(
            prompt=prompt,
            config=config,
            environ={"PATH": "/usr/bin:/bin", "HOME": places["home"], "TMPDIR": places["tmp"], "LANG": "C.UTF-8"},
            declared=DECLARED,
            model=ModelAccess(base_url=base_url, token=options.pop("token", "stand-in-key")),
            bounded=options.pop("bounded", True),
            program_root=options.pop("program_root", None),
            timeout_seconds=60,
            **places,
        )
        invocation = CodexAgent().prepare(request)
        for name, content in invocation.files.items():
            (root / "state" / name).write_bytes(content)
        return Rooms(root=root, request=request), invocation

    def run(self, prompt: str, base_url: str, *, seconds: float = 60, cancelled: bool = False, **options: Any) -> Rooms:
        edit = options.pop("edit", lambda rooms, invocation: invocation)
        wrap = options.pop("wrap", lambda rooms, invocation: invocation.argv)
        ending = options.pop("ending", signal.SIGINT)
        until = options.pop("until", lambda rooms: False)
        rooms, invocation = self.prepare(prompt, base_url, **options)
        invocation = edit(rooms, invocation)
        environ = {**rooms.request.environ, **invocation.environ}
        argv = wrap(rooms, invocation)
        process = start(rooms.root, argv, environ, invocation.stdin)
        rooms.process = finish(rooms.root, process, seconds, ending, lambda: until(rooms), cancelled=cancelled)
        rooms.outcome = CodexAgent().interpret(rooms.evidence())
        return rooms


def start(root, argv, environ, stdin) -> subprocess.Popen[bytes]:
    (root / "stdin").write_bytes(stdin)
    with (
        (root / "stdin").open("rb") as given,
        (root / "stdout.log").open("wb") as out,
        (root / "stderr.log").open("wb") as err,
    ):
        return subprocess.Popen(argv, env=environ, stdin=given, stdout=out, stderr=err)


def finish(root, process, seconds, ending, until, *, cancelled) -> ProcessEvidence:
    """Wait for the end; at the deadline, or when `until` says so, send `ending` and wait again."""
    started, deadline = datetime.now(UTC), time.monotonic() + seconds
    late = False
    while process.poll() is None:
        if not late and (until() or time.monotonic() > deadline):
            late = True
            process.send_signal(ending)
            deadline = time.monotonic() + 20
        if late and time.monotonic() > deadline:
            process.kill()
        time.sleep(0.05)
    finished = datetime.now(UTC)
    code = process.returncode
    return ProcessEvidence(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=late and not cancelled,
        cancelled=late and cancelled,
        started_at=started,
        finished_at=finished,
        duration_seconds=(finished - started).total_seconds(),
        stdout=root / "stdout.log",
        stderr=root / "stderr.log",
    )


@pytest.fixture
def codex(tmp_path: Path) -> CodexRunner:
    """A runner of the real Codex; skips where it is missing."""
    try:
        find_program({}, DECLARED)
    except HostError as error:
        pytest.skip(f"needs the real Codex: {error}")
    runs = tmp_path / "runs"
    runs.mkdir()
    return CodexRunner(root=runs)


@pytest.fixture
def declared() -> dict[str, str]:
    return DECLARED


@pytest.fixture
def recorded() -> Callable[[str], bytes]:
    """The bytes of a recording; see ``recorded/README.md``."""
    return lambda name: (Path(__file__).parent / "recorded" / name).read_bytes()
