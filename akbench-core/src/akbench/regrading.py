"""Judging stored runs again: today's task and evaluators on the work that the agent left then."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from akbench import __version__
from akbench.catalogue import Catalogue
from akbench.dataset.dataset import Dataset, find_dataset, load_dataset
from akbench.dataset.tree import Tree
from akbench.environments import ready_environment
from akbench.evaluate.judging import WorkJudgement, judge_work
from akbench.experiment.publication import quarantined
from akbench.pipeline import ReadyTask, check_task, make_ready
from akbench.project import Project, cache_folder
from akbench.run.grading import GradedVerdict, GradingRecord, changed_tests, clear_drafts, keep_grading
from akbench.run.lifecycle import RunState
from akbench.run.record import FINAL_TREE, ExperimentRecord, RunResult, RunSpec
from akbench.run.verdict import EVALUATED, judged_verdict
from akbench.spec import HostError, InputError, Outcome
from akbench.store.folder import ExperimentFolder, stored_bytes
from akbench.store.gradings import read_gradings
from akbench.store.query import Store
from akbench.store.runfiles import read_run
from akbench.workspace.patch import apply_patch
from akbench.workspace.scratch import scratch_folder

__all__ = ["Graded", "Observer", "Regrading", "Skipped", "regrade"]

_JUDGED = frozenset({RunState.COMPLETED, RunState.FAILED, RunState.EVALUATION_ERROR})
_PATCH = "diff.patch"


class Observer(Protocol):
    """Is told what happens; changes nothing."""

    def preparing(self, text: str) -> None:
        """Something slow begins before the first grading."""

    def graded(self, graded: Graded) -> None:
        """A grading is durable, or was already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A run's grading; `reused` says that it was there already and nothing was run."""

    record: GradingRecord
    reused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A run that cannot be judged again, and why."""

    run_id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrading:
    """What came of judging again, in the plan's order."""

    experiment_id: str
    graded: tuple[Graded, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A stored run whose work can be judged; `final_tree` is what it left, None where that was not recorded."""

    path: Path
    spec: RunSpec
    result: RunResult
    patch: bytes
    final_tree: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """What grading the runs of one experiment needs."""

    dataset: Dataset
    catalogue: Catalogue
    ready: Mapping[str, ReadyTask]
    sandbox_name: str
    project: Project
    cancelled: threading.Event


def regrade(
    project: Project,
    catalogue: Catalogue,
    experiment_id: str,
    run_ids: Sequence[str],
    observer: Observer,
    cancelled: threading.Event,
) -> Regrading:
    """Judge the runs of an experiment again (all of them if none is named). No agent is run, no result is changed.

    A run that has a grading by the same task, evaluators, environment and sandbox keeps it, so that a command which
    was killed goes on where it was. Raises `InputError` for an unknown run, damaged files, and tasks that give another
    tree now than the agent got.
    """
    project.require_writable()
    Store(project.data).experiment(experiment_id)
    folder = ExperimentFolder(project.data, experiment_id)
    record = folder.record()
    found = [_work_of(folder, run_id) for run_id in _chosen(record, run_ids)]
    works = [each for each in found if isinstance(each, _Work)]
    skipped = [each for each in found if isinstance(each, Skipped)]
    graded: list[Graded] = []
    if works:
        bench = _bench(project, catalogue, record, works, observer, cancelled)
        with folder.hold():
            for outcome in _grade(bench, works):
                if isinstance(outcome, Skipped):
                    skipped.append(outcome)
                else:
                    graded.append(outcome)
                    observer.graded(outcome)
    return Regrading(experiment_id=experiment_id, graded=tuple(graded), skipped=tuple(skipped))


def _grade(bench: _Bench, works: Sequence[_Work]) -> Iterator[Graded | Skipped]:
    """Grade one run after the other, until it is cancelled."""
    for work in works:
        outcome = None if bench.cancelled.is_set() else _graded(bench, work)
        if outcome is None:
            return
        yield outcome


def _chosen(record: ExperimentRecord, run_ids: Sequence[str]) -> tuple[str, ...]:
    known = [run.id for run in record.plan.runs]
    for run_id in run_ids:
        if run_id not in known:
            close = get_close_matches(run_id, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; it has {known[0]} to {known[-1]}"
            raise InputError(f"the plan of {record.id} has no run {run_id!r}{hint}")
    return tuple(run_id for run_id in known if not run_ids or run_id in run_ids)


def _work_of(folder: ExperimentFolder, run_id: str) -> _Work | Skipped:
    path = folder.run_path(run_id)
    files = read_run(path)
    if files.unreadable:
        raise InputError(f"{files.unreadable[0]}; see akbench store verify", place=str(path))
    if files.manifest is None or files.result is None:
        return Skipped(run_id=run_id, reason="it has not finished")
    result = files.result
    if result.state not in _JUDGED or result.agent_status not in EVALUATED:
        how = result.agent_status if result.state in _JUDGED else result.state
        return Skipped(run_id=run_id, reason=f"it ended as {how}, so its work is not judged")
    recorded = next((artifact for artifact in result.artifacts if artifact.name == _PATCH), None)
    if recorded is None:
        return Skipped(run_id=run_id, reason=f"it has no {_PATCH}")
    patch = stored_bytes(path / _PATCH)
    if patch is None or hashlib.sha256(patch).hexdigest() != recorded.sha256:
        raise InputError("is not the file that was recorded; see akbench store verify", place=str(path / _PATCH))
    trees = [str(event.data["tree"]) for event in files.events if event.kind == FINAL_TREE and "tree" in event.data]
    final_tree = trees[-1] if trees else None
    return _Work(path=path, spec=files.manifest, result=result, patch=patch, final_tree=final_tree)


def _bench(
    project: Project,
    catalogue: Catalogue,
    record: ExperimentRecord,
    works: Sequence[_Work],
    observer: Observer,
    cancelled: threading.Event,
) -> _Bench:
    dataset = load_dataset(find_dataset(project.root, record.dataset_id))
    # Of the experiment's own choosing, not of the machine's: work of unknown origin runs nowhere else.
    environment = ready_environment(record.plan.environment, catalogue)
    ready = {}
    for task_id in dict.fromkeys(work.spec.task.id for work in works):
        task = dataset.task(task_id)
        check_task(task, catalogue)
        observer.preparing(f"task {task_id}")
        ready[task_id] = make_ready(task, dataset, catalogue, cache_folder(), environment.sandbox)
    _require_same_trees(works, ready)
    return _Bench(
        dataset=dataset,
        catalogue=catalogue,
        ready=ready,
        sandbox_name=environment.sandbox_id,
        project=project,
        cancelled=cancelled,
    )


def _require_same_trees(works: Sequence[_Work], ready: Mapping[str, ReadyTask]) -> None:
    for work in works:
        task_id, now = work.spec.task.id, ready[work.spec.task.id].snapshot.tree
        if now != work.spec.tree:
            raise InputError(
                f"task {task_id!r} gives the agent another tree now ({now}) than in {work.spec.run_id} "
                f"({work.spec.tree}); its work cannot be judged by today's task: run the experiment again, "
                "or grade the other runs by name",
                place=str(ready[task_id].assembled.task.folder),
            )


def _graded(bench: _Bench, work: _Work) -> Graded | Skipped | None:
    """The run's grading, or why it cannot have one; None if it was cancelled."""
    key = _key(bench, work)
    unreadable: list[str] = []
    earlier = read_gradings(work.path, unreadable)
    if unreadable:
        raise InputError(f"{unreadable[0]}; see akbench store verify", place=str(work.path))
    known = next((grading for grading in earlier if grading.key == key), None)
    if known is not None:
        return Graded(record=known, reused=True)
    clear_drafts(work.path)
    number = max((grading.number for grading in earlier), default=0) + 1
    with _scratch(bench.project, work.spec) as scratch:
        final = _final_tree(bench, work, scratch)
        if isinstance(final, str):
            return Skipped(run_id=work.spec.run_id, reason=final)
        judged = _judged(bench, work, final, scratch)
        if judged is None:
            return None
        record = _record(bench, work, judged, key=key, number=number, tree=final.id)
        return Graded(record=keep_grading(work.path, record, judged), reused=False)


def _final_tree(bench: _Bench, work: _Work, scratch: Path) -> Tree | str:
    """What the agent left, made again; a sentence if that cannot be done."""
    try:
        final = apply_patch(bench.ready[work.spec.task.id].snapshot, work.patch, scratch / "final.git")
    except InputError as error:
        return f"what the agent left cannot be made again from {_PATCH}: {error.message}"
    if work.final_tree not in {None, final.id}:
        return f"{_PATCH} leads to the tree {final.id}, the agent left {work.final_tree}"
    return final


def _judged(bench: _Bench, work: _Work, final: Tree, scratch: Path) -> WorkJudgement | None:
    """The judgement; None if it was cancelled. Raises `HostError` when that is not possible here."""
    ready = bench.ready[work.spec.task.id]
    found = judge_work(
        assembled=ready.assembled,
        final=final,
        evaluators=ready.evaluators,
        environment=ready.environment,
        sandbox=ready.sandbox,
        scratch=scratch / "evaluation",
        cancelled=bench.cancelled,
        quarantined=quarantined(ready.assembled.task, bench.catalogue),
    )
    if bench.cancelled.is_set():
        return None
    if found.judgement.outcome is Outcome.INFRASTRUCTURE_ERROR:
        raise HostError(f"{work.spec.run_id} could not be judged here: {found.judgement.reason}")
    return found


def _key(bench: _Bench, work: _Work) -> str:
    """Everything that the judgement depends on."""
    ready = bench.ready[work.spec.task.id]
    task = ready.assembled.task
    parts = [
        __version__,
        task.digest,
        task.repository_digest,
        ready.snapshot.tree,
        ready.environment.key,
        bench.sandbox_name,
        hashlib.sha256(work.patch).hexdigest(),
        *(f"{each.part.adapter} {each.distribution} {each.version}" for each in ready.evaluators),
        *quarantined(task, bench.catalogue),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _record(bench: _Bench, work: _Work, judged: WorkJudgement, *, key: str, number: int, tree: str) -> GradingRecord:
    ready = bench.ready[work.spec.task.id]
    task = ready.assembled.task
    status = work.result.agent_status
    assert status is not None
    return GradingRecord(
        experiment_id=work.spec.experiment_id,
        run_id=work.spec.run_id,
        number=number,
        key=key,
        graded_at=datetime.now(UTC),
        duration_seconds=judged.duration_seconds,
        task=task.descriptor.id,
        task_version=task.descriptor.version,
        task_digest=task.digest,
        dataset_version=bench.dataset.model.version,
        dataset_hash=bench.dataset.hash,
        evaluator="+".join(each.part.adapter for each in ready.evaluators),
        evaluator_version="+".join(each.version for each in ready.evaluators),
        environment=ready.environment.key,
        sandbox=bench.sandbox_name,
        patch_sha256=hashlib.sha256(work.patch).hexdigest(),
        tree=tree,
        before=GradedVerdict.of_result(work.result),
        after=GradedVerdict.of(judged_verdict(status, judged.judgement), judged.judgement.score),
        tests=changed_tests(work.result.tests, judged.judgement.tests),
        touched_protected=judged.touched,
    )


@contextmanager
def _scratch(project: Project, spec: RunSpec) -> Iterator[Path]:
    prefix = f"{spec.experiment_id}-{spec.run_id}-grading-"
    with scratch_folder(prefix, project.workspaces) as path:
        path.chmod(0o755)
        yield path
