"""Where an experiment's and a run's files are, and how earlier ones are put aside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.completed import (
    EARLIER_ATTEMPTS_FOLDER,
    EXPERIMENT_RECORD,
    LOCK_FILE,
    OLD_RESULTS_FOLDER,
    RUN_RECORD,
    STDERR_LOG,
    STDOUT_LOG,
    TRANSCRIPT,
)
from akbench_abv3.stated import EXPERIMENT_RESULT, RUN_RESULT

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

__all__ = ["ExperimentFolder", "RunFolder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """`results/<experiment>/<run>`."""

    path: Path

    @property
    def result(self) -> Path:
        """result.json."""
        return self.path / RUN_RESULT

    @property
    def transcript(self) -> Path:
        """transcript.json."""
        return self.path / TRANSCRIPT

    @property
    def record(self) -> Path:
        """What this tool knows of the run."""
        return self.path / RUN_RECORD

    @property
    def earlier_attempts(self) -> Path:
        """Where what earlier attempts left is put."""
        return self.path / EARLIER_ATTEMPTS_FOLDER

    def put_earlier_aside(self, attempt: int) -> None:
        """Move what an earlier attempt left for us into a hidden folder; the command's own files stay."""
        names = [
            name
            for name in (RUN_RESULT, TRANSCRIPT, RUN_RECORD, STDOUT_LOG, STDERR_LOG)
            if os.path.lexists(self.path / name)
        ]
        if not names:
            return
        aside = _fresh(self.earlier_attempts / str(attempt))
        aside.mkdir(parents=True)
        for name in names:
            (self.path / name).rename(aside / name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentFolder:
    """`results/<experiment>`."""

    path: Path

    @property
    def result(self) -> Path:
        """results.json."""
        return self.path / EXPERIMENT_RESULT

    @property
    def record(self) -> Path:
        """What this tool knows of the experiment."""
        return self.path / EXPERIMENT_RECORD

    @property
    def lock(self) -> Path:
        """The file that is locked while the experiment runs."""
        return self.path / LOCK_FILE

    @property
    def old(self) -> Path:
        """Where results are put that are to be overwritten."""
        return self.path.parent / OLD_RESULTS_FOLDER

    def run(self, name: str) -> RunFolder:
        """Return the folder of a run."""
        return RunFolder(path=self.path / name)

    def has_results(self) -> bool:
        """Tell whether anything but the lock is there."""
        return self.path.is_dir() and any(one.name != LOCK_FILE for one in self.path.iterdir())

    def put_aside(self, now: datetime) -> Path:
        """Move everything but the lock to `results/.old/<experiment>-<time>`; return that folder."""
        name = f"{self.path.name}-{now:%Y%m%dT%H%M%SZ}"
        aside = _fresh(self.old / name)
        aside.mkdir(parents=True)
        for one in tuple(self.path.iterdir()):
            if one.name != LOCK_FILE:
                one.rename(aside / one.name)
        return aside


def _fresh(path: Path) -> Path:
    candidate, number = path, 2
    while os.path.lexists(candidate):
        candidate, number = path.with_name(f"{path.name}-{number}"), number + 1
    return candidate
