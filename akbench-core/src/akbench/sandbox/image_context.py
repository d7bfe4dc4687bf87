"""The folder that a task's image is built from: nothing of it may tell what the agent must not see."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from akbench.dataset.assembly import AssembledTask
from akbench.dataset.dataset import SECRET_FOLDERS
from akbench.spec import InputError
from akbench.workspace.reference import reference_solution
from akbench.workspace.scratch import scratch_folder
from akbench.workspace.snapshot import Snapshot

__all__ = ["check_context"]

_SHORTEST_SECRET = 40
"""Contents below this many bytes (an empty ``__init__.py``) are the same everywhere by chance."""


def check_context(assembled: AssembledTask, snapshot: Snapshot, cache: Path) -> None:
    """Raise `InputError` if a file of the folder is a hidden test, a check, or a file as the solution leaves it."""
    wanted = assembled.task.descriptor.task.environment
    assert wanted.dockerfile is not None, "the image is built"
    context = (assembled.task.folder / wanted.dockerfile).parent
    files = {path: path.read_bytes() for path in sorted(context.rglob("*")) if path.is_file()}
    secrets = dict(_secrets(assembled, snapshot, cache))
    for path, content in files.items():
        if content in secrets:
            name = path.relative_to(assembled.task.folder)
            raise InputError(f"{name} would get into the image and is the same as {secrets[content]}; take it out")


def _secrets(assembled: AssembledTask, snapshot: Snapshot, cache: Path) -> Iterator[tuple[bytes, str]]:
    """What must not be in it, with its name."""
    for path in assembled.hidden.entries:
        if len(content := assembled.hidden.read(path)) >= _SHORTEST_SECRET:
            yield content, f"the hidden {os.fsdecode(path)}"
    for folder in SECRET_FOLDERS:
        for file in sorted((assembled.task.folder / folder).rglob("*")):
            if file.is_file() and len(content := file.read_bytes()) >= _SHORTEST_SECRET:
                yield content, str(file.relative_to(assembled.task.folder))
    with scratch_folder() as scratch:
        solved = reference_solution(assembled, snapshot, cache, scratch).tree
        for path, entry in solved.entries.items():
            if assembled.given.entries.get(path) != entry and len(content := solved.read(path)) >= _SHORTEST_SECRET:
                yield content, f"the solution's {os.fsdecode(path)}"
