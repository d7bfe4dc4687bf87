"""From files to rows: the one way in which anything gets into the index.

What the rows of an experiment are depends on its files alone. So an index kept up step by step, one made again from
nothing and one made in memory for a reader hold the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from sqlmodel import Session, col, delete, insert, select

from akbench.experiment.plan import Plan
from akbench.run.record import ExperimentRecord, RunResult
from akbench.spec import InputError
from akbench.store.folder import ExperimentFolder, size_of
from akbench.store.rows import (
    AgentObservationRow,
    ArtifactRow,
    DatasetRow,
    DescriptorSnapshotRow,
    EvaluationRow,
    EventRow,
    ExperimentRow,
    MetricRow,
    ModelObservationRow,
    Row,
    RunRow,
    TaskRow,
    VariantRow,
)
from akbench.store.runfiles import RunFiles, read_run, run_stamp

__all__ = ["catch_up", "is_current", "update_all", "update_run"]


_BATCH = 100
"""Runs whose rows are written at a time: statements cost more than rows."""


def update_all(session: Session, folders: Iterable[ExperimentFolder]) -> tuple[str, ...]:
    """Bring the index up to these experiments, which are all there are. Returns what could not be read."""
    there = {folder.id: folder for folder in folders}
    for experiment_id in session.exec(select(ExperimentRow.id)).all():
        if experiment_id not in there:
            _forget(session, experiment_id)
    unreadable = []
    for folder in there.values():
        try:
            catch_up(session, folder)
        except InputError as error:
            unreadable.append(str(error))
    _forget_unused_datasets(session)
    return tuple(unreadable)


def is_current(session: Session, folder: ExperimentFolder) -> bool:
    """Whether the index holds all that the experiment's files say."""
    row = session.get(ExperimentRow, folder.id)
    return (
        row is not None
        and row.record_stamp == size_of(folder.record_path)
        and row.end_stamp == size_of(folder.end_path)
        and not any(_stale_runs(session, folder))
    )


def catch_up(session: Session, folder: ExperimentFolder) -> None:
    """Bring the index up to the experiment's files. Raises `InputError` when its plan is unreadable."""
    size = size_of(folder.record_path)
    row = session.get(ExperimentRow, folder.id)
    if row is None or row.record_stamp != size:
        _forget(session, folder.id)
        _add(session, _experiment_rows(folder, size or 0))
        row = session.get_one(ExperimentRow, folder.id)
    _update_end(session, folder, row)
    for run_ids in batched(_stale_runs(session, folder), _BATCH):
        _update_runs(session, folder, run_ids)


def update_run(session: Session, folder: ExperimentFolder, run_id: str) -> None:
    """Bring the index up to one run's files. Raises `InputError` when the plan has no such run."""
    if not _update_runs(session, folder, (run_id,)):
        raise InputError(f"the plan of {folder.id} has no run {run_id}")


def _update_runs(session: Session, folder: ExperimentFolder, run_ids: Sequence[str]) -> int:
    """Replace the rows of these runs; returns how many of them the plan has."""
    these = (col(RunRow.experiment_id) == folder.id, col(RunRow.id).in_(run_ids))
    places = [
        _Place(folder.id, row.id, row.position, row.variant_id, row.task_id, row.repetition)
        for row in session.exec(select(RunRow).where(*these))
    ]
    session.expunge_all()
    session.exec(delete(RunRow).where(*these))
    _add(session, (row for place in places for row in _read_rows(folder, place)))
    return len(places)


def _read_rows(folder: ExperimentFolder, place: _Place) -> Iterator[Row]:
    path = folder.run_path(place.run_id)
    stamp = run_stamp(path)  # before reading: what comes in between is noticed next time
    return _run_rows(place, read_run(path), stamp)


@dataclass(frozen=True, slots=True)
class _Place:
    """A run's place in the plan."""

    experiment_id: str
    run_id: str
    position: int
    variant_id: str
    task_id: str
    repetition: int


def _stale_runs(session: Session, folder: ExperimentFolder) -> Iterator[str]:
    known = session.exec(
        select(RunRow.id, RunRow.stamp).where(RunRow.experiment_id == folder.id).order_by(col(RunRow.position))
    ).all()
    return (run_id for run_id, stamp in known if stamp != run_stamp(folder.run_path(run_id)))


def _forget(session: Session, experiment_id: str) -> None:
    session.exec(delete(ExperimentRow).where(col(ExperimentRow.id) == experiment_id))
    session.expire_all()


def _forget_unused_datasets(session: Session) -> None:
    used = set(
        session.exec(select(ExperimentRow.dataset_hash, ExperimentRow.dataset_id, ExperimentRow.dataset_version))
    )
    for row in session.exec(select(DatasetRow)).all():
        if (row.hash, row.id, row.version) not in used:
            session.delete(row)
    session.flush()


def _add(session: Session, rows: Iterable[Row]) -> None:
    values: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        table = Row.metadata.tables[str(row.__tablename__)]
        values[table.name].append({name: getattr(row, name) for name in table.columns.keys()})  # noqa: SIM118
    for table in Row.metadata.sorted_tables:
        if values[table.name]:
            # Several experiments share a dataset's row.
            repeatable = table.name == DatasetRow.__tablename__
            statement = insert(table).prefix_with("OR IGNORE") if repeatable else insert(table)
            session.execute(statement, values[table.name])


