"""The project of the adversaries, written out: their scripts, an agent descriptor for each, one experiment."""

from __future__ import annotations

import io
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

from ruamel.yaml import YAML

from akbench.cli.init import write_project
from akbench.project import Project
from akbench_examples.adversaries.suite import Adversary

__all__ = ["EXPERIMENT", "write_adversaries"]

EXPERIMENT = Path("configs/experiments/adversaries.yaml")

_CAPABILITIES = {
    "workspace_binding": True,
    "fresh_session": True,
    "session_reset": False,
    "task_submission": True,
    "completion_detection": True,
    "cancellation": True,
    "token_usage": False,
    "cost_usage": False,
    "tool_trace": False,
    "model_observation": False,
    "streaming_output": False,
    "network_control": False,
    "filesystem_control": False,
    "session_export": False,
}


def write_adversaries(folder: Path, adversaries: Iterable[Adversary], environment: str) -> Project:
    """The project in `folder`, with an experiment in which each of them works once in `environment`."""
    with as_file(files("akbench_examples.adversaries").joinpath("project")) as template:
        write_project(folder, template)
    project = Project.at(folder)
    chosen = tuple(adversaries)
    mending = files("akbench_examples.adversaries").joinpath("mending.py").read_text(encoding="utf-8")
    for each in chosen:
        script = project.root / "attacks" / each.id / "agent.py"
        _write(script, each.script)
        if each.is_honest:
            _write(script.with_name("mending.py"), mending)
        descriptor = project.root / "descriptors" / "agents" / f"{each.id}.yaml"
        _write(descriptor, _yaml(_descriptor(each, script.parent)))
    _write(project.root / EXPERIMENT, _yaml(_experiment(chosen, environment)))
    return project


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _yaml(value: object) -> str:
    stream = io.StringIO()
    YAML(typ="safe", pure=True).dump(value, stream)
    return stream.getvalue()


def _descriptor(adversary: Adversary, folder: Path) -> dict[str, object]:
    return {
        "schema_version": "1.0",
        "id": adversary.id,
        "version": "1.0.0",
        "title": adversary.title,
        "description": f"{adversary.title}. One of the adversaries that AK-Bench is tried with ({adversary.family}).",
        "agent": {
            "adapter": "command",
            "execution_type": "process",
            "capabilities": _CAPABILITIES,
            "configuration_schema": {
                "command": {"type": "list", "controllable": False, "default": ["python3", "{program:attack}/agent.py"]},
                "programs": {"type": "mapping", "controllable": False, "default": {"attack": str(folder)}},
            },
        },
    }


def _experiment(adversaries: tuple[Adversary, ...], environment: str) -> dict[str, object]:
    names = [each.id for each in adversaries]
    return {
        "schema_version": "1.0",
        "id": "adversaries",
        "version": "1.0.0",
        "title": "Adversaries and honest agents on one small task",
        "experiment": {
            "type": "configuration",
            "agents": {name: {"id": name} for name in names},
            "dataset": {"id": "attacked", "version": "1.0.0"},
            "factors": {"dimensions": [{"id": "agent", "values": names}]},
            "execution_policy": {"repetitions": 1, "concurrency": 2, "timeout_seconds": 20},
            "isolation": {"environment": environment},
            "evaluation": {"evaluators": ["pytest"]},
            "reporting": {"generate_html": True},
        },
    }
