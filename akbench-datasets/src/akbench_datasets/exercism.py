"""Exercism's Python exercises: a stub, its tests and an example solution, in the track itself or in a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from akbench.spec import ImportedDataset, ImportedTask, InputError
from akbench_datasets.checkout import Checkout
from akbench_datasets.pytest_environment import PYTEST, PYTHON

__all__ = ["read_exercism_track", "read_polyglot"]

_TEST_SECONDS = 60
_CHECK_SECONDS = 300
_PRACTICE = "exercises/practice"
_LEVELS = {
    **dict.fromkeys((1, 2, 3), "easy"),
    **dict.fromkeys((4, 5, 6), "medium"),
    7: "hard",
    8: "hard",
    9: "expert",
    10: "expert",
}
_ASSUMED = "Difficulties are not stated by the source; all are held to be medium."


def read_exercism_track(source: Path) -> ImportedDataset:
    """The practice exercises of a checkout of exercism/python, but deprecated ones. Raises `InputError`."""
    checkout = Checkout(source)
    listed = _listed(checkout)
    license_name = checkout.license() or "unknown"
    tasks, refused = _exercises(checkout, _PRACTICE, license_name, listed)
    origin = checkout.origin("https://github.com/exercism/python")
    return ImportedDataset(
        title="Exercism, Python track",
        description="Practice exercises: a stub is to be filled in as its instructions say.",
        license=license_name,
        source=origin.source,
        commit=origin.commit,
        tasks=tasks,
        refused=refused,
        notes=("Difficulties 1 to 3 of the track are easy, 4 to 6 medium, 7 and 8 hard, 9 and 10 expert.",),
    )


def _listed(checkout: Checkout) -> dict[str, Mapping[str, Any]]:
    """The track's own list of practice exercises, slug -> entry."""
    exercises = _object(checkout, "config.json").get("exercises", {})
    practice = exercises.get("practice", []) if isinstance(exercises, dict) else None
    if not isinstance(practice, list) or not all(
        isinstance(each, dict) and isinstance(each.get("slug"), str) for each in practice
    ):
        raise InputError("exercises.practice is no list of exercises with a slug", place=checkout.place("config.json"))
    return {each["slug"]: each for each in practice}


def read_polyglot(source: Path) -> ImportedDataset:
    """The Python exercises of a checkout of the polyglot benchmark. Raises `InputError` for another folder."""
    checkout = Checkout(source)
    found = checkout.license()
    license_name = found or "MIT"
    tasks, refused = _exercises(checkout, f"python/{_PRACTICE}", license_name, {})
    origin = checkout.origin("https://github.com/Aider-AI/polyglot-benchmark")
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
    checkout: Checkout, folder: str, license_name: str, listed: Mapping[str, Mapping[str, Any]]
) -> tuple[tuple[ImportedTask, ...], dict[str, str]]:
    """The exercises below `folder`; `listed` is the track's own list, slug -> entry, empty where there is none."""
    tasks, refused = [], {}
    for name in sorted(path.name for path in checkout.folder(folder).iterdir() if path.is_dir()):
        entry = listed.get(name, {})
        if entry.get("status") == "deprecated":
            refused[name] = "the track says that it is deprecated"
            continue
        try:
            tasks.append(_task(checkout, f"{folder}/{name}", license_name, entry))
        except InputError as error:
            refused[name] = str(error)
    return tuple(tasks), refused


def _task(checkout: Checkout, folder: str, license_name: str, entry: Mapping[str, Any]) -> ImportedTask:
    name = folder.rpartition("/")[2]
    config = _object(checkout, f"{folder}/.meta/config.json")
    files = {key: _files(config, key) for key in ("solution", "test", "example", "editor")}
    _check_files(files)
    stubs = {path: checkout.content(f"{folder}/{path}") for path in (*files["solution"], *files["editor"])}
    pairs = zip(files["solution"], files["example"], strict=True)
    return ImportedTask(
        id=name,
        title=str(entry.get("name") or config.get("blurb") or name)[:100],
        category="new_feature",
        difficulty=_difficulty(entry.get("difficulty")),
        description=_description(checkout, folder, files["solution"]),
        license=license_name,
        repository=stubs,
        hidden_tests={path: checkout.content(f"{folder}/{path}") for path in files["test"]},
        solution={stub: checkout.content(f"{folder}/{example}") for stub, example in pairs},
        evaluator="pytest",
        config={
            "target": [path for path in files["test"] if path.endswith("_test.py")],
            "test_timeout_seconds": _TEST_SECONDS,
            "timeout_seconds": _CHECK_SECONDS,
        },
        python=PYTHON,
        requirements=PYTEST,
        tags=("exercise",),
    )


def _files(config: Mapping[str, Any], key: str) -> list[str]:
    files = config.get("files", {})
    names = files.get(key, []) if isinstance(files, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"files.{key} in .meta/config.json is no list of names")
    if not names and key != "editor":
        raise InputError(f".meta/config.json names no {key} file")
    return names


def _check_files(files: Mapping[str, list[str]]) -> None:
    if len(files["solution"]) != len(files["example"]):
        raise InputError(f"{len(files['solution'])} stubs and {len(files['example'])} example files: not one for each")
    if not any(name.endswith("_test.py") for name in files["test"]):
        raise InputError("none of the test files in .meta/config.json ends in _test.py")
    laid = [*files["solution"], *files["test"], *files["editor"]]
    twice = next((name for name in laid if laid.count(name) > 1), None)
    if twice is not None:
        raise InputError(f".meta/config.json names {twice!r} twice as solution, test or editor file")


def _difficulty(level: object) -> str:
    if level is None:
        return "medium"
    if isinstance(level, bool) or not isinstance(level, int) or level not in _LEVELS:
        raise InputError(f"the track says difficulty {level!r}, which is none of 1 to 10")
    return _LEVELS[level]


def _description(checkout: Checkout, folder: str, stubs: list[str]) -> str:
    parts = [part.strip() for part in _texts(checkout, f"{folder}/.docs")]
    if not parts:
        raise InputError("it has no instructions in .docs/")
    where = ", ".join(f"`{name}`" for name in stubs)
    return "\n\n".join((*parts, f"Write your solution into {where}. Names and parameters stay as they are.")) + "\n"


def _texts(checkout: Checkout, folder: str) -> Iterator[str]:
    for name in ("introduction.md", "instructions.md", "instructions.append.md"):
        if checkout.has(f"{folder}/{name}"):
            yield checkout.text(f"{folder}/{name}")


def _object(checkout: Checkout, name: str) -> dict[str, Any]:
    found = checkout.json(name)
    if not isinstance(found, dict):
        raise InputError("no JSON object", place=checkout.place(name))
    return found
