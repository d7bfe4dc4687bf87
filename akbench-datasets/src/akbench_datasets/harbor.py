"""Harbor task folders: a container to work in, a script that judges, and one that solves, both run in it as well."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from akbench.spec import ImageFolder, ImportedDataset, ImportedImage, ImportedTask, InputError, SolutionScript
from akbench_datasets.checkout import Checkout

__all__ = ["read_harbor"]

_CATEGORY = "new_feature"
_DIFFICULTIES = ("easy", "medium", "hard", "expert")
_ASSUMED = "medium"
_FROM = re.compile(r"^\s*FROM\s", re.MULTILINE | re.IGNORECASE)
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
    checkout = Checkout(source)
    license_ = checkout.license() or "unknown"
    tasks: list[ImportedTask] = []
    refused: dict[str, str] = {}
    for folder in folders:
        try:
            tasks.append(_task(Checkout(folder), license_))
        except InputError as error:
            refused[_name(folder, source)] = error.message
    origin = checkout.origin(source.name)
    return ImportedDataset(
        title=f"Harbor tasks of {source.name}",
        description="Tasks in the Harbor format.",
        license=license_,
        source=origin.source,
        commit=origin.commit,
        tasks=tuple(tasks),
        refused=refused,
        notes=_NOTES,
    )


def _name(folder: Path, source: Path) -> str:
    """Its place below the source: two folders of one name are two tasks."""
    return source.name if folder == source else folder.relative_to(source).as_posix()


def _task(task: Checkout, license_: str) -> ImportedTask:
    config = _Config(task)
    tests = _files(task, "tests", _TEST)
    instruction = _readable(task, "instruction.md")
    if not instruction.strip():
        raise InputError("not a whole Harbor task: instruction.md is empty")
    difficulty = config.text("metadata", "difficulty")
    return ImportedTask(
        id=task.root.name,
        title=config.text("task", "description") or task.root.name,
        category=_CATEGORY,
        difficulty=difficulty if difficulty in _DIFFICULTIES else _ASSUMED,
        description=instruction,
        license=license_,
        image=_image(task, config),
        repository=ImageFolder(),
        checks=tests,
        solution=_solution(task, config),
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


def _solution(task: Checkout, config: _Config) -> SolutionScript:
    if not task.has(f"solution/{_SOLVE}"):
        raise InputError(f"it has no solution/{_SOLVE} to validate it by")
    return SolutionScript(
        argv=("bash", f"/solution/{_SOLVE}"),
        place="/solution",
        files=_files(task, "solution", _SOLVE),
        environ=config.variables("solution"),
        timeout_seconds=config.seconds("agent"),
    )


def _image(task: Checkout, config: _Config) -> ImportedImage:
    compose = sorted((task.root / "environment").glob("docker-compose.y*ml"))
    if compose:
        raise InputError(f"it needs several containers (environment/{compose[0].name}); a task here has one image")
    if config.variables("environment"):
        raise InputError("task.toml sets variables for its environment; write them into its Dockerfile as ENV")
    reference = config.text("environment", "docker_image")
    if not task.has("environment/Dockerfile"):
        if reference is None:
            raise InputError("not a whole Harbor task: it has no environment/Dockerfile")
        return ImportedImage(reference=reference)
    if _FROM.search(_readable(task, "environment/Dockerfile")) is None:
        raise InputError("not a whole Harbor task: environment/Dockerfile has no FROM")
    return ImportedImage(files=_files(task, "environment", "Dockerfile"))


def _readable(task: Checkout, name: str) -> str:
    if not task.has(name):
        raise InputError(f"not a whole Harbor task: it has no {name}")
    try:
        return task.text(name)
    except InputError as error:
        raise InputError(f"not a whole Harbor task: {name}: {error.message}") from error


def _files(task: Checkout, part: str, needed: str) -> dict[str, bytes]:
    """All plain files in the folder `part`, by their path in it; one of them is `needed`."""
    if not task.has(f"{part}/{needed}"):
        raise InputError(f"not a whole Harbor task: it has no {part}/{needed}")
    folder = task.folder(part)
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir())
    names = [path.as_posix() for path in paths if "__pycache__" not in path.parts]
    return {name: task.content(f"{part}/{name}") for name in names}


class _Config:
    """``task.toml``, of which only what matters here is read."""

    def __init__(self, task: Checkout) -> None:
        try:
            self._sections: dict[str, Any] = tomllib.loads(_readable(task, "task.toml"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"not a whole Harbor task: task.toml: {error}") from error
        if (task.root / "steps").is_dir() or "steps" in self._sections:
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
