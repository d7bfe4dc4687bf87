"""Extensions as an installer leaves them: modules, and the metadata of their distributions, in one folder."""

import os
import subprocess
import sys
from pathlib import Path

from akbench.spec import CAPABILITIES

GOOD = """
from akbench.spec import AgentRecord, hookimpl
@hookimpl
def akbench_register_agents():
    return [AgentRecord(id="{name}-adapter", target="nowhere:Nothing", summary="a test")]
"""
LIST = "from akbench.cli import main; main()"


def install(site: Path, name: str, source: str) -> None:
    """What an installer leaves: a module and the metadata of its distribution."""
    module = name.replace("-", "_") + "_hooks"
    (site / f"{module}.py").write_text(source.replace("{name}", name))
    info = site / f"{name.replace('-', '_')}-1.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
    (info / "entry_points.txt").write_text(f"[akbench]\n{name} = {module}\n")


def akbench(site: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LIST, *arguments],
        env={**os.environ, "PYTHONPATH": str(site), **environ},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


def install_agent(site: Path, name: str) -> None:
    """A whole agent: light hooks, a descriptor and an adapter that does nothing."""
    package = name.replace("-", "_")
    hooks = GOOD.replace("nowhere:Nothing", f"{package}.adapter:Agent").replace(
        'summary="a test"', f'summary="a test", descriptors=("{package}:agent.yaml",)'
    )
    install(site, name, hooks)
    (site / package).mkdir()
    (site / package / "__init__.py").write_text("")
    (site / package / "adapter.py").write_text(
        "import email.mime\nfrom akbench.builtin.agents import DoNothing\nclass Agent(DoNothing): pass\n"
    )
    (site / package / "agent.yaml").write_text(agent_descriptor(name))


def agent_descriptor(name: str) -> str:
    support = {**dict.fromkeys(CAPABILITIES, "unknown"), "task_submission": "no"}
    capabilities = ", ".join(f"{each}: {value}" for each, value in support.items())
    return (
        f'schema_version: "1.0"\nid: {name}\nversion: "1.0.0"\nagent:\n  adapter: {name}-adapter\n'
        f"  execution_type: process\n  capabilities: {{{capabilities}}}\n"
        "  trial: {task: {prompt: Do nothing.}}\n"
    )
