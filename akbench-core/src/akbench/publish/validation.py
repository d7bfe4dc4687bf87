"""Validating a task by running it in all its states; the verdict is what the dataset stores."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from akbench.dataset.assembly import AssembledTask
from akbench.dataset.dataset import Task
from akbench.dataset.environment import PreparedEnvironment
from akbench.dataset.tree import Tree
from akbench.dataset.verdict import Verdict, VerdictKey
from akbench.evaluate.judging import ReadyEvaluator, WorkJudgement, judge_work
from akbench.publish.findings import Judged, conclude
from akbench.publish.states import TreeState, tree_states, visible_file
from akbench.spec import HostError, InputError, Outcome, Sandbox
from akbench.workspace.removal import remove_tree
from akbench.workspace.snapshot import Snapshot

__all__ = ["TaskBench", "refusal", "validate_task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBench:
    """A task with everything that judging its trees needs; `scratch` is an empty folder of the caller's."""

    assembled: AssembledTask
    snapshot: Snapshot
    environment: PreparedEnvironment
    evaluators: tuple[ReadyEvaluator, ...]
    sandbox: Sandbox
    sandbox_name: str
    cache: Path
    scratch: Path
    cancelled: threading.Event

    def judge(self, tree: Tree, name: str) -> WorkJudgement:
        """Judge a tree as a run's would be. Raises `HostError` when that could not be done here."""
        room = self.scratch / name
        found = judge_work(
            assembled=self.assembled,
            final=tree,
            evaluators=self.evaluators,
            environment=self.environment,
            sandbox=self.sandbox,
            scratch=room,
            cancelled=self.cancelled,
        )
        remove_tree(room)
        if found.judgement.outcome is Outcome.INFRASTRUCTURE_ERROR:
            task_id = self.assembled.task.descriptor.id
            raise HostError(f"task {task_id!r} could not be judged here: {found.judgement.reason}")
        return found


def validate_task(bench: TaskBench, key: VerdictKey, *, repetitions: int) -> Verdict:
    """Judge the task in every state, `repetitions` times each. Raises `HostError` when that is not possible here."""
    task = bench.assembled.task
    try:
        states = tree_states(bench.assembled, bench.snapshot, bench.cache, bench.scratch / "states")
    except InputError as error:
        return refusal(task, key, error)
    judged = {state.name: _judged(bench, state, repetitions) for state in states}
    found = conclude(
        judged,
        visible=lambda test_id: visible_file(bench.assembled, test_id),
        has_original=bench.assembled.original is not None,
    )
    clean = _cleaner(bench)
    return Verdict(
        task=task.descriptor.id,
        task_version=task.descriptor.version,
        valid=not found.problems,
        problems=tuple(clean(problem) for problem in found.problems),
        key=key,
        environment=bench.environment.key,
        image=bench.environment.image,
        sandbox=bench.sandbox_name,
        repetitions=repetitions,
        states={name: state.model_copy(update={"reason": clean(state.reason)}) for name, state in found.states.items()},
        fail_to_pass=found.fail_to_pass,
        pass_to_pass=found.pass_to_pass,
        quarantined=found.quarantined,
        state_seconds=dict(found.state_seconds),
        test_seconds={name: dict(seconds) for name, seconds in found.test_seconds.items()},
    )


def refusal(task: Task, key: VerdictKey, error: InputError) -> Verdict:
    """The verdict on a task whose own files cannot be used as they are."""
    problem = str(error).replace(f"{task.folder}/", "").replace(f"{task.folder.parents[1]}/", "")
    return Verdict(
        task=task.descriptor.id,
        task_version=task.descriptor.version,
        valid=False,
        problems=(problem,),
        key=key,
    )


def _judged(bench: TaskBench, state: TreeState, repetitions: int) -> Judged:
    """What was judged; the scores are those of the tests: work that is small or tidy has not solved anything yet."""
    count = repetitions if state.repeated else 1
    found = [bench.judge(state.tree, f"{state.name.replace('/', '-')}-{number}") for number in range(count)]
    return Judged(
        judgements=tuple(replace(each.judgement, score=each.tested_score) for each in found),
        seconds=tuple(each.duration_seconds for each in found),
    )


def _cleaner(bench: TaskBench) -> Callable[[str], str]:
    """Takes the folders of this machine out of what is stored."""
    here = (bench.scratch, bench.assembled.task.folder, bench.environment.root, bench.environment.base_prefix)
    folders = [folder for folder in here if folder is not None]

    def clean(text: str) -> str:
        for folder in folders:
            text = text.replace(f"{folder}/", "")
        return text

    return clean
