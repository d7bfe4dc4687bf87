"""Harbor task folders: checked as far as that is possible without building their image, which all of them need."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from akbench.spec import ImportedDataset, InputError
from akbench_datasets.checkout import Checkout

__all__ = ["read_harbor"]

_STEP = re.compile(r"^\s*(FROM|RUN|COPY|ADD)\s+(.*)$", re.IGNORECASE | re.MULTILINE)


def read_harbor(source: Path) -> ImportedDataset:
    """The task folders at or below `source`, each with the reason why it cannot be used here.

    Raises `InputError` when there is none. A Harbor task begins in a container, is judged by a script in it and solved
    by another, so none can be run without its image; what is wrong with one before that is said instead.
    """
    folders = sorted(path.parent for path in source.rglob("task.toml"))
    if not folders:
        raise InputError("no Harbor task: there is no task.toml here or below", place=str(source))
    checkout = Checkout(source)
    origin = checkout.origin(source.name)
    return ImportedDataset(
        title=f"Harbor tasks of {source.name}",
        description="Tasks in the Harbor format.",
        license=checkout.license() or "unknown",
        source=origin.source,
        commit=origin.commit,
        tasks=(),
        refused={_name(folder, source): _refusal(Checkout(folder)) for folder in folders},
    )


def _name(folder: Path, source: Path) -> str:
    """Its place below the source: two folders of one name are two tasks."""
    return source.name if folder == source else folder.relative_to(source).as_posix()


def _refusal(task: Checkout) -> str:
    try:
        return _needs(task)
    except InputError as error:
        return f"not a whole Harbor task: {error.message}"


def _needs(task: Checkout) -> str:
    config = _config(task)
    if not _readable(task, "instruction.md").strip():
        raise InputError("instruction.md is empty")
    _readable(task, "tests/test.sh")
    lack = "" if task.has("solution/solve.sh") else "; it has no solution/solve.sh to validate it by"
    return f"in order, but it needs its image ({_image(task, config)}), and a task cannot choose an image yet{lack}"


def _config(task: Checkout) -> dict[str, object]:
    try:
        return tomllib.loads(_readable(task, "task.toml"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"task.toml: {error}") from error


def _readable(task: Checkout, name: str) -> str:
    if not task.has(name):
        raise InputError(f"it has no {name}")
    try:
        return task.text(name)
    except InputError as error:
        raise InputError(f"{name}: {error.message}") from error


def _image(task: Checkout, config: dict[str, object]) -> str:
    environment = config.get("environment")
    if isinstance(environment, dict) and isinstance(environment.get("docker_image"), str):
        return str(environment["docker_image"])
    if task.has("environment/docker-compose.yaml"):
        return "several containers, environment/docker-compose.yaml"
    steps = _STEP.findall(_readable(task, "environment/Dockerfile"))
    base = next((rest.strip() for step, rest in steps if step.upper() == "FROM"), None)
    if base is None:
        raise InputError("environment/Dockerfile has no FROM")
    runs = sum(step.upper() == "RUN" for step, _ in steps)
    return f"from {base} with {runs} RUN steps"
