"""CPU time of `akbench --help` and `akbench agent list` with 30 installed extensions, five of them broken.

Builds the core's wheel and 30 wheels, installs all into a fresh environment, and measures (user + system time of the
process, median of RUNS). Usage: python benchmarks/run_startup.py [RUNS]
"""

import base64
import hashlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from akbench.spec import CAPABILITIES

ROOT = Path(__file__).parents[1]
UV = os.environ.get("UV", "uv")
GOOD = 25
BROKEN = {
    "exit": "raise SystemExit(7)",
    "hook": "from akbench.spec import hookimpl\n@hookimpl\ndef akbench_register_agnets(): return []",
    "import": "import no_such_module",
    "signature": "from akbench.spec import hookimpl\n@hookimpl\ndef akbench_register_agents(nonsense): return []",
    "descriptor": None,
}
HOOKS = """\
from akbench.spec import AgentRecord, hookimpl


@hookimpl
def akbench_register_agents():
    return [
        AgentRecord(
            id="{id}", target="{package}.adapter:Agent", summary="measured", descriptors=("{package}:agent.yaml",)
        )
    ]
"""
ADAPTER = "from akbench.builtin.agents import DoNothing\n\n\nclass Agent(DoNothing):\n    pass\n"
DESCRIPTOR = """\
schema_version: "1.0"
id: {id}
version: "1.0.0"
title: Measured agent
description: One of thirty, as long as a usual descriptor.
agent:
  adapter: {id}
  execution_type: process
  needs_model: true
  capabilities:
{capabilities}
  configuration_schema:
    model:
      type: string
      required: true
      description: handed to the program as it stands
    effort:
      type: string
      default: medium
      allowed: [low, medium, high]
      description: how long it thinks
  observability:
    token_usage: supported
    cost: unsupported
  environment:
    - name: PATH
      sensitive: false
      description: where the program is looked for
"""


def wheel(folder: Path, name: str, hooks: str | None) -> None:
    """The wheel of one extension; `hooks` None: a whole one, otherwise the text of a broken hook module."""
    package = name.replace("-", "_")
    capabilities = "\n".join(f"    {each}: unknown" for each in CAPABILITIES)
    descriptor = DESCRIPTOR.format(id=name, capabilities=capabilities)
    files = {
        f"{package}/__init__.py": "",
        f"{package}/hooks.py": hooks or HOOKS.format(id=name, package=package),
        f"{package}/adapter.py": ADAPTER,
        f"{package}/agent.yaml": descriptor.replace("adapter:", "adaptor:") if "descriptor" in name else descriptor,
    }
    info = f"{package}-1.0.0.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\nRequires-Dist: akbench-core\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: run_startup\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = f"[akbench]\n{name} = {package}.hooks\n"
    record = "".join(f"{path},sha256={digest(text)},{len(text.encode())}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{package}-1.0.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def environment(folder: Path) -> Path:
    """A fresh environment with the core's wheel and 30 extensions, compiled as pip does. Returns its programs."""
    wheels = folder / "wheels"
    wheels.mkdir()
    names = [f"akbench-agent-measured-{number:02}" for number in range(GOOD)]
    broken = {f"akbench-agent-broken-{cause}": text for cause, text in BROKEN.items()}
    for name in names:
        wheel(wheels, name, None)
    for name, hooks in broken.items():
        wheel(wheels, name, hooks)
    run(UV, "build", "--quiet", "--wheel", "--out-dir", wheels, ROOT / "akbench-core")
    run(UV, "venv", "--quiet", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    everything = sorted(wheels.glob("*.whl"))
    run(UV, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *everything)
    return python.parent


def run(*words: str | Path) -> None:
    subprocess.run(list(map(str, words)), check=True, cwd=ROOT)


def cpu_milliseconds(words: list[str], environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=environ, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(name: str, words: list[str], environ: dict[str, str], runs: int) -> None:
    times = [cpu_milliseconds(words, environ) for _ in range(runs)]
    print(f"| {name} | {statistics.median(times):.0f} ms | {min(times):.0f} to {max(times):.0f} ms |")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = environment(folder)
        environ = {"PATH": os.environ["PATH"], "HOME": name, "AKBENCH_CACHE": str(folder / "cache")}
        python, akbench = str(programs / "python"), str(programs / "akbench")
        listed = subprocess.run([akbench, "agent", "list"], env=environ, capture_output=True, text=True, check=True)
        print(f"{listed.stdout.count('Measured agent')} agents of extensions listed; named as broken:")
        print(listed.stderr)
        print("| command | median | range |\n|---|---|---|")
        measure("`python -c pass`", [python, "-c", "pass"], environ, runs)
        measure("`python -c 'import click'`", [python, "-c", "import click"], environ, runs)
        measure("`akbench --help`", [akbench, "--help"], environ, runs)
        measure("`akbench agent list`", [akbench, "agent", "list"], environ, runs)
        measure("`akbench agent list`, nothing remembered", [akbench, "agent", "list"], environ | no_cache(folder), 7)


def no_cache(folder: Path) -> dict[str, str]:
    """A file in the place of the cache: nothing can be kept there."""
    (folder / "blocked").write_text("")
    return {"AKBENCH_CACHE": str(folder / "blocked")}


if __name__ == "__main__":
    main()
