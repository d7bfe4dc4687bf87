"""Validating a task by running it: unsolved it must fail its targets only, solved it must pass everything."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.assembly import AssembledTask
from akbench.dataset.environment import PreparedEnvironment
from akbench.dataset.tree import Tree
from akbench.evaluate.evaluation import evaluate
from akbench.evaluate.protection import judged_tree
from akbench.spec import Evaluator, Judgement, Outcome, Sandbox, TestResult, TestRole
from akbench.workspace.reference import reference_solution
from akbench.workspace.snapshot import Snapshot

__all__ = ["TaskValidation", "judge_states", "validate_task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskValidation:
    """What validating a task found. `seconds` is the wall clock of it all; test counts are of the solved state."""

    task_id: str
    problems: tuple[str, ...]
    seconds: float
    target_tests: int
    regression_tests: int

    @property
    def ok(self) -> bool:
        """Whether the task measures what it should."""
        return not self.problems


def validate_task(
    assembled: AssembledTask,
    snapshot: Snapshot,
    environment: PreparedEnvironment,
    evaluator: Evaluator,
    sandbox: Sandbox,
    cache: Path,
    scratch: Path,
    cancelled: threading.Event,
) -> TaskValidation:
    """Evaluate the task unsolved and with its reference solution. `scratch` is an empty folder."""
    begun = time.monotonic()
    reference = reference_solution(assembled, snapshot, cache, scratch)

    def judged(tree: Tree, name: str) -> Judgement:
        task = assembled.task
        judged = judged_tree(
            final=tree, given=assembled.given, hidden=assembled.hidden, protected=task.descriptor.task.protected
        )
        return evaluate(
            tree=judged.tree,
            hidden_files=assembled.hidden_test_files,
            evaluator=evaluator,
            config=task.evaluator.model.evaluator.config,
            environment=environment,
            python_path=task.descriptor.task.environment.python_path,
            sandbox=sandbox,
            scratch=scratch / name,
            cancelled=cancelled,
        ).judgement

    unsolved, solved = judged(assembled.given, "unsolved"), judged(reference.tree, "solved")
    return TaskValidation(
        task_id=assembled.task.descriptor.id,
        problems=judge_states(unsolved, solved),
        seconds=time.monotonic() - begun,
        target_tests=len(_of(solved, TestRole.TARGET)),
        regression_tests=len(_of(solved, TestRole.REGRESSION)),
    )


def judge_states(unsolved: Judgement, solved: Judgement) -> tuple[str, ...]:
    """What is wrong with a task whose two states were judged like this; empty when nothing is."""
    problems = []
    if solved.outcome is not Outcome.FULL_SUCCESS:
        problems.append(f"the reference solution is not a full success ({solved.outcome}: {solved.reason})")
    if unsolved.outcome in {Outcome.EVALUATOR_ERROR, Outcome.INFRASTRUCTURE_ERROR, Outcome.FULL_SUCCESS}:
        problems.append(f"the unsolved tree is judged as {unsolved.outcome}: {unsolved.reason}")
    problems += [f"target test {test.id} passes on the unsolved tree" for test in _passed(unsolved, TestRole.TARGET)]
    problems += [
        f"regression test {test.id} does not pass on the unsolved tree ({test.status})"
        for test in _of(unsolved, TestRole.REGRESSION)
        if test.status != "passed"
    ]
    return tuple(problems)


def _of(judgement: Judgement, role: TestRole) -> list[TestResult]:
    return [test for test in judgement.tests if test.role is role]


def _passed(judgement: Judgement, role: TestRole) -> list[TestResult]:
    return [test for test in _of(judgement, role) if test.status == "passed"]
