"""Exercism's Python exercises: a stub, its tests and an example solution, in the track itself or in a benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from akbench.spec import ImportedDataset, ImportedTask, InputError
from akbench_datasets.checkout import license_of, origin_of, read_bytes
from akbench_datasets.pytest_environment import PYTEST, PYTHON

__all__ = ["read_exercism_track", "read_polyglot"]

_TEST_SECONDS = 60
_CHECK_SECONDS = 300
_ASSUMED = "Difficulties are not stated by the source; all are held to be medium."


def read_exercism_track(source: Path) -> ImportedDataset:
    """The practice exercises of a checkout of exercism/python, but deprecated ones. Raises `InputError`."""
    config = _json(source / "config.json")
    listed = {each["slug"]: each for each in config.get("exercises", {}).get("practice", [])}
    tasks, refused = _exercises(source / "exercises" / "practice", license_of(source) or "unknown", listed)
    origin = origin_of(source, "https://github.com/exercism/python")
    return ImportedDataset(
        title="Exercism, Python track",
        description="Practice exercises: a stub is to be filled in as its instructions say.",
        license=license_of(source) or "unknown",
        source=origin.source,
        commit=origin.commit,
        tasks=tasks,
        refused=refused,
        notes=("Difficulties 1 to 3 of the track are easy, 4 to 6 medium, 7 and 8 hard, 9 and 10 expert.",),
    )


def read_polyglot(source: Path) -> ImportedDataset:
    """The Python exercises of a checkout of the polyglot benchmark. Raises `InputError` for another folder."""
    folder = source / "python" / "exercises" / "practice"
    found = license_of(source)
    license_name = found or "MIT"
    tasks, refused = _exercises(folder, license_name, {})
    origin = origin_of(source, "https://github.com/Aider-AI/polyglot-benchmark")
    unstated = () if found else ("The checkout states no licence; its exercises are those of Exercism, which are MIT.",)
    return ImportedDataset(
        title="Polyglot benchmark, Python part",
        description="Exercism's harder exercises: a stub is to be filled in as its instructions say.",
        license=license_name,
        source=origin.source,
        commit=origin.commit,
        tasks=tasks,
        refused=refused,
        notes=(_ASSUMED, *unstated),
    )


def _exercises(
    folder: Path, license_name: str, listed: Mapping[str, Mapping[str, Any]]
) -> tuple[tuple[ImportedTask, ...], dict[str, str]]:
    """The exercises below `folder`; `listed` is the track's own list, slug -> entry, empty where there is none."""
    if not folder.is_dir():
        raise InputError("there is no such folder in the checkout; is it another repository?", place=str(folder))
    tasks, refused = [], {}
    for exercise in sorted(path for path in folder.iterdir() if path.is_dir()):
        entry = listed.get(exercise.name, {})
        if entry.get("status") == "deprecated":
            refused[exercise.name] = "the track says that it is deprecated"
            continue
        try:
            tasks.append(_task(exercise, license_name, entry))
        except InputError as error:
            refused[exercise.name] = error.message
    return tuple(tasks), refused


def _task(folder: Path, license_name: str, entry: Mapping[str, Any]) -> ImportedTask:
    config = _json(folder / ".meta" / "config.json")
    files = {key: _files(config, key) for key in ("solution", "test", "example", "editor")}
    if len(files["solution"]) != len(files["example"]):
        raise InputError(f"{len(files['solution'])} stubs and {len(files['example'])} example files: not one for each")
    stubs = {name: read_bytes(folder / name) for name in (*files["solution"], *files["editor"])}
    pairs = zip(files["solution"], files["example"], strict=True)
    return ImportedTask(
        id=folder.name,
        title=str(entry.get("name") or config.get("blurb") or folder.name)[:100],
        category="new_feature",
        difficulty=_difficulty(entry.get("difficulty")),
        description=_description(folder, files["solution"]),
        license=license_name,
        repository=stubs,
        hidden_tests={name: read_bytes(folder / name) for name in files["test"]},
        solution={stub: read_bytes(folder / example) for stub, example in pairs},
        evaluator="pytest",
        config={
            "target": [name for name in files["test"] if name.endswith("_test.py")],
            "test_timeout_seconds": _TEST_SECONDS,
            "timeout_seconds": _CHECK_SECONDS,
        },
        python=PYTHON,
        requirements=PYTEST,
        tags=("exercise",),
    )


def _files(config: Mapping[str, Any], key: str) -> list[str]:
    names = config.get("files", {}).get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"files.{key} in .meta/config.json is no list of names")
    if not names and key != "editor":
        raise InputError(f".meta/config.json names no {key} file")
    return names


def _difficulty(level: object) -> str:
    if not isinstance(level, int):
        return "medium"
    return next(name for most, name in ((3, "easy"), (6, "medium"), (8, "hard"), (99, "expert")) if level <= most)


def _description(folder: Path, stubs: list[str]) -> str:
    parts = [part.strip() for part in _texts(folder / ".docs")]
    if not parts:
        raise InputError("it has no instructions in .docs/")
    where = ", ".join(f"`{name}`" for name in stubs)
    return "\n\n".join((*parts, f"Write your solution into {where}. Names and parameters stay as they are.")) + "\n"


def _texts(folder: Path) -> Iterator[str]:
    for name in ("introduction.md", "instructions.md", "instructions.append.md"):
        if (folder / name).is_file():
            yield (folder / name).read_text(encoding="utf-8")


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_bytes(path))
    except ValueError as error:
        raise InputError(f"no JSON: {error}", place=str(path)) from error
    if not isinstance(found, dict):
        raise InputError("no JSON object", place=str(path))
    return found
