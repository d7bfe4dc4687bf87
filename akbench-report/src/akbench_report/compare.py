"""Comparisons of runs: counts, rates with intervals, differences. Pure: no disk, no clock, no chance."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median

from scipy.stats import binomtest

from akbench.run.lifecycle import RunState
from akbench.spec import ConfigState, Reading, VerificationStatus, unavailable
from akbench.store.view import ExperimentView, RunView, TaskView, VariantView

__all__ = [
    "Case",
    "ConfigFinding",
    "Delta",
    "Group",
    "Interval",
    "MatrixBlock",
    "Standing",
    "Summary",
    "Tally",
    "TaskHistory",
    "cases_of",
    "config_findings",
    "delta_success",
    "groups",
    "matrix",
    "metric_ids",
    "reading",
    "run_seconds",
    "standing",
    "summarise",
    "summarise_metric",
    "summarise_time",
    "tally",
    "task_histories",
]

CONFIDENCE = 0.95


class Standing(StrEnum):
    """How a run stands to the question whether the agent solved the task; the value is the word for people."""

    SOLVED = "solved"
    UNSOLVED = "not solved"
    AGENT_FAILED = "agent failed"
    TIMEOUT = "timed out"
    UNCLASSIFIED = "unclassified"
    INFRASTRUCTURE = "infrastructure error"
    EVALUATION = "evaluation error"
    CONFIGURATION = "invalid configuration"
    CANCELLED = "cancelled"
    UNFINISHED = "unfinished"


_STANDING_OF_STATE = {
    RunState.FAILED: Standing.AGENT_FAILED,
    RunState.TIMEOUT: Standing.TIMEOUT,
    RunState.CANCELLED: Standing.CANCELLED,
    RunState.INFRASTRUCTURE_ERROR: Standing.INFRASTRUCTURE,
    RunState.INVALID_CONFIGURATION: Standing.CONFIGURATION,
    RunState.EVALUATION_ERROR: Standing.EVALUATION,
}


def standing(run: RunView) -> Standing:
    """The one standing of `run`. Whether it counts for quality is `RunView.solved`'s to say, not this one's."""
    if not run.is_final:
        return Standing.UNFINISHED
    if run.solved:
        return Standing.SOLVED
    if run.state is RunState.COMPLETED:
        return Standing.UNCLASSIFIED if run.solved is None else Standing.UNSOLVED
    return _STANDING_OF_STATE[run.state]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run together with what it was a run of."""

    experiment: ExperimentView
    variant: VariantView
    task: TaskView
    run: RunView

    @property
    def standing(self) -> Standing:
        """How the run stands; see `standing`."""
        return standing(self.run)

    @property
    def labels(self) -> tuple[str, ...]:
        """What must be said wherever a number of this run appears."""
        own = (self.run.model_source,) if self.run.model_source not in {None, "provider"} else ()
        invalid = ("invalid experiment",) if self.experiment.status == "invalid" else ()
        return tuple(dict.fromkeys(label for label in (*self.experiment.labels, *own, *invalid) if label))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHistory:
    """A task as its latest experiment had it, and all its cases."""

    task: TaskView
    cases: tuple[Case, ...]


def task_histories(experiments: Sequence[ExperimentView], cases: Iterable[Case]) -> tuple[TaskHistory, ...]:
    """The tasks of `experiments` by id, those without runs too."""
    latest = {task.id: task for experiment in _by_age(experiments) for task in experiment.tasks}
    own: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        own[case.task.id].append(case)
    return tuple(TaskHistory(task=latest[name], cases=tuple(own[name])) for name in sorted(latest))


def _by_age(experiments: Iterable[ExperimentView]) -> list[ExperimentView]:
    return sorted(experiments, key=lambda experiment: experiment.created_at)


def cases_of(experiments: Iterable[ExperimentView]) -> tuple[Case, ...]:
    """All runs of the experiments, each with its variant and task."""
    found: list[Case] = []
    for experiment in experiments:
        variants = {variant.id: variant for variant in experiment.variants}
        tasks = {task.id: task for task in experiment.tasks}
        found.extend(
            Case(experiment=experiment, variant=variants[run.variant_id], task=tasks[run.task_id], run=run)
            for run in experiment.runs
        )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A proportion with its Wilson score interval; all in [0, 1]."""

    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of a set of runs.

    - `judged`: the runs that say something about the agent, the only denominator of `success`; `solved` of them were
      solved. `success` is None when nothing was judged.
    - `standings`: every run under its standing; `judged_standings` only those that were judged.
    """

    runs: int
    judged: int
    solved: int
    success: Interval | None
    standings: Mapping[Standing, int]
    judged_standings: Mapping[Standing, int]

    @property
    def finished(self) -> int:
        """Runs that have ended for good."""
        return self.runs - self.standings.get(Standing.UNFINISHED, 0)


