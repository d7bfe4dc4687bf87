"""SWE-bench-style instances: a commit, an issue, a patch that solves it and one that brings its tests."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from akbench.spec import GitRepository, ImportedDataset, ImportedTask, InputError
from akbench_datasets.checkout import Checkout, json_of
from akbench_datasets.pytest_environment import PYTEST

__all__ = ["read_instances"]

_DIFFICULTIES = {"<15 min fix": "easy", "15 min - 1 hour": "medium", "1-4 hours": "hard", ">4 hours": "expert"}
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==[^\s;=*]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CHECK_SECONDS = 1800
_LARGEST_BYTES = 1 << 30
_TEST_SECONDS = 300
_NOTES = (
    "Hints of the source are left out: the agent is given the problem statement alone.",
    "Python imports from the repository's root and from src/; what a build would compile is not there, nor submodules.",
)


def read_instances(source: Path) -> ImportedDataset:
    """The instances of the JSONL file `source`. Raises `InputError` for another file; no instance stops another."""
    text = Checkout(source.parent).content(source.name, _LARGEST_BYTES)
    tasks: list[ImportedTask] = []
    refused: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        row = _row(line, source, number)
        try:
            tasks.append(_task(row))
        except InputError as error:
            refused[_shown_name(row, number, refused)] = f"line {number}: {error.message}"
    if not tasks and not refused:
        raise InputError("holds no instance; each line is one JSON object", place=str(source))
    return ImportedDataset(
        title=f"SWE-bench-style instances of {source.name}",
        description="Issues of real repositories with the tests that came with their fix.",
        license="unknown",
        source=f"{source.name}, sha256 {hashlib.sha256(text).hexdigest()}",
        commit=None,
        tasks=tuple(tasks),
        refused=refused,
        notes=_NOTES,
    )


def _shown_name(row: Mapping[str, Any], number: int, taken: Mapping[str, str]) -> str:
    name = str(row.get("instance_id") or f"line {number}")
    return f"{name} (line {number})" if name in taken else name


def _row(line: bytes, source: Path, number: int) -> dict[str, Any]:
    row = json_of(line, str(source), line=number)
    if not isinstance(row, dict):
        raise InputError("no JSON object", place=f"{source}:{number}")
    return row


def _task(row: Mapping[str, Any]) -> ImportedTask:
    problem = _text(row, "problem_statement")
    return ImportedTask(
        id=_text(row, "instance_id"),
        title=next(line.strip("# ").strip() for line in problem.splitlines() if line.strip())[:100],
        category="bug_fix",
        difficulty=_DIFFICULTIES.get(str(row.get("difficulty")), "medium"),
        description=problem,
        license=str(row.get("license_name") or row.get("license") or "unknown"),
        repository=_repository(row),
        test_patch=_text(row, "test_patch").encode(),
        solution=_text(row, "patch").encode(),
        evaluator="pytest",
        config={
            "target": [*_tests(row, "FAIL_TO_PASS")],
            "regression": [*_tests(row, "PASS_TO_PASS")],
            "test_timeout_seconds": _TEST_SECONDS,
            "timeout_seconds": _CHECK_SECONDS,
        },
        python=_python(row),
        requirements=_requirements(row),
        python_path=(".", "src"),
        tags=("issue",),
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"it has no {key}")
    if any("\ud800" <= char <= "\udfff" or char == "\0" for char in value):
        raise InputError(f"its {key} holds a character that is no text (U+0000 or half of a pair)")
    return value


def _repository(row: Mapping[str, Any]) -> GitRepository:
    repo, commit = _text(row, "repo"), _text(row, "base_commit")
    if not _COMMIT.fullmatch(commit):
        raise InputError(f"base_commit {commit!r} is no full commit id")
    return GitRepository(url=repo if "://" in repo else f"https://github.com/{repo}", commit=commit)


def _tests(row: Mapping[str, Any], key: str) -> list[str]:
    """The list, which some sets write as JSON within JSON."""
    value = row.get(key, [])
    try:
        names = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise InputError(f"{key} is no list: {error}") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{key} is no list of names")
    if key == "FAIL_TO_PASS" and not names:
        raise InputError("FAIL_TO_PASS is empty: no test tells a solution from the tree as it is")
    foreign = next((name for name in names if not re.match(r"[^:]+\.py(::|$)", name)), None)
    if foreign is not None:
        raise InputError(f"{key} names {foreign!r}, which is no test of pytest (file.py::test)")
    return names


def _python(row: Mapping[str, Any]) -> str:
    install = row.get("install_config")
    found = row.get("python") or (install.get("python") if isinstance(install, dict) else None)
    if not isinstance(found, str) or not re.fullmatch(r"3\.\d+(\.\d+)?", found):
        raise InputError('it names no Python version; add a field "python" such as "3.12"')
    return ".".join(found.split(".")[:2])


def _requirements(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What the row pins, and of pytest and what that needs whatever the row leaves out."""
    value = row.get("requirements")
    lines = value.splitlines() if isinstance(value, str) else value
    if not isinstance(lines, list):
        raise InputError('it pins no environment; add a field "requirements" with each package as name==version')
    pins = [str(line).strip() for line in lines if str(line).strip() and not str(line).lstrip().startswith("#")]
    loose = next((pin for pin in pins if not _PINNED.fullmatch(pin)), None)
    if loose is not None:
        raise InputError(f"requirement {loose!r} is not pinned as name==version")
    named = {_name(pin) for pin in pins}
    return (*pins, *(pin for pin in PYTEST if _name(pin) not in named))


def _name(pin: str) -> str:
    return re.sub(r"[-_.]+", "-", pin.split("==", maxsplit=1)[0]).lower()
