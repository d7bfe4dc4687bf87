"""The tables of the index. Each row is derived from files below ``artifacts/``; none holds anything of its own.

A change here needs a migration in ``migrations/versions`` and its name in `REVISIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import TypeAdapter
from sqlalchemy import Column, Dialect, ForeignKeyConstraint, MetaData, String, Text, TypeDecorator
from sqlmodel import Field, SQLModel

from akbench.spec import ConfigState, JsonValue, TestResult

__all__ = [
    "REVISIONS",
    "AgentObservationRow",
    "ArtifactRow",
    "DatasetRow",
    "DescriptorSnapshotRow",
    "EvaluationRow",
    "EventRow",
    "ExperimentRow",
    "MetricRow",
    "ModelObservationRow",
    "Row",
    "RunRow",
    "TaskRow",
    "VariantRow",
]

REVISIONS = ("0001",)
"""The schema's versions, oldest first; the last is the one that the tables below describe."""


class JsonOf(TypeDecorator[Any]):
    """A column that holds any value of `kind` as JSON text."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.kind = kind
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:  # noqa: ARG002
        """Value to text."""
        return self._adapter.dump_json(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Text to value."""
        return None if value is None else self._adapter.validate_json(value)


class Utc(TypeDecorator[datetime]):
    """A point in time as UTC text of fixed width, so that text order is time order."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Time to text."""
        return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Text to time."""
        return None if value is None else datetime.fromisoformat(value)


def _json(kind: Any) -> Any:
    return Field(sa_column=Column(JsonOf(kind), nullable=False))


def _time() -> Any:
    return Field(sa_column=Column(Utc(), nullable=False))


def _time_or_none() -> Any:
    return Field(default=None, sa_column=Column(Utc(), nullable=True))


def _of(table: str, *columns: str, there: tuple[str, ...] = ()) -> ForeignKeyConstraint:
    """A reference by `columns` to the columns `there` (by default of the same names) of `table`."""
    names = there or columns
    return ForeignKeyConstraint(columns, [f"{table}.{name}" for name in names], ondelete="CASCADE")


def _of_run() -> tuple[ForeignKeyConstraint]:
    return (_of("task_runs", "experiment_id", "run_id", there=("experiment_id", "id")),)


class Row(SQLModel):
    """Any row of the index."""

    metadata: ClassVar[MetaData] = MetaData()


class DatasetRow(Row, table=True):
    """A dataset in one state of its files."""

    __tablename__ = "datasets"

    hash: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    version: str = Field(primary_key=True)


class ExperimentRow(Row, table=True):
    """An experiment: its plan's general part, and its end. `record_stamp` and `end_stamp`: sizes of the two files."""

    __tablename__ = "experiments"
    __table_args__ = (
        ForeignKeyConstraint(
            ["dataset_hash", "dataset_id", "dataset_version"],
            ["datasets.hash", "datasets.id", "datasets.version"],
        ),
    )

    id: str = Field(primary_key=True)
    descriptor_id: str = Field(index=True)
    descriptor_version: str
    title: str
    created_at: datetime = _time()
    dataset_id: str
    dataset_version: str
    dataset_hash: str
    repetitions: int
    concurrency: int
    timeout_seconds: float
    sandbox: str
    labels: tuple[str, ...] = _json(tuple[str, ...])
    notes: tuple[str, ...] = _json(tuple[str, ...])
    warnings: tuple[str, ...] = _json(tuple[str, ...])
    descriptor: str
    extensions: Mapping[str, str] = _json(dict[str, str])
    status: str | None = None
    status_reasons: tuple[str, ...] = _json(tuple[str, ...])
    finished_at: datetime | None = _time_or_none()
    record_stamp: int
    end_stamp: int | None = None


class DescriptorSnapshotRow(Row, table=True):
    """A descriptor as it was when the experiment ran; `name` is ``kind/id``."""

    __tablename__ = "descriptor_snapshots"
    __table_args__ = (_of("experiments", "experiment_id", there=("id",)),)

    experiment_id: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    snapshot: Mapping[str, JsonValue] = _json(dict[str, JsonValue])


