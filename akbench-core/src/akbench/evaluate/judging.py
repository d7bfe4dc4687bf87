"""Judging what an agent left: every evaluator of the task on its tree, each in a folder and a sandbox of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.assembly import AssembledTask
from akbench.dataset.environment import PreparedEnvironment
from akbench.dataset.tree import Tree
from akbench.descriptors.evaluator import CombinedPart
from akbench.evaluate.combination import PartJudgement, combined
from akbench.evaluate.evaluation import Evaluation, evaluate
from akbench.evaluate.protection import JudgedTree, judged_tree
from akbench.spec import Evaluator, JsonValue, Judgement, Sandbox, TestResult, TreeKind

__all__ = ["EvaluationRecord", "JudgedPart", "PartRecord", "ReadyEvaluator", "WorkJudgement", "judge_work"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyEvaluator:
    """One part of a task's evaluation with its adapter loaded, and the distribution that brings the adapter."""

    part: CombinedPart
    evaluator: Evaluator
    distribution: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRecord:
    """What is kept of one part: who judged, what it counts, and its judgement as it was given."""

    id: str
    adapter: str
    distribution: str
    version: str
    weight: float
    required: bool
    duration_seconds: float
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRecord:
    """``evaluation.json``: the judgement of the whole, and the parts it was made of."""

    outcome: str
    reason: str
    score: float | None
    tests: tuple[TestResult, ...]
    raw: Mapping[str, JsonValue]
    parts: tuple[PartRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPart:
    """A part and its evaluation."""

    ready: ReadyEvaluator
    evaluation: Evaluation

    def record(self) -> PartRecord:
        """What is kept of it."""
        part = self.ready.part
        return PartRecord(
            id=part.id,
            adapter=part.adapter,
            distribution=self.ready.distribution,
            version=self.ready.version,
            weight=part.weight,
            required=part.required,
            duration_seconds=self.evaluation.duration_seconds,
            judgement=self.evaluation.judgement,
        )

    def weighed(self) -> PartJudgement:
        """Its judgement and what it counts."""
        part = self.ready.part
        return PartJudgement(
            id=part.id, weight=part.weight, required=part.required, judgement=self.evaluation.judgement
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkJudgement:
    """What all evaluators of a task say of an agent's work; `touched`: the protected paths that it had changed."""

    judgement: Judgement
    parts: tuple[JudgedPart, ...]
    touched: tuple[str, ...]

    @property
    def duration_seconds(self) -> float:
        """Wall clock of all checks."""
        return sum(part.evaluation.duration_seconds for part in self.parts)

    @property
    def tested_score(self) -> float | None:
        """The score of the parts that know single tests; that of the whole where none does."""
        testing = [part.weighed() for part in self.parts if part.evaluation.judgement.tests]
        return combined(testing).score if testing else self.judgement.score

    def record(self) -> EvaluationRecord:
        """What is kept of it."""
        whole = self.judgement
        return EvaluationRecord(
            outcome=whole.outcome.value,
            reason=whole.reason,
            score=whole.score,
            tests=whole.tests,
            raw=whole.raw,
            parts=tuple(part.record() for part in self.parts),
        )

    def files(self) -> dict[str, tuple[bytes, str]]:
        """What each part's check reported and printed: name -> (content, media type). Read before its room is gone."""
        found: dict[str, tuple[bytes, str]] = {}
        for part in self.parts:
            folder, evaluation = f"evaluation/{part.ready.part.id}", part.evaluation
            found[f"{folder}/report.jsonl"] = (evaluation.report, "application/jsonl")
            found[f"{folder}/stdout.log"] = (evaluation.stdout.read_bytes(), "text/plain")
            found[f"{folder}/stderr.log"] = (evaluation.stderr.read_bytes(), "text/plain")
        return found


def judge_work(
    *,
    assembled: AssembledTask,
    final: Tree,
    evaluators: tuple[ReadyEvaluator, ...],
    environment: PreparedEnvironment,
    sandbox: Sandbox,
    scratch: Path,
    cancelled: threading.Event,
    quarantined: tuple[str, ...] = (),
) -> WorkJudgement:
    """Judge the agent's `final` tree with every evaluator, one after the other; `scratch` is a new folder for them."""
    restored = judged_tree(
        final=final,
        given=assembled.given,
        hidden=assembled.hidden,
        protected=assembled.task.descriptor.task.protected,
    )
    parts = tuple(
        JudgedPart(
            ready=ready,
            evaluation=_evaluated(
                ready,
                assembled=assembled,
                restored=restored,
                final=final,
                environment=environment,
                sandbox=sandbox,
                scratch=scratch / ready.part.id,
                cancelled=cancelled,
                quarantined=quarantined,
            ),
        )
        for ready in evaluators
    )
    return WorkJudgement(judgement=combined([part.weighed() for part in parts]), parts=parts, touched=restored.touched)


def _evaluated(
    ready: ReadyEvaluator,
    *,
    assembled: AssembledTask,
    restored: JudgedTree,
    final: Tree,
    environment: PreparedEnvironment,
    sandbox: Sandbox,
    scratch: Path,
    cancelled: threading.Event,
    quarantined: tuple[str, ...],
) -> Evaluation:
    is_restored = ready.evaluator.judges is TreeKind.RESTORED
    return evaluate(
        tree=restored.tree if is_restored else final,
        hidden_files=assembled.hidden_test_files if is_restored else (),
        evaluator=ready.evaluator,
        config=ready.part.config,
        environment=environment,
        python_path=assembled.task.descriptor.task.environment.python_path,
        sandbox=sandbox,
        scratch=scratch,
        cancelled=cancelled,
        quarantined=quarantined,
        given=assembled.given,
        checks=_checks(ready, assembled),
    )


def _checks(ready: ReadyEvaluator, assembled: AssembledTask) -> dict[str, bytes]:
    """The files that this part needs and no others: another part's checks are not its business."""
    folder = assembled.task.checks
    names = ready.evaluator.check_files(ready.part.config)
    return {os.path.normpath(name): (folder / name).read_bytes() for name in names}