def _update_end(session: Session, folder: ExperimentFolder, row: ExperimentRow) -> None:
    size = size_of(folder.end_path)
    if row.end_stamp == size:
        return
    end = None
    try:
        end = folder.ending()
        row.status_reasons = end.reasons if end else ()
    except InputError as error:
        row.status_reasons = (str(error),)
    row.status = end.status if end else None
    row.finished_at = end.finished_at if end else None
    row.end_stamp = size
    session.add(row)
    session.flush()


def _experiment_rows(folder: ExperimentFolder, stamp: int) -> Iterator[Row]:
    record = folder.record()
    plan = record.plan
    yield DatasetRow(hash=record.dataset_hash, id=record.dataset_id, version=record.dataset_version)
    yield _experiment_row(folder.id, record, stamp)
    for name, snapshot in record.snapshots.items():
        yield DescriptorSnapshotRow(experiment_id=folder.id, name=name, snapshot=snapshot)
    yield from _plan_rows(folder.id, plan)
    for position, run in enumerate(plan.runs):
        place = _Place(folder.id, run.id, position, run.variant_id, run.task_id, run.repetition)
        # The stamp is no possible one: the run's own files, if any, are still to be read.
        yield _run_row(place, RunFiles(manifest=None, events=(), result=None, unreadable=()), stamp="")


def _experiment_row(experiment_id: str, record: ExperimentRecord, stamp: int) -> ExperimentRow:
    plan = record.plan
    return ExperimentRow(
        id=experiment_id,
        descriptor_id=record.descriptor_id,
        descriptor_version=record.descriptor_version,
        title=record.title,
        created_at=record.created_at,
        dataset_id=record.dataset_id,
        dataset_version=record.dataset_version,
        dataset_hash=record.dataset_hash,
        repetitions=plan.repetitions,
        concurrency=plan.concurrency,
        timeout_seconds=plan.timeout_seconds,
        sandbox=plan.sandbox,
        labels=plan.labels,
        notes=plan.notes,
        warnings=plan.warnings,
        descriptor=record.descriptor,
        extensions=record.extensions,
        status_reasons=(),
        record_stamp=stamp,
    )


def _plan_rows(experiment_id: str, plan: Plan) -> Iterator[Row]:
    for position, variant in enumerate(plan.variants):
        yield VariantRow(
            experiment_id=experiment_id,
            id=variant.id,
            position=position,
            name=variant.name,
            values=variant.values,
            agent_id=variant.agent.id,
            agent_config=variant.agent.config,
            config_hash=variant.config_hash,
            is_baseline=variant.is_baseline,
            is_control=variant.is_control,
        )
    for position, task in enumerate(plan.tasks):
        yield TaskRow(
            experiment_id=experiment_id,
            id=task.id,
            position=position,
            version=task.version,
            title=task.title,
            category=task.category,
            difficulty=task.difficulty,
            dataset=task.dataset,
            digest=task.digest,
            description=task.description,
        )


def _run_rows(place: _Place, files: RunFiles, stamp: str) -> Iterator[Row]:
    yield _run_row(place, files, stamp)
    for position, event in enumerate(files.events):
        yield EventRow(
            experiment_id=place.experiment_id,
            run_id=place.run_id,
            position=position,
            at=event.at,
            kind=event.kind,
            state=event.state.value if event.state else None,
            text=event.text,
        )
    if files.result is not None:
        yield from _result_rows(place, files.result)


def _run_row(place: _Place, files: RunFiles, stamp: str) -> RunRow:
    manifest, result = files.manifest, files.result
    return RunRow(
        experiment_id=place.experiment_id,
        id=place.run_id,
        position=place.position,
        variant_id=place.variant_id,
        task_id=place.task_id,
        repetition=place.repetition,
        state=files.state.value,
        started=manifest is not None or bool(files.events) or bool(files.unreadable),
        reason=result.reason if result else None,
        started_at=result.started_at if result else manifest.created_at if manifest else None,
        finished_at=result.finished_at if result else None,
        sandbox=manifest.sandbox if manifest else None,
        agent_version=(result.agent_version if result else None) or (manifest.agent_version if manifest else None),
        model_source=result.model_source if result else None,
        oddities=(*files.unreadable, *(result.oddities if result else ())),
        stamp=stamp,
    )


def _result_rows(place: _Place, result: RunResult) -> Iterator[Row]:
    of = {"experiment_id": place.experiment_id, "run_id": place.run_id}
    yield EvaluationRow(
        **of,
        outcome=result.outcome.value if result.outcome else None,
        score=result.score,
        solved=result.solved,
        tests=result.tests,
        touched_protected=result.touched_protected,
    )
    yield AgentObservationRow(
        **of,
        status=result.agent_status.value if result.agent_status else None,
        error_class=result.error_class,
        session_id=result.session_id,
        final_message=result.final_message,
        config=result.config,
    )
    for position, model in enumerate(result.observed_models):
        yield ModelObservationRow(**of, position=position, model=model)
    for metric, reading in result.metrics.items():
        yield MetricRow(
            **of, metric=metric, value=reading.value, source=reading.source, unavailable=reading.unavailable
        )
    for artifact in result.artifacts:
        yield ArtifactRow(
            **of,
            name=artifact.name,
            sha256=artifact.sha256,
            size=artifact.size,
            media_type=artifact.media_type,
        )
