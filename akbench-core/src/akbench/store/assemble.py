"""From the rows of an experiment to the views that readers get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlmodel import Session, col, select

from akbench.run.lifecycle import TERMINAL, RunState
from akbench.spec import Outcome, Reading
from akbench.store.folder import ExperimentFolder
from akbench.store.rows import (
    AgentObservationRow,
    ArtifactRow,
    DescriptorSnapshotRow,
    EvaluationRow,
    ExperimentRow,
    MetricRow,
    RunRow,
    TaskRow,
    VariantRow,
)
from akbench.store.view import ArtifactView, ExperimentView, RunView, TaskView, VariantView

__all__ = ["experiment_view"]


def experiment_view(session: Session, folder: ExperimentFolder, *, held: bool) -> ExperimentView:
    """The whole experiment. `held`: whether a process works on it, so that its unfinished runs still go on."""
    row = session.get_one(ExperimentRow, folder.id)
    runs = _runs(session, folder, held=held)
    snapshots = session.exec(
        select(DescriptorSnapshotRow)
        .where(DescriptorSnapshotRow.experiment_id == folder.id)
        .order_by(col(DescriptorSnapshotRow.name))
    )
    return ExperimentView(
        id=row.id,
        descriptor_id=row.descriptor_id,
        descriptor_version=row.descriptor_version,
        title=row.title,
        status=row.status or "incomplete",
        status_reasons=row.status_reasons if row.status else (*row.status_reasons, _unfinished(runs, held=held)),
        labels=row.labels,
        created_at=row.created_at,
        finished_at=row.finished_at,
        dataset_id=row.dataset_id,
        dataset_version=row.dataset_version,
        dataset_hash=row.dataset_hash,
        repetitions=row.repetitions,
        descriptor=row.descriptor,
        snapshots={snapshot.name: snapshot.snapshot for snapshot in snapshots},
        extensions=row.extensions,
        variants=_variants(session, folder.id, runs),
        tasks=_tasks(session, folder.id),
        runs=runs,
    )


def _unfinished(runs: Sequence[RunView], *, held: bool) -> str:
    finished = sum(run.is_final for run in runs)
    why = "it is still running" if held else "it was interrupted before its end"
    return f"{why}: {finished} of {len(runs)} runs have finished"


def _variants(session: Session, experiment_id: str, runs: Iterable[RunView]) -> tuple[VariantView, ...]:
    versions: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        if run.agent_version:
            versions[run.variant_id].add(run.agent_version)
    rows = session.exec(
        select(VariantRow).where(VariantRow.experiment_id == experiment_id).order_by(col(VariantRow.position))
    )
    return tuple(
        VariantView(
            id=row.id,
            name=row.name,
            values=row.values,
            agent_id=row.agent_id,
            agent_version=", ".join(sorted(versions[row.id])) or None,
            agent_config=row.agent_config,
            config_hash=row.config_hash,
            is_baseline=row.is_baseline,
            is_control=row.is_control,
        )
        for row in rows
    )


def _tasks(session: Session, experiment_id: str) -> tuple[TaskView, ...]:
    rows = session.exec(select(TaskRow).where(TaskRow.experiment_id == experiment_id).order_by(col(TaskRow.position)))
    return tuple(
        TaskView(
            id=row.id,
            version=row.version,
            title=row.title,
            category=row.category,
            difficulty=row.difficulty,
            dataset=row.dataset,
            description=row.description,
        )
        for row in rows
    )


def _runs(session: Session, folder: ExperimentFolder, *, held: bool) -> tuple[RunView, ...]:
    rows = session.exec(select(RunRow).where(RunRow.experiment_id == folder.id).order_by(col(RunRow.position)))
    evaluations = _by_run(session.exec(select(EvaluationRow).where(EvaluationRow.experiment_id == folder.id)))
    agents = _by_run(session.exec(select(AgentObservationRow).where(AgentObservationRow.experiment_id == folder.id)))
    metrics = _metrics(session, folder.id)
    artifacts = _artifacts(session, folder)
    return tuple(
        _run_view(row, evaluations.get(row.id), agents.get(row.id), metrics[row.id], artifacts[row.id], held=held)
        for row in rows
    )


def _by_run[T: (EvaluationRow, AgentObservationRow)](rows: Iterable[T]) -> Mapping[str, T]:
    return {row.run_id: row for row in rows}


def _metrics(session: Session, experiment_id: str) -> Mapping[str, dict[str, Reading]]:
    rows = session.exec(
        select(MetricRow).where(MetricRow.experiment_id == experiment_id).order_by(col(MetricRow.metric))
    )
    by_run: dict[str, dict[str, Reading]] = defaultdict(dict)
    for row in rows:
        by_run[row.run_id][row.metric] = Reading(value=row.value, source=row.source, unavailable=row.unavailable)
    return by_run


def _artifacts(session: Session, folder: ExperimentFolder) -> Mapping[str, tuple[ArtifactView, ...]]:
    rows = session.exec(
        select(ArtifactRow).where(ArtifactRow.experiment_id == folder.id).order_by(col(ArtifactRow.name))
    )
    by_run: dict[str, tuple[ArtifactView, ...]] = defaultdict(tuple)
    base = folder.path.absolute()
    for row in rows:
        path = base / row.run_id / row.name
        view = ArtifactView(name=row.name, path=path, sha256=row.sha256, size=row.size, media_type=row.media_type)
        by_run[row.run_id] += (view,)
    return by_run


def _run_view(
    row: RunRow,
    evaluation: EvaluationRow | None,
    agent: AgentObservationRow | None,
    metrics: Mapping[str, Reading],
    artifacts: tuple[ArtifactView, ...],
    *,
    held: bool,
) -> RunView:
    state = RunState(row.state)
    interrupted = row.started and state not in TERMINAL and not held
    outcome = evaluation.outcome if evaluation else None
    return RunView(
        id=row.id,
        experiment_id=row.experiment_id,
        variant_id=row.variant_id,
        task_id=row.task_id,
        repetition=row.repetition,
        state=state,
        interrupted=interrupted,
        outcome=Outcome(outcome) if outcome else None,
        solved=evaluation.solved if evaluation else None,
        reason=f"AK-Bench itself ended in state {state} and left no result" if interrupted else row.reason,
        started_at=row.started_at,
        finished_at=row.finished_at,
        agent_version=row.agent_version,
        session_id=agent.session_id if agent else None,
        final_message=agent.final_message if agent else None,
        model_source=row.model_source,
        sandbox=row.sandbox,
        metrics=metrics,
        config=agent.config if agent else (),
        tests=evaluation.tests if evaluation else (),
        touched_protected=evaluation.touched_protected if evaluation else (),
        oddities=row.oddities,
        artifacts=artifacts,
    )
