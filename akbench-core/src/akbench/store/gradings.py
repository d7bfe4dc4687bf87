"""Reading the later gradings of a run. They lie beside its first result and are read from their files alone."""

from __future__ import annotations

from pathlib import Path

from akbench.run.grading import GradingRecord, grading_folders
from akbench.spec import InputError
from akbench.store.folder import read_value

__all__ = ["read_gradings"]


def read_gradings(run: Path, unreadable: list[str]) -> tuple[GradingRecord, ...]:
    """The gradings of the run's folder, oldest first; damaged ones are named in `unreadable`."""
    found = []
    for folder in grading_folders(run):
        path = folder / "grading.json"
        name = path.relative_to(run).as_posix()
        try:
            record = read_value(GradingRecord, path)
        except InputError as error:
            unreadable.append(f"{name} {error.message}")
            continue
        if record is None:
            unreadable.append(f"{name} is missing")
        else:
            found.append(record)
    return tuple(found)