class VariantRow(Row, table=True):
    """A variant of an experiment, at its place in the plan."""

    __tablename__ = "experiment_variants"
    __table_args__ = (_of("experiments", "experiment_id", there=("id",)),)

    experiment_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    position: int
    name: str
    values: Mapping[str, JsonValue] = _json(dict[str, JsonValue])
    agent_id: str = Field(index=True)
    agent_config: Mapping[str, JsonValue] = _json(dict[str, JsonValue])
    config_hash: str
    is_baseline: bool
    is_control: bool


class TaskRow(Row, table=True):
    """A task as it was when the experiment ran, at its place in the plan."""

    __tablename__ = "tasks"
    __table_args__ = (_of("experiments", "experiment_id", there=("id",)),)

    experiment_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True, index=True)
    position: int
    version: str
    title: str
    category: str
    difficulty: str
    dataset: str
    digest: str
    description: str


class RunRow(Row, table=True):
    """A run, from the plan on. `started` when its manifest is there; `stamp`: sizes of the files it is made from."""

    __tablename__ = "task_runs"
    __table_args__ = (
        _of("experiments", "experiment_id", there=("id",)),
        _of("experiment_variants", "experiment_id", "variant_id", there=("experiment_id", "id")),
        _of("tasks", "experiment_id", "task_id", there=("experiment_id", "id")),
    )

    experiment_id: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    position: int
    variant_id: str
    task_id: str
    repetition: int
    state: str = Field(index=True)
    started: bool
    reason: str | None = None
    started_at: datetime | None = _time_or_none()
    finished_at: datetime | None = _time_or_none()
    sandbox: str | None = None
    agent_version: str | None = None
    model_source: str | None = None
    oddities: tuple[str, ...] = _json(tuple[str, ...])
    stamp: str


class EvaluationRow(Row, table=True):
    """What the evaluation of a finished run found. `outcome` None: the run was not evaluated."""

    __tablename__ = "evaluations"
    __table_args__ = _of_run()

    experiment_id: str = Field(primary_key=True)
    run_id: str = Field(primary_key=True)
    outcome: str | None = None
    score: float | None = None
    solved: bool | None = None
    tests: tuple[TestResult, ...] = _json(tuple[TestResult, ...])
    touched_protected: tuple[str, ...] = _json(tuple[str, ...])


class AgentObservationRow(Row, table=True):
    """What was seen of the agent in a finished run."""

    __tablename__ = "agent_observations"
    __table_args__ = _of_run()

    experiment_id: str = Field(primary_key=True)
    run_id: str = Field(primary_key=True)
    status: str | None = None
    error_class: str | None = None
    session_id: str | None = None
    final_message: str | None = None
    config: tuple[ConfigState, ...] = _json(tuple[ConfigState, ...])


class ModelObservationRow(Row, table=True):
    """A model that something other than the request confirmed to have answered in a run."""

    __tablename__ = "model_observations"
    __table_args__ = _of_run()

    experiment_id: str = Field(primary_key=True)
    run_id: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    model: str = Field(index=True)


class MetricRow(Row, table=True):
    """One reading of a run: `value` as JSON (``null``: there is none, and `unavailable` says why)."""

    __tablename__ = "metrics"
    __table_args__ = _of_run()

    experiment_id: str = Field(primary_key=True)
    run_id: str = Field(primary_key=True)
    metric: str = Field(primary_key=True)
    value: int | float | str | bool | None = _json(int | float | str | bool | None)
    source: str | None = None
    unavailable: str | None = None


class ArtifactRow(Row, table=True):
    """A file kept with a run."""

    __tablename__ = "artifacts"
    __table_args__ = _of_run()

    experiment_id: str = Field(primary_key=True)
    run_id: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    sha256: str
    size: int
    media_type: str


class EventRow(Row, table=True):
    """One line of a run's events.jsonl; its detail (`data`) stays in the file."""

    __tablename__ = "events"
    __table_args__ = _of_run()

    experiment_id: str = Field(primary_key=True)
    run_id: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    at: datetime = _time()
    kind: str
    state: str | None = None
    text: str
