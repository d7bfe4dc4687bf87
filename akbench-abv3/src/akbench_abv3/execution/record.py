"""The tool's own records: abv3_run.json beside a result, abv3_exp.json beside the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from akbench_abv3.completed import MAX_RESULT_BYTES, RECORD_SCHEMA_VERSION, RunStatus
from akbench_abv3.reading.bounded import UnreadableError, read_text
from akbench_abv3.reading.json_text import parse_json
from akbench_abv3.writing import json_document, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ExperimentRecord", "RunRecord", "read_experiment_record", "read_run_record", "write_record"]


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    schema_version: str = RECORD_SCHEMA_VERSION


class RunRecord(_Record):
    """One attempt at a run. Times are ISO 8601 in UTC, `duration_s` seconds; names only of dependencies.

    A record is written as `interrupted` when the run starts, so that a killed tool leaves the truth.
    """

    status: RunStatus
    exit_code: int | None = None
    signal: str | None = None
    started_at: str
    finished_at: str | None = None
    duration_s: float | None = None
    timeout_s: float | None = None
    attempt: int = 1
    left_behind: int = 0
    config_path: str | None = None
    config_sha256: str | None = None
    command: str
    git_commit: str | None = None
    git_dirty: bool | None = None
    repo_version: str
    abv3_version: str
    dependencies: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


class ExperimentRecord(_Record):
    """An experiment's runs and their state, and who wrote results.json."""

    experiment: str
    status: str
    started_at: str
    finished_at: str | None = None
    repo_name: str
    repo_version: str
    abv3_version: str
    runs: dict[str, RunStatus]
    results_written_by: str | None = None
    no_results_reason: str | None = None
    findings: tuple[str, ...] = ()


def read_run_record(path: Path) -> RunRecord | None:
    """Return the record, or None when there is none that can be trusted."""
    return _read(path, RunRecord)


def read_experiment_record(path: Path) -> ExperimentRecord | None:
    """Return the record, or None when there is none that can be trusted."""
    return _read(path, ExperimentRecord)


def _read[R: _Record](path: Path, kind: type[R]) -> R | None:
    try:
        return kind.model_validate(parse_json(read_text(path, MAX_RESULT_BYTES)))
    except (UnreadableError, ValidationError):
        return None


def write_record(path: Path, record: RunRecord | ExperimentRecord) -> None:
    """Write a record whole."""
    write_atomically(path, json_document(record.model_dump(mode="json")))