def tally(runs: Iterable[RunView]) -> Tally:
    """Count `runs`."""
    every = tuple(runs)
    judged = [run for run in every if run.solved is not None]
    solved = sum(run.solved is True for run in judged)
    return Tally(
        runs=len(every),
        judged=len(judged),
        solved=solved,
        success=_wilson(solved, len(judged)),
        standings=Counter(map(standing, every)),
        judged_standings=Counter(map(standing, judged)),
    )


def _wilson(successes: int, trials: int) -> Interval | None:
    if not trials:
        return None
    bounds = binomtest(successes, trials).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return Interval(rate=successes / trials, low=float(bounds.low), high=float(bounds.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """success_variant - success_baseline, in [-1, 1]; None with the `unavailable` reason.

    `caution` says when the two rates do not rest on the same tasks.
    """

    value: float | None
    unavailable: str | None = None
    caution: str | None = None


def delta_success(variant: Sequence[RunView], baseline: Sequence[RunView]) -> Delta:
    """How much more often `variant` solved its tasks than `baseline` did."""
    ours, theirs = tally(variant).success, tally(baseline).success
    if ours is None:
        return Delta(value=None, unavailable="no run of this variant was judged")
    if theirs is None:
        return Delta(value=None, unavailable="no run of the baseline was judged")
    return Delta(value=ours.rate - theirs.rate, caution=_imbalance(variant, baseline))


def _imbalance(variant: Sequence[RunView], baseline: Sequence[RunView]) -> str | None:
    ours, theirs = _judged_per_task(variant), _judged_per_task(baseline)
    if ours == theirs:
        return None
    uneven = [task for task in ours.keys() | theirs.keys() if ours[task] != theirs[task]]
    return f"judged unequally often than the baseline on {len(uneven)} task{'s' if len(uneven) > 1 else ''}"


def _judged_per_task(runs: Iterable[RunView]) -> Counter[str]:
    return Counter(run.task_id for run in runs if run.solved is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One metric over a set of runs: `n` numeric readings, and why the others are missing (reason -> runs)."""

    metric: str
    runs: int
    n: int
    median: float | None
    mean: float | None
    low: float | None
    high: float | None
    missing: Mapping[str, int]


def summarise(metric: str, readings: Sequence[Reading]) -> Summary:
    """Summarise the `readings` of one metric, one per run."""
    values = [reading.value for reading in readings if _is_number(reading)]
    numbers = [float(value) for value in values if value is not None]
    return Summary(
        metric=metric,
        runs=len(readings),
        n=len(numbers),
        median=median(numbers) if numbers else None,
        mean=fmean(numbers) if numbers else None,
        low=min(numbers, default=None),
        high=max(numbers, default=None),
        missing=Counter(_reason(reading) for reading in readings if not _is_number(reading)),
    )


def _is_number(reading: Reading) -> bool:
    return isinstance(reading.value, int | float) and not isinstance(reading.value, bool)


def _reason(reading: Reading) -> str:
    return reading.unavailable or "not a number"


def reading(run: RunView, metric: str) -> Reading:
    """The run's reading of `metric`; where the run has none at all, that is the reason."""
    return run.metrics.get(metric, unavailable("not recorded for this run"))


def run_seconds(run: RunView) -> Reading:
    """From the run's start to its end (seconds), its evaluation included."""
    if run.started_at is None:
        return unavailable("its start was not recorded" if run.is_final else "the run did not start")
    if run.finished_at is None:
        return unavailable("its end was not recorded" if run.is_final else "the run did not finish")
    return Reading(value=(run.finished_at - run.started_at).total_seconds(), source="times of the run")


def summarise_metric(metric: str, runs: Iterable[RunView]) -> Summary:
    """Summarise one metric of `runs`."""
    return summarise(metric, [reading(run, metric) for run in runs])


def summarise_time(runs: Iterable[RunView]) -> Summary:
    """Summarise how long `runs` took."""
    return summarise("run_seconds", [run_seconds(run) for run in runs])


def metric_ids(runs: Iterable[RunView]) -> tuple[str, ...]:
    """Every metric that any of the runs has or lacks a reading of, in order of first appearance."""
    return tuple(dict.fromkeys(metric for run in runs for metric in run.metrics))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs that may be counted together: same `key`, same `labels`.

    `statuses` are the statuses other than ``valid`` of the experiments that the runs come from.
    """

    key: tuple[str, ...]
    labels: tuple[str, ...]
    cases: tuple[Case, ...]
    statuses: tuple[str, ...]

    @property
    def runs(self) -> tuple[RunView, ...]:
        """The runs alone."""
        return tuple(case.run for case in self.cases)

    @property
    def tally(self) -> Tally:
        """The counts of the group."""
        return tally(self.runs)


def groups(cases: Iterable[Case], key: Callable[[Case], tuple[str, ...]]) -> tuple[Group, ...]:
    """Split by `key`, and further by label, so that no number mixes runs that carry different labels."""
    parts: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Case]] = defaultdict(list)
    for case in cases:
        parts[key(case), case.labels].append(case)
    return tuple(
        Group(
            key=found,
            labels=labels,
            cases=tuple(parts[found, labels]),
            statuses=_statuses(parts[found, labels]),
        )
        for found, labels in sorted(parts)
    )


def _statuses(cases: Iterable[Case]) -> tuple[str, ...]:
    return tuple(sorted({case.experiment.status for case in cases} - {"valid"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixBlock:
    """The tasks of one category and difficulty against the variants.

    `cells` maps (task id, variant id) to the runs, by repetition; `tallies` maps variant id to the block's counts.
    """

    category: str
    difficulty: str
    tasks: tuple[TaskView, ...]
    cells: Mapping[tuple[str, str], tuple[RunView, ...]]
    tallies: Mapping[str, Tally]


DIFFICULTIES = ("easy", "medium", "hard", "expert")


def difficulty_rank(difficulty: str) -> tuple[int, str]:
    """Sorts difficulties from easy to expert, unknown ones after them."""
    known = DIFFICULTIES.index(difficulty) if difficulty in DIFFICULTIES else len(DIFFICULTIES)
    return known, difficulty


def matrix(experiment: ExperimentView) -> tuple[MatrixBlock, ...]:
    """Tasks against variants, in blocks of equal category and difficulty."""
    runs: dict[tuple[str, str], list[RunView]] = defaultdict(list)
    for run in experiment.runs:
        runs[run.task_id, run.variant_id].append(run)
    blocks = sorted({(task.category, difficulty_rank(task.difficulty)) for task in experiment.tasks})
    return tuple(_block(experiment, runs, category, rank[1]) for category, rank in blocks)


def _block(
    experiment: ExperimentView, runs: Mapping[tuple[str, str], list[RunView]], category: str, difficulty: str
) -> MatrixBlock:
    tasks = tuple(task for task in experiment.tasks if (task.category, task.difficulty) == (category, difficulty))
    cells = {
        (task.id, variant.id): tuple(sorted(runs.get((task.id, variant.id), ()), key=lambda run: run.repetition))
        for task in tasks
        for variant in experiment.variants
    }
    tallies = {
        variant.id: tally(run for task in tasks for run in cells[task.id, variant.id])
        for variant in experiment.variants
    }
    return MatrixBlock(category=category, difficulty=difficulty, tasks=tasks, cells=cells, tallies=tallies)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFinding:
    """One configuration state and the runs in which it was found."""

    state: ConfigState
    runs: tuple[RunView, ...]


_SEVERITY = (
    VerificationStatus.MISMATCH,
    VerificationStatus.RUNTIME_ERROR,
    VerificationStatus.UNVERIFIED,
    VerificationStatus.UNSUPPORTED,
    VerificationStatus.NOT_CONFIGURED,
    VerificationStatus.VERIFIED,
)


def config_findings(runs: Iterable[RunView]) -> tuple[ConfigFinding, ...]:
    """The distinct configuration states of the runs, by component and key, the worst first within a key."""
    states: dict[str, ConfigState] = {}
    found: dict[str, list[RunView]] = defaultdict(list)
    for run in runs:
        for state in run.config:
            identity = _identity(state)
            states[identity] = state
            found[identity].append(run)
    findings = (ConfigFinding(state=states[name], runs=tuple(found[name])) for name in states)
    return tuple(
        sorted(findings, key=lambda each: (each.state.component, each.state.key, _SEVERITY.index(each.state.status)))
    )


def _identity(state: ConfigState) -> str:
    values = (state.requested, state.configured, state.effective, state.observed)
    return json.dumps([state.component, state.key, values, state.status, state.source], sort_keys=True)
