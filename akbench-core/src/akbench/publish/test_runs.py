"""Running a selection of tests on a tree, to learn which of them pass; no task is needed for it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.environment import PreparedEnvironment
from akbench.dataset.tree import Tree
from akbench.evaluate.evaluation import evaluate
from akbench.spec import Evaluator, HostError, InputError, JsonValue, Judgement, Outcome, Sandbox
from akbench.workspace.removal import remove_tree

__all__ = ["EVALUATOR", "Baseline", "TestBench", "TestRun", "baseline_of"]

EVALUATOR = "pytest"
"""The evaluator whose tests can be told apart and selected one by one; tasks that are made here name it."""
_SIGN_OF_TAMPERING = "tampering"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """What came of the tests, by id; `problem` says why nothing can be learned from it. `seconds` is wall clock."""

    __test__ = False

    statuses: Mapping[str, str]
    problem: str | None
    seconds: float

    @property
    def passed(self) -> frozenset[str]:
        """The tests that passed."""
        return frozenset(name for name, status in self.statuses.items() if status == "passed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestBench:
    """Everything that running tests needs but the tree; `scratch` is an empty folder of the caller's.

    `test_seconds` bounds each test.
    """

    __test__ = False

    evaluator: Evaluator
    environment: PreparedEnvironment
    python_path: tuple[str, ...]
    sandbox: Sandbox
    scratch: Path
    cancelled: threading.Event
    test_seconds: float

    def run(self, tree: Tree, tests: Sequence[str], *, seconds: float, name: str) -> TestRun:
        """Run the tests (selectors) on `tree` within `seconds`. Raises `HostError` when that is not possible here."""
        room = self.scratch / name
        config: dict[str, JsonValue] = {
            "target": [*tests],
            "timeout_seconds": seconds,
            "test_timeout_seconds": self.test_seconds,
        }
        try:
            found = evaluate(
                tree=tree,
                hidden_files=(),
                evaluator=self.evaluator,
                config=config,
                environment=self.environment,
                python_path=self.python_path,
                sandbox=self.sandbox,
                scratch=room,
                cancelled=self.cancelled,
            )
        finally:
            if room.exists():
                remove_tree(room)
        if found.judgement.outcome is Outcome.INFRASTRUCTURE_ERROR:
            raise HostError(f"the tests could not be run here: {found.judgement.reason}")
        return TestRun(
            statuses={test.id: test.status for test in found.judgement.tests},
            problem=_problem(found.judgement),
            seconds=found.duration_seconds,
        )


def _problem(judgement: Judgement) -> str | None:
    unusable = judgement.outcome in {Outcome.EVALUATOR_ERROR, Outcome.TIMEOUT}
    return judgement.reason if unusable or judgement.reason.startswith(_SIGN_OF_TAMPERING) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The tests of a good tree: those that passed every time, the others, and the longest run in seconds."""

    passing: frozenset[str]
    others: frozenset[str]
    seconds: float


def baseline_of(bench: TestBench, tree: Tree, tests: Sequence[str], *, seconds: float, repetitions: int) -> Baseline:
    """Run the tests several times. Raises `InputError` when they cannot be run, or none of them passes every time."""
    runs = [bench.run(tree, tests, seconds=seconds, name=f"baseline-{number}") for number in range(repetitions)]
    for run in runs:
        if run.problem is not None:
            raise InputError(f"the selected tests cannot be run on the repository as it is: {run.problem}")
    passing = frozenset.intersection(*(run.passed for run in runs))
    known = frozenset(name for run in runs for name in run.statuses)
    if not passing:
        raise InputError(f"none of the {len(known)} selected tests passes on the repository as it is")
    return Baseline(passing=passing, others=known - passing, seconds=max(run.seconds for run in runs))
