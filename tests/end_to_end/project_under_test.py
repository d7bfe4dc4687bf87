"""Running the real command line on a real project, as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

AKBENCH = Path(sys.executable).with_name("akbench")
_SELF = os.getpid()


@dataclass
class ProjectUnderTest:
    """A project folder and the command line working on it."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    def akbench(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [AKBENCH, *arguments],
            cwd=self.root,
            env={**os.environ, **self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
        )

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [AKBENCH, *arguments],
            cwd=self.root,
            env={**os.environ, **self.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def experiment(self, name: str, agents: str, *, extra: str = "", policy: str = "timeout_seconds: 60") -> str:
        """Write an experiment on the starter task; `agents` is its agents section, `extra` further sections."""
        path = self.root / "configs" / "experiments" / f"{name}.yaml"
        indented = "\n".join(f"    {line}" for line in agents.strip().splitlines())
        names = [line.split(":")[0] for line in agents.strip().splitlines() if not line.startswith(" ")]
        path.write_text(f"""\
schema_version: "1.0"
id: {name}
version: "1.0.0"
experiment:
  type: configuration
  agents:
{indented}
  dataset: {{id: starter, version: "1.0.0"}}
  factors:
    dimensions:
      - {{id: agent, values: [{", ".join(names)}]}}
  execution_policy: {{{policy}}}
  evaluation: {{evaluators: [pytest]}}
  reporting: {{generate_html: false}}
{extra}""")
        return f"configs/experiments/{name}.yaml"

    def show(self, experiment_id: str) -> dict[str, Any]:
        done = self.akbench("experiment", "show", experiment_id, "--json")
        assert done.returncode == 0, done.stderr
        shown: dict[str, Any] = json.loads(done.stdout)
        return shown

    def result(self, experiment_id: str, run_id: str) -> dict[str, Any]:
        path = self.root / "data" / "artifacts" / experiment_id / run_id / "result.json"
        found: dict[str, Any] = json.loads(path.read_text())
        return found


def processes_with(marker: str) -> list[int]:
    """The processes of this machine whose command line holds `marker`."""
    return [pid for pid in _processes() if marker.encode() in _told(pid, "cmdline")]


def processes_of_run(scratch: str) -> dict[int, str]:
    """The processes that name a run's scratch folder on their command line or see it mounted, with their commands.

    Inside a sandbox no command line tells the run; the mounts do.
    """
    name = scratch.encode()
    commands = {pid: _told(pid, "cmdline") for pid in _processes()}
    found = {pid: command for pid, command in commands.items() if name in command + _told(pid, "mountinfo")}
    return {pid: command.replace(b"\0", b" ").decode(errors="replace") for pid, command in found.items()}


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until `condition` holds; fail when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and int(entry.name) != _SELF]


def _told(pid: int, file: str) -> bytes:
    """What /proc says; nothing of a process that has ended or that we may not see."""
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:
        return b""
