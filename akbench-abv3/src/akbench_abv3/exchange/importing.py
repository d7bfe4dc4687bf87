"""The results of an L1 judge as an AK-Bench experiment, so that its experiments can be compared as variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from akbench.experiment.plan import AgentChoice, Plan, PlannedRun, PlannedTask, Variant
from akbench.run.journal import RunFolder
from akbench.run.lifecycle import RunState
from akbench.run.record import ExperimentEnd, ExperimentRecord, RunResult
from akbench.spec import Outcome, Reading, unavailable
from akbench.store.folder import ExperimentFolder
from akbench.store.index import Index
from akbench.validity import judge_experiment
from akbench_abv3 import __version__
from akbench_abv3.completed import TRANSCRIPT, RunStatus
from akbench_abv3.exchange.judged import Document, JudgedExperiment, JudgedRepository, JudgedRun, read_results
from akbench_abv3.exchange.outcome import METRIC_KEYS
from akbench_abv3.stated import RUN_RESULT

__all__ = ["ALL_POINTS", "LABEL", "NOT_STATED", "SOLVING_METRICS", "import_results"]

LABEL = "imported from ABV3-L1"
NOT_STATED = "not stated"
ALL_POINTS = "all-data-points"
"""The one task of an experiment that has only an aggregate."""
SOLVING_METRICS = frozenset(
    {"accuracy", "correct", "pass_rate", "passed", "resolved", "solved", "success", "success_rate", "task_success_rate"}
)
"""Main metrics whose 1 and 0 for a single data point say that it was solved or not. Of others L1 does not tell."""
SOURCE = "result of the ABV3-L1 repository"
ENDED = {
    RunStatus.INTERRUPTED: RunState.CANCELLED,
    RunStatus.FAILED: RunState.INFRASTRUCTURE_ERROR,
    RunStatus.TIMEOUT: RunState.INFRASTRUCTURE_ERROR,
    RunStatus.NO_RESULT: RunState.INFRASTRUCTURE_ERROR,
    RunStatus.INVALID_RESULT: RunState.INFRASTRUCTURE_ERROR,
}
"""An assessment that failed says nothing about the agent, also when it ran out of time."""


def import_results(source: Path, data: Path) -> str:
    """Read the repository at `source` (or the results folder of one) into the store; returns the experiment's id.

    AK-Bench neither ran nor judged any of it: the experiment is labelled, and is at best valid with warnings. Raises
    `InputError` where there is nothing that can be imported.
    """
    judged = read_results(source)
    entries = tuple(_entries(judged))
    plan = _plan(entries)
    now = datetime.now(UTC)
    with Index.open(data) as index:
        record = _record(index.next_experiment_id(), judged, plan, now)
        folder = ExperimentFolder(data, record.id)
        with folder.hold():
            folder.begin(record)
            results = {entry.planned.id: _store(folder, entry) for entry in entries if entry.is_recorded}
            status, reasons = judge_experiment(plan, results)
            folder.end(ExperimentEnd(status=status, reasons=reasons, finished_at=datetime.now(UTC)))
            index.update_experiment(record.id)
    return record.id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A run to be: its place in the plan and what is there of it."""

    planned: PlannedRun
    variant: Variant
    task: PlannedTask
    run: JudgedRun
    labels: tuple[str, ...]

    @property
    def is_recorded(self) -> bool:
        """Whether anything says how it ended; otherwise it counts as not finished."""
        record = self.run.record
        ended = record is not None and record.status in ENDED
        return self.run.result is not None or self.run.fault is not None or ended


def _entries(judged: JudgedRepository) -> Iterator[_Entry]:
    number = 0
    for experiment in judged.experiments:
        variant = _variant(experiment)
        for run in _runs(experiment):
            number += 1
            task, repetition = _task(judged, run)
            planned = PlannedRun(id=f"run-{number:04d}", variant_id=variant.id, task_id=task.id, repetition=repetition)
            labels = run.asked.labels if run.asked else ()
            yield _Entry(planned=planned, variant=variant, task=task, run=run, labels=labels)


def _runs(experiment: JudgedExperiment) -> tuple[JudgedRun, ...]:
    """The runs; where none has a result of its own, which L1 allows, the aggregate stands for them all."""
    if experiment.whole is not None and not any(run.result for run in experiment.runs):
        return (JudgedRun(name=ALL_POINTS, result=experiment.whole),)
    return experiment.runs


def _variant(experiment: JudgedExperiment) -> Variant:
    documents = [run.result for run in experiment.runs if run.result] + ([experiment.whole] if experiment.whole else [])
    asked = next((run.asked for run in experiment.runs if run.asked), None)
    if asked is not None:
        part = asked.variant
        return Variant(
            id=experiment.name,
            name=part.name,
            values=part.values,
            agent=replace(
                _agent(part.agent, part.agent_version, part.config),
                receives_reference_solution=part.receives_reference_solution,
            ),
            config_hash=part.config_hash,
            is_baseline=part.is_baseline,
            is_control=part.is_control,
        )
    name, version = next((each.agent for each in documents if each.agent[0]), (None, None))
    return Variant(
        id=experiment.name,
        name=experiment.name,
        values={},
        agent=_agent(name or NOT_STATED, version or NOT_STATED, {}),
        config_hash=NOT_STATED,
    )


def _agent(name: str, version: str, config: object) -> AgentChoice:
    settings = config if isinstance(config, dict) else {}
    return AgentChoice(id=name, version=version, adapter="none (imported)", config=settings, model=None)


