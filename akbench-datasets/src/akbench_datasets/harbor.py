"""Harbor task folders: checked as far as that is possible without building their image, which all of them need."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from akbench.spec import ImportedDataset, InputError
from akbench_datasets.checkout import license_of, origin_of, read_bytes

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
    origin = origin_of(source, source.name)
    return ImportedDataset(
        title=f"Harbor tasks of {source.name}",
        description="Tasks in the Harbor format.",
        license=license_of(source) or "unknown",
        source=origin.source,
        commit=origin.commit,
        tasks=(),
        refused={folder.name: _refusal(folder) for folder in folders},
    )


def _refusal(folder: Path) -> str:
    try:
        return _needs(folder)
    except InputError as error:
        return f"not a whole Harbor task: {error.message}"


def _needs(folder: Path) -> str:
    config = _config(folder / "task.toml")
    if not _readable(folder, "instruction.md").strip():
        raise InputError("instruction.md is empty")
    _readable(folder, "tests/test.sh")
    solved = (folder / "solution" / "solve.sh").is_file()
    lack = "" if solved else "; it has no solution/solve.sh to validate it by"
    return f"in order, but it needs its image ({_image(folder, config)}), and a task cannot choose an image yet{lack}"


def _config(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(read_bytes(path).decode())
    except ValueError as error:
        raise InputError(f"task.toml: {error}") from error


def _readable(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file():
        raise InputError(f"it has no {name}")
    return read_bytes(path).decode(errors="replace")


def _image(folder: Path, config: dict[str, object]) -> str:
    environment = config.get("environment")
    if isinstance(environment, dict) and isinstance(environment.get("docker_image"), str):
        return str(environment["docker_image"])
    compose = folder / "environment" / "docker-compose.yaml"
    if compose.is_file():
        return "several containers, environment/docker-compose.yaml"
    steps = _STEP.findall(_readable(folder, "environment/Dockerfile"))
    base = next((rest.strip() for step, rest in steps if step.upper() == "FROM"), None)
    if base is None:
        raise InputError("environment/Dockerfile has no FROM")
    runs = sum(step.upper() == "RUN" for step, _ in steps)
    return f"from {base} with {runs} RUN steps"
