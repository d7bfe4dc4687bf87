"""A dataset frozen: one file that holds the hash of every part of it, and one hash over them all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from akbench.descriptors.document import parse
from akbench.descriptors.header import Part
from akbench.plain_yaml import read_text
from akbench.spec import InputError

if TYPE_CHECKING:
    from akbench.dataset.dataset import Dataset

__all__ = ["FROZEN", "Frozen", "FrozenTask", "changes", "freeze", "read_frozen", "write_frozen"]

FROZEN = "frozen.json"


class FrozenTask(Part):
    """A task as it was frozen: the digest of its folder and of its verdict."""

    task: str
    verdict: str


class Frozen(Part):
    """``frozen.json``. `hash` covers everything else in it; experiments name it."""

    format: Literal["1"] = "1"
    id: str
    version: str
    hash: str
    dataset: str
    repositories: str
    tasks: dict[str, FrozenTask]

    def computed_hash(self) -> str:
        """What `hash` must be."""
        said = self.model_dump(mode="json", exclude={"hash"})
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def freeze(dataset: Dataset) -> Frozen:
    """The dataset as it is now. Raises `InputError` for a task that was never validated."""
    unvalidated = [task.descriptor.id for task in dataset.tasks if task.verdict is None]
    if unvalidated:
        raise InputError(f"never validated: {', '.join(unvalidated)}", place=str(dataset.folder))
    draft = _now(dataset)
    return draft.model_copy(update={"hash": draft.computed_hash()})


def _now(dataset: Dataset) -> Frozen:
    return Frozen(
        id=dataset.model.id,
        version=dataset.model.version,
        hash="",
        dataset=dataset.document.sha256,
        repositories=dataset.repositories,
        tasks={
            task.descriptor.id: FrozenTask(task=task.digest, verdict=task.verdict.digest if task.verdict else "")
            for task in dataset.tasks
        },
    )


def changes(dataset: Dataset) -> tuple[str, ...]:
    """What differs between a frozen dataset and what its files say now, one phrase for each; empty for none."""
    return () if dataset.frozen is None else tuple(_differences(dataset.frozen, _now(dataset)))


def _differences(then: Frozen, now: Frozen) -> Iterator[str]:
    if then.computed_hash() != then.hash:
        yield f"{FROZEN} itself was edited"
    if then.dataset != now.dataset:
        yield "dataset.yaml differs"
    if then.repositories != now.repositories:
        yield "the files below repositories/ differ"
    for task_id in sorted(then.tasks.keys() | now.tasks.keys()):
        before, after = then.tasks.get(task_id), now.tasks.get(task_id)
        if before is None or after is None:
            yield f"task {task_id!r} was {'added' if before is None else 'removed'}"
        elif before.task != after.task:
            yield f"task {task_id!r} differs"
        elif before.verdict != after.verdict:
            yield f"the verdict on task {task_id!r} differs"


def read_frozen(folder: Path) -> Frozen | None:
    """The ``frozen.json`` of a dataset's folder; None if it is not frozen. Raises `InputError` with the line."""
    path = folder / FROZEN
    if not path.exists():
        return None
    text = read_text(path)
    try:
        return Frozen.model_validate_json(text)
    except ValidationError as error:
        parse(text, str(path)).validate(Frozen)
        raise InputError(f"cannot be used: {error.errors()[0]['msg']}", place=str(path)) from error


def write_frozen(frozen: Frozen, folder: Path) -> Path:
    """Store it, whole or not at all; returns the file."""
    path = folder / FROZEN
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(frozen.model_dump_json(indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
    return path