def _task(judged: JudgedRepository, run: JudgedRun) -> tuple[PlannedTask, int]:
    """The data point. A run config of the same name in another experiment is taken for the same one."""
    part = run.asked.task if run.asked else None
    task = PlannedTask(
        id=part.id if part else run.name,
        version=part.version if part else NOT_STATED,
        title=part.title if part else run.name,
        category=part.category if part else NOT_STATED,
        difficulty=part.difficulty if part else NOT_STATED,
        dataset=judged.repository.name,
        folder="",
        digest=part.digest if part else NOT_STATED,
        description="ABV3-L1 does not state what the agent was asked.",
    )
    return task, run.asked.repetition if run.asked else 1


def _plan(entries: tuple[_Entry, ...]) -> Plan:
    variants = {entry.variant.id: entry.variant for entry in entries}
    tasks = {entry.task.id: entry.task for entry in entries}
    kept = dict.fromkeys(label for entry in entries for label in entry.labels)
    return Plan(
        variants=tuple(variants.values()),
        tasks=tuple(tasks.values()),
        runs=tuple(entry.planned for entry in entries),
        repetitions=max(Counter((each.planned.variant_id, each.planned.task_id) for each in entries).values()),
        concurrency=1,
        timeout_seconds=0,  # of a plan that nothing will be run from
        sandbox=NOT_STATED,
        environment=NOT_STATED,
        warnings=("the results were imported: AK-Bench neither ran nor judged them, and confirmed no configuration",),
        labels=(LABEL, *kept),
    )


def _record(experiment_id: str, judged: JudgedRepository, plan: Plan, now: datetime) -> ExperimentRecord:
    repository = judged.repository
    return ExperimentRecord(
        id=experiment_id,
        descriptor_id=repository.name,
        descriptor_version=repository.version,
        title=f"{repository.name} {repository.version} ({LABEL})",
        created_at=now,
        dataset_id=repository.name,
        dataset_version=repository.version,
        dataset_hash=NOT_STATED,
        descriptor=judged.description,
        plan=plan,
        snapshots={},
        extensions={"akbench-abv3": __version__},
    )


def _store(experiment: ExperimentFolder, entry: _Entry) -> RunResult:
    path = experiment.run_path(entry.planned.id)
    path.mkdir(parents=True)
    folder = RunFolder(path)
    folder.record("imported", f"read from the run {entry.run.name} of an ABV3-L1 repository")
    if entry.run.result is not None:
        folder.write(f"abv3/{RUN_RESULT}", entry.run.result.text.encode(), "application/json")
    if entry.run.transcript is not None:
        folder.write(f"abv3/{TRANSCRIPT}", entry.run.transcript.encode(), "application/json")
    return folder.finish(_result(experiment.id, entry))


def _result(experiment_id: str, entry: _Entry) -> RunResult:
    document, record = entry.run.result, entry.run.record
    extra = document.extra if document else None
    solved = _solved(document) if document else None
    state, reason = _ending(entry.run, solved=solved)
    return RunResult(
        experiment_id=experiment_id,
        run_id=entry.planned.id,
        state=state,
        reason=reason,
        outcome=_outcome(extra.outcome) if extra else None,
        score=None,
        solved=solved,
        started_at=document.time("started_at") if document else _moment(record.started_at if record else None),
        finished_at=document.time("finished_at") if document else _moment(record.finished_at if record else None),
        agent_status=None,
        error_class=None,
        agent_version=document.agent[1] if document else None,
        session_id=None,
        final_message=None,
        observed_models=(),
        model_source=extra.model_source if extra else None,
        config=(),
        metrics=_readings(document) if document else {},
        tests=(),
        touched_protected=(),
        oddities=(),
        artifacts=(),
    )


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def _outcome(name: str | None) -> Outcome | None:
    return Outcome(name) if name in set(Outcome) else None


def _solved(document: Document) -> bool | None:
    """Whether the one data point was solved; None where the result does not say so."""
    result = document.result
    info = result.metric_info.get(result.main_metric)
    is_told = result.count == 1 and result.main_metric in SOLVING_METRICS and result.main_value in {0, 1}
    if not is_told or (info is not None and info.higher_is_better is False):
        return None
    return result.main_value == 1


def _ending(run: JudgedRun, *, solved: bool | None) -> tuple[RunState, str | None]:
    if run.result is not None:
        extra = run.result.extra
        state = RunState(extra.state) if extra and extra.state in set(RunState) and solved is not None else None
        return state or RunState.COMPLETED, None if solved is not None else _why_unclassified(run.result)
    if run.fault is not None:
        return RunState.INFRASTRUCTURE_ERROR, f"its result is not valid: {run.fault}"
    assert run.record is not None
    said = f"abv3 recorded the run as {run.record.status.value}"
    code = f" (exit code {run.record.exit_code})" if run.record.exit_code is not None else ""
    return ENDED[run.record.status], f"{said}{code}; that says nothing about the agent"


def _why_unclassified(document: Document) -> str:
    result = document.result
    if result.count != 1:
        return f"one result for {result.count} data points: which of them were solved is not stated"
    return f"whether it was solved is not stated: the main metric is {result.main_metric} ({result.main_value:g})"


def _readings(document: Document) -> dict[str, Reading]:
    """The metrics under AK-Bench's names where they are its own, else under theirs."""
    names = {key: metric for metric, key in METRIC_KEYS.items()} if document.extra else {}
    reasons = document.extra.unavailable if document.extra else {}
    return {
        names.get(key, key): Reading(value=value, source=SOURCE)
        if value is not None
        else unavailable(reasons.get(key, "null in the result: unavailable, no reason stated"))
        for key, value in document.result.metrics.items()
    }
