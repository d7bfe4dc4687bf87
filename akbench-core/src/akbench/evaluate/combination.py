"""One judgement from those of several evaluators. Pure.

The outcome is the worst one among the required parts. The score is the mean of the parts' scores by weight, over the
parts that gave one. No part leaves a gap that an agent could profit from: one that failed without a score counts as 0,
and where one that counts (it is required or has a weight) could not judge, the whole could not be judged either and has
no score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from akbench.spec import Judgement, Outcome, TestResult, TestRole

__all__ = ["PartJudgement", "combined"]

WORST_FIRST = (
    Outcome.INFRASTRUCTURE_ERROR,
    Outcome.EVALUATOR_ERROR,
    Outcome.TIMEOUT,
    Outcome.REGRESSION,
    Outcome.FAILURE,
    Outcome.PARTIAL_SUCCESS,
    Outcome.FULL_SUCCESS,
)
_UNJUDGED = frozenset({Outcome.EVALUATOR_ERROR, Outcome.INFRASTRUCTURE_ERROR})
_LOST = frozenset({Outcome.FAILURE, Outcome.REGRESSION, Outcome.TIMEOUT})
_WORST_STATUS_FIRST = ("error", "failed", "missing", "skipped", "passed")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartJudgement:
    """What one evaluator said, and what it counts."""

    id: str
    weight: float
    required: bool
    judgement: Judgement

    @property
    def counts(self) -> bool:
        """Whether it has a say in the outcome or in the score."""
        return self.required or self.weight > 0

    @property
    def is_error(self) -> bool:
        """Whether it could not judge."""
        return self.judgement.outcome in _UNJUDGED


def combined(parts: Sequence[PartJudgement]) -> Judgement:
    """The judgement of all parts, at least one of them required; that of a single part is its own."""
    if len(parts) == 1:
        return parts[0].judgement
    errors = [part for part in parts if part.counts and part.is_error]
    outcome = _worst(errors or [part for part in parts if part.required])
    return Judgement(
        outcome=outcome,
        reason=_reason(parts, outcome),
        score=None if errors else _score(parts),
        tests=_tests(parts),
        raw={"parts": {part.id: part.judgement.outcome.value for part in parts}},
    )


def _worst(parts: Iterable[PartJudgement]) -> Outcome:
    return min((part.judgement.outcome for part in parts), key=WORST_FIRST.index)


def _score(parts: Sequence[PartJudgement]) -> float | None:
    scored = [(part.weight, score) for part in parts if (score := _score_of(part.judgement)) is not None]
    total = sum(weight for weight, _ in scored)
    return sum(weight * score for weight, score in scored) / total if total else None


def _score_of(judgement: Judgement) -> float | None:
    if judgement.score is None and judgement.outcome in _LOST:
        return 0.0
    return judgement.score


def _reason(parts: Sequence[PartJudgement], outcome: Outcome) -> str:
    """What kept the whole from success, the decisive part first; the optional parts that fell short after them."""
    short = [part for part in parts if part.judgement.outcome is not Outcome.FULL_SUCCESS]
    if not short:
        return f"all parts succeeded: {', '.join(part.id for part in parts)}"
    short.sort(key=lambda part: (not (part.counts and part.judgement.outcome is outcome), not part.required))
    return "; ".join(
        f"{part.id}{'' if part.required else ' (optional)'}: {part.judgement.outcome}: {part.judgement.reason}"
        for part in short
    )


def _tests(parts: Iterable[PartJudgement]) -> tuple[TestResult, ...]:
    """All tests; one that several parts ran stands once, with its worst result, a target if any part says so."""
    found: dict[str, TestResult] = {}
    targets: set[str] = set()
    for test in (test for part in parts for test in part.judgement.tests):
        known = found.get(test.id)
        if known is None or _badness(test) < _badness(known):
            found[test.id] = test
        if test.role is TestRole.TARGET:
            targets.add(test.id)
    return tuple(_with_role(test, targets) for test in found.values())


def _badness(test: TestResult) -> int:
    return _WORST_STATUS_FIRST.index(test.status)


def _with_role(test: TestResult, targets: set[str]) -> TestResult:
    role = TestRole.TARGET if test.id in targets else TestRole.REGRESSION
    return TestResult(
        id=test.id, role=role, status=test.status, duration_seconds=test.duration_seconds, message=test.message
    )
