"""What validating a task found, as it is stored in its dataset: ``validation/<task id>.json``."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from akbench.descriptors.document import parse
from akbench.descriptors.header import Part
from akbench.plain_yaml import SIZE_LIMIT
from akbench.spec import InputError

__all__ = ["FlakyTest", "StateRecord", "Verdict", "VerdictKey", "read_verdict", "verdict_path", "write_verdict"]


class VerdictKey(Part):
    """What a verdict is about: with any other of these it says nothing.

    `content` covers every file of the task's folder and its repository; the evaluator is named with the distribution
    that brings it. Of several evaluators the names stand in their order, joined by ``+``.
    """

    content: str
    evaluator: str
    distribution: str
    version: str


class FlakyTest(Part):
    """A regression test that passed only sometimes in one state of the tree."""

    id: str
    state: str
    passed: int
    of: int


class StateRecord(Part):
    """One state of the tree: the outcome of each repetition and the score of the worst and the best.

    `same_as` names the state whose tree it is, where the two are one and were judged once.
    """

    outcomes: tuple[str, ...]
    lowest_score: float | None
    highest_score: float | None
    reason: str
    same_as: str | None = None


class Verdict(Part):
    """Whether a task measures what it should, and what was seen.

    - `environment`: the key of the prepared environment; None if it could not be prepared for the task's own fault.
    - `image`: the id of the image that the task ran in, if it has one of its own.
    - `fail_to_pass`: tests that pass solved and never unsolved; `pass_to_pass`: tests that always pass in both.
    - `quarantined`: flaky regression tests, which no evaluation counts while this verdict holds.
    - `state_seconds`: median wall clock of a check by state; `test_seconds`: by state and test.

    What only tells of the machine (environment, image, sandbox, times) is no part of `digest`: whoever finds the same
    elsewhere has the same verdict.
    """

    format: Literal["1"] = "1"
    task: str
    task_version: str
    valid: bool
    problems: tuple[str, ...] = ()
    key: VerdictKey
    environment: str | None = None
    image: str | None = None
    sandbox: str | None = None
    repetitions: int = 0
    states: dict[str, StateRecord] = Field(default_factory=dict)
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    quarantined: tuple[FlakyTest, ...] = ()
    state_seconds: dict[str, float] = Field(default_factory=dict)
    test_seconds: dict[str, dict[str, float]] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over what was found."""
        said = self.model_dump(
            mode="json", exclude={"environment", "image", "sandbox", "state_seconds", "test_seconds"}
        )
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def verdict_path(dataset: Path, task_id: str) -> Path:
    """Where the verdict on a task is stored."""
    return dataset / "validation" / f"{task_id}.json"


def read_verdict(path: Path) -> Verdict | None:
    """The verdict stored at `path`; None if there is none. Raises `InputError` with the line of what is wrong."""
    if not os.path.lexists(path):
        return None
    text = _text(path)
    try:
        found = Verdict.model_validate_json(text)
    except ValidationError as error:
        # The slow reader knows lines and columns; it is asked only when something is wrong, and not about a huge file.
        if len(text) <= SIZE_LIMIT:
            parse(text, str(path)).validate(Verdict)
        raise InputError(f"no verdict: {error.errors()[0]['msg']}", place=str(path)) from error
    if found.task != path.stem:
        raise InputError(f"is about task {found.task!r}; rename the file or validate again", place=f"{path}:1")
    return found


def _text(path: Path) -> str:
    if not path.is_file():
        raise InputError("is no file; remove it and validate again", place=str(path))
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "not UTF-8"
        raise InputError(f"cannot be read: {cause}; remove it and validate again", place=str(path)) from error


def write_verdict(verdict: Verdict, path: Path) -> None:
    """Store it, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(verdict.model_dump_json(indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
