import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from akbench.sandbox.bubblewrap import BubblewrapSandbox
from akbench.sandbox.local import LocalSandbox
from akbench.spec import Bind, Limits, ProcessEvidence, Sandbox, SandboxRequest

PYTHON = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
ENVIRON = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


@cache
def bubblewrap_problems() -> tuple[str, ...]:
    return tuple(problem.message for problem in BubblewrapSandbox().probe().problems)


@pytest.fixture
def bubblewrap() -> BubblewrapSandbox:
    """Skips where bubblewrap is missing or cannot run; that it does not confine is a failure, not a lack."""
    lacks = [message for message in bubblewrap_problems() if "does not confine" not in message]
    if lacks:
        pytest.skip("; ".join(lacks))
    return BubblewrapSandbox()


@pytest.fixture(params=["local", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return LocalSandbox() if request.param == "local" else request.getfixturevalue("bubblewrap")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A finished process and its outputs."""

    evidence: ProcessEvidence
    workspace: Path

    @property
    def out(self) -> str:
        return self.evidence.stdout.read_text()

    @property
    def err(self) -> str:
        return self.evidence.stderr.read_text()


@dataclass(kw_only=True)
class Runner:
    """Runs commands in a sandbox, in a workspace of their own."""

    sandbox: Sandbox
    directory: Path
    count: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def request(self, argv: tuple[str, ...], **changes: object) -> SandboxRequest:
        with self.lock:
            self.count += 1
            directory = self.directory / f"run-{self.count}"
        workspace = directory / "workspace"
        workspace.mkdir(parents=True)
        self.sandbox.own(workspace)
        inside = self.sandbox.inside("workspace", workspace)
        fields = {
            "argv": argv,
            "environ": ENVIRON,
            "cwd": inside,
            "binds": (Bind(host=workspace, inside=inside, writable=True),),
            "stdin": b"",
            "stdout": directory / "stdout.log",
            "stderr": directory / "stderr.log",
            "limits": Limits(timeout_seconds=30.0),
            "cancelled": threading.Event(),
        }
        return SandboxRequest(**{**fields, **changes})  # type: ignore[arg-type]

    def __call__(self, *argv: str, **changes: object) -> Ran:
        request = self.request(argv, **changes)
        return Ran(evidence=self.sandbox.run(request), workspace=request.stdout.parent / "workspace")

    def python(self, script: str, **changes: object) -> Ran:
        return self(PYTHON, "-I", "-S", "-c", script, **changes)

    def shell(self, script: str, **changes: object) -> Ran:
        return self("sh", "-c", script, **changes)


@pytest.fixture
def run(sandbox: Sandbox, tmp_path: Path) -> Runner:
    return Runner(sandbox=sandbox, directory=tmp_path)


@pytest.fixture
def unconfined(tmp_path: Path) -> Runner:
    return Runner(sandbox=LocalSandbox(), directory=tmp_path)


@pytest.fixture
def confined(bubblewrap: BubblewrapSandbox, tmp_path: Path) -> Runner:
    return Runner(sandbox=bubblewrap, directory=tmp_path)


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], None]:
    def wait(condition: Callable[[], object], seconds: float = 10.0) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "did not become true in time"
            time.sleep(0.02)

    return wait


@pytest.fixture
def marked() -> Callable[[str], list[str]]:
    """The command lines of all processes of the host that hold a marker (this process excepted)."""

    def find(marker: str) -> list[str]:
        lines = []
        for directory in Path("/proc").iterdir():
            if directory.name.isdigit() and int(directory.name) != os.getpid():
                try:
                    line = (directory / "cmdline").read_bytes()
                except OSError:
                    continue  # it has ended since
                if marker.encode() in line:
                    lines.append(line.decode(errors="replace"))
        return lines

    return find
