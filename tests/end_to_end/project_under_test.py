"""Running the real command line on a real project, as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

AKBENCH = Path(sys.executable).with_name("akbench")


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
            timeout=600,
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
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in command:
                found.append(int(entry.name))
    return found
