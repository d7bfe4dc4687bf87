"""How later gradings of a run are told."""

from __future__ import annotations

from collections.abc import Iterable

from akbench.cli.output import say
from akbench.run.grading import GradedVerdict, GradingRecord
from akbench.spec import JsonValue
from akbench.store.view import RunView

__all__ = ["grading_json", "print_gradings", "verdict_words"]


def print_gradings(graded: Iterable[tuple[RunView, tuple[GradingRecord, ...]]]) -> None:
    """One line for each run that was judged again since; its first verdict is the one that counts."""
    for run, gradings in graded:
        if gradings:
            last = gradings[-1]
            word = "another verdict" if last.changed else "the same verdict"
            say(f"{run.id}: judged again {last.graded_at:%Y-%m-%d}, {word}: {verdict_words(last.after)}")


def verdict_words(verdict: GradedVerdict) -> str:
    """Outcome and score in short."""
    score = "" if verdict.score is None else f" {verdict.score:.3g}"
    return f"{verdict.outcome or verdict.state}{score}"


def grading_json(record: GradingRecord) -> dict[str, JsonValue]:
    """A grading for programs."""
    return {
        "run": record.run_id,
        "task": record.task,
        "task_version": record.task_version,
        "grading": record.number,
        "graded_at": record.graded_at.isoformat(),
        "evaluator": record.evaluator,
        "evaluator_version": record.evaluator_version,
        "before": _verdict_json(record.before),
        "after": _verdict_json(record.after),
        "changed": record.changed,
        "tests": [
            {"id": each.id, "role": each.role.value, "before": each.before, "after": each.after}
            for each in record.tests
        ],
    }


def _verdict_json(verdict: GradedVerdict) -> dict[str, JsonValue]:
    return {
        "state": verdict.state.value,
        "outcome": verdict.outcome.value if verdict.outcome else None,
        "score": verdict.score,
        "solved": verdict.solved,
        "reason": verdict.reason,
    }
