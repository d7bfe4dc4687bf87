"""Harbor task folders: a container to work in, a script that judges, and one that solves, both run in it as well."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from akbench.spec import ImageFolder, ImportedDataset, ImportedImage, ImportedTask, InputError, SolutionScript
from akbench_datasets.checkout import license_of, origin_of, read_bytes

__all__ = ["read_harbor"]

_CATEGORY = "new_feature"
_DIFFICULTIES = ("easy", "medium", "hard", "expert")
_ASSUMED = "medium"
_TEST = "test.sh"
_SOLVE = "solve.sh"
_REWARDS = ("/logs/verifier/reward.txt", "/logs/verifier/reward.json")
_SECONDS = 600.0
"""The bound of whatever states none; Harbor's own default."""
_NOTES = (
    "Harbor's own categories are kept as tags: each task is imported as new_feature.",
    "Agents and checks have no network and are not root: what tests fetch or install as they run must be in the image.",
)


def read_harbor(source: Path) -> ImportedDataset:
    """The task folders at or below `source`. Raises `InputError` when there is none.

    What the agent is given lies in the task's image, and what its solution does shows only when it runs there. So the
    tasks are whole only where a sandbox runs images; what can be said without is said first.
    """
    folders = sorted(path.parent for path in source.rglob("task.toml"))
    if not folders:
        raise InputError("no Harbor task: there is no task.toml here or below", place=str(source))
    tasks: dict[str, ImportedTask] = {}
    refused: dict[str, str] = {}
    for folder in folders:
        try:
            if folder.name in tasks:
                raise InputError("another folder here has the same name; import them one by one")
            tasks[folder.name] = _task(folder, license_of(source) or "unknown")
        except InputError as error:
            refused[folder.name] = error.message
    origin = origin_of(source, source.name)
    return ImportedDataset(
        title=f"Harbor tasks of {source.name}",
        description="Tasks in the Harbor format.",
        license=license_of(source) or "unknown",
        source=origin.source,
        commit=origin.commit,
        tasks=tuple(tasks.values()),
        refused=refused,
        notes=_NOTES,
    )


def _task(folder: Path, license_: str) -> ImportedTask:
    config = _Config(folder)
    tests = _files(folder / "tests", _TEST)
    instruction = (
        read_bytes(folder / "instruction.md").decode(errors="replace") if _has(folder, "instruction.md") else ""
    )
    if not instruction.strip():
        raise InputError("not a whole Harbor task: instruction.md is missing or empty")
    difficulty = config.text("metadata", "difficulty")
    return ImportedTask(
        id=folder.name,
        title=config.text("task", "description") or folder.name,
        category=_CATEGORY,
        difficulty=difficulty if difficulty in _DIFFICULTIES else _ASSUMED,
        description=instruction,
        license=license_,
        image=_image(folder, config),
        repository=ImageFolder(),
        checks=tests,
        solution=_solution(folder, config),
        evaluator="reward",
        config={
            "command": ["bash", f"/tests/{_TEST}"],
            "checks": [*sorted(tests)],
            "place": "/tests",
            "reward": [*_REWARDS],
            "variables": {**config.variables("verifier")},
            "timeout_seconds": config.seconds("verifier"),
        },
        tags=config.tags(),
        timeout_seconds=config.seconds("agent"),
    )


def _solution(folder: Path, config: _Config) -> SolutionScript:
    if not _has(folder, f"solution/{_SOLVE}"):
        raise InputError(f"it has no solution/{_SOLVE} to validate it by")
    return SolutionScript(
        argv=("bash", f"/solution/{_SOLVE}"),
        place="/solution",
        files=_files(folder / "solution", _SOLVE),
        environ=config.variables("solution"),
        timeout_seconds=config.seconds("agent"),
    )


def _image(folder: Path, config: _Config) -> ImportedImage:
    compose = sorted((folder / "environment").glob("docker-compose.y*ml"))
    if compose:
        raise InputError(f"it needs several containers (environment/{compose[0].name}); a task here has one image")
    if config.variables("environment"):
        raise InputError("task.toml sets variables for its environment; write them into its Dockerfile as ENV")
    reference = config.text("environment", "docker_image")
    if not _has(folder, "environment/Dockerfile"):
        if reference is None:
            raise InputError("not a whole Harbor task: it has no environment/Dockerfile")
        return ImportedImage(reference=reference)
    if (
        re.search(rb"^\s*FROM\s", read_bytes(folder / "environment" / "Dockerfile"), re.MULTILINE | re.IGNORECASE)
        is None
    ):
        raise InputError("not a whole Harbor task: environment/Dockerfile has no FROM")
    return ImportedImage(files=_files(folder / "environment", "Dockerfile"))


def _has(folder: Path, name: str) -> bool:
    return (folder / name).is_file()


def _files(folder: Path, needed: str) -> dict[str, bytes]:
    """All plain files below `folder`, one of which is `needed`."""
    if not _has(folder, needed):
        raise InputError(f"not a whole Harbor task: it has no {folder.name}/{needed}")
    paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return {path.relative_to(folder).as_posix(): read_bytes(path) for path in paths if "__pycache__" not in path.parts}


class _Config:
    """``task.toml``, of which only what matters here is read."""

    def __init__(self, folder: Path) -> None:
        try:
            self._sections: dict[str, Any] = tomllib.loads(read_bytes(folder / "task.toml").decode())
        except ValueError as error:
            raise InputError(f"not a whole Harbor task: task.toml: {error}") from error
        if (folder / "steps").is_dir() or "steps" in self._sections:
            raise InputError("it has several steps, each with an instruction of its own; a task here has one")

    def _section(self, name: str) -> Mapping[str, Any]:
        found = self._sections.get(name, {})
        return found if isinstance(found, dict) else {}

    def text(self, section: str, key: str) -> str | None:
        """A text that is not empty."""
        found = self._section(section).get(key)
        return found if isinstance(found, str) and found.strip() else None

    def seconds(self, section: str) -> float:
        """The section's bound of time."""
        found = self._section(section).get("timeout_sec", _SECONDS)
        if isinstance(found, bool) or not isinstance(found, int | float) or found <= 0:
            raise InputError(f"task.toml: {section}.timeout_sec is {found!r}; it must be a number above 0")
        return float(found)

    def variables(self, section: str) -> dict[str, str]:
        """The variables that the section sets. Raises `InputError` for one that the host's environment would give."""
        found = self._section(section).get("env", {})
        values = {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
        for name, value in values.items():
            if "${" in value:
                raise InputError(
                    f"task.toml: {section}.env takes {name} from the host's environment, which stays outside"
                )
        return values

    def tags(self) -> tuple[str, ...]:
        """Harbor's category, tags and keywords."""
        metadata = self._section("metadata")
        listed = [*_texts(metadata.get("tags")), *_texts(self._section("task").get("keywords"))]
        return tuple(dict.fromkeys([*_texts([metadata.get("category")]), *listed]))


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
