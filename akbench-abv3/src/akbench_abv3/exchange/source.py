"""A stored run with everything that is told of it in another format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from akbench.experiment.plan import PlannedRun, PlannedTask, Variant
from akbench.run.record import ExperimentRecord
from akbench.spec import ToolCall, TraceEvent
from akbench.store.folder import ExperimentFolder
from akbench.store.query import Store
from akbench.store.runfiles import RunFiles, read_lines, read_run
from akbench.store.view import ExperimentView, RunView
from akbench_abv3.exchange.form import DatasetPart, ExperimentPart, RunConfig, TaskPart, VariantPart

__all__ = ["StoredExperiment", "StoredRun", "experiment_part", "run_config", "task_part", "variant_part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One run: as planned, as the store tells it, and its files."""

    record: ExperimentRecord
    variant: Variant
    task: PlannedTask
    planned: PlannedRun
    view: RunView
    folder: Path
    files: RunFiles
    trace: tuple[TraceEvent, ...]
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredExperiment:
    """An experiment and its runs in the plan's order."""

    record: ExperimentRecord
    view: ExperimentView
    runs: tuple[StoredRun, ...]

    @classmethod
    def read(cls, data: Path, experiment_id: str) -> StoredExperiment:
        """Read it. Raises `InputError` for an unknown experiment or a damaged plan."""
        view = Store(data).experiment(experiment_id)
        folder = ExperimentFolder(data, experiment_id)
        record = folder.record()
        views = {run.id: run for run in view.runs}
        runs = tuple(_run(record, run, views[run.id], folder.run_path(run.id)) for run in record.plan.runs)
        return cls(record=record, view=view, runs=runs)

    def of_variant(self, variant: Variant) -> tuple[StoredRun, ...]:
        """The runs of one variant."""
        return tuple(run for run in self.runs if run.variant.id == variant.id)


def _run(record: ExperimentRecord, planned: PlannedRun, view: RunView, folder: Path) -> StoredRun:
    return StoredRun(
        record=record,
        variant=next(each for each in record.plan.variants if each.id == planned.variant_id),
        task=next(each for each in record.plan.tasks if each.id == planned.task_id),
        planned=planned,
        view=view,
        folder=folder,
        files=read_run(folder),
        trace=read_lines(TraceEvent, folder / "agent_trace.jsonl", []),
        calls=read_lines(ToolCall, folder / "tool_calls.jsonl", []),
    )


def run_config(run: StoredRun) -> RunConfig:
    """What was requested of the run."""
    record, task = run.record, run.task
    limits = [record.plan.timeout_seconds, *([task.timeout_seconds] if task.timeout_seconds else [])]
    return RunConfig(
        experiment=experiment_part(record),
        variant=variant_part(run.variant),
        task=task_part(task),
        repetition=run.planned.repetition,
        dataset=DatasetPart(id=record.dataset_id, version=record.dataset_version, hash=record.dataset_hash),
        timeout_seconds=min(limits),
        sandbox=record.plan.sandbox,
        tree=run.files.manifest.tree if run.files.manifest else None,
        extensions=dict(record.extensions),
        labels=record.plan.labels,
    )


def experiment_part(record: ExperimentRecord) -> ExperimentPart:
    """What identifies the experiment descriptor."""
    snapshot = record.snapshots[f"experiment/{record.descriptor_id}"]
    return ExperimentPart(id=record.descriptor_id, version=record.descriptor_version, hash=str(snapshot["hash"]))


def variant_part(variant: Variant) -> VariantPart:
    """The variant as requested."""
    agent = variant.agent
    return VariantPart(
        id=variant.id,
        name=variant.name,
        values=dict(variant.values),
        config_hash=variant.config_hash,
        agent=agent.id,
        agent_version=agent.version,
        config=dict(agent.config),
        model=agent.model.base_url or agent.model.kind if agent.model else None,
        is_baseline=variant.is_baseline,
        is_control=variant.is_control,
        receives_reference_solution=agent.receives_reference_solution,
    )


def task_part(task: PlannedTask) -> TaskPart:
    """What identifies the task; nothing of how it is judged."""
    return TaskPart(
        id=task.id,
        version=task.version,
        title=task.title,
        category=task.category,
        difficulty=task.difficulty,
        digest=task.digest,
    )
