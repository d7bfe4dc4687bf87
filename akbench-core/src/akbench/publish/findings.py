"""What the judgements of a task's states say about the task. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from akbench.dataset.verdict import FlakyTest, StateRecord
from akbench.publish.states import DELETED, EMPTIED, NAIVE, ORIGINAL, SOLVED, UNSOLVED
from akbench.spec import Judgement, Outcome, TestResult, TestRole

__all__ = ["Findings", "Judged", "conclude"]

_UNJUDGED = frozenset({Outcome.EVALUATOR_ERROR, Outcome.INFRASTRUCTURE_ERROR})
_LISTED = 5
_MESSAGE_CHARACTERS = 160
_WORDS = {
    SOLVED: "the reference solution",
    ORIGINAL: "the tree before the mutations",
    UNSOLVED: "the unsolved tree",
    EMPTIED: "an agent that empties every source file",
    DELETED: "an agent that deletes every source file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The judgements of one state, one for each repetition, and how long each check took (seconds)."""

    judgements: tuple[Judgement, ...]
    seconds: tuple[float, ...]

    def tests(self) -> dict[str, tuple[TestResult | None, ...]]:
        """Test id -> its result in each repetition; None where it did not appear."""
        runs = [{test.id: test for test in judgement.tests} for judgement in self.judgements]
        names = dict.fromkeys(name for run in runs for name in run)
        return {name: tuple(run.get(name) for run in runs) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What validating found; see `akbench.dataset.verdict.Verdict` for the fields."""

    problems: tuple[str, ...]
    states: Mapping[str, StateRecord]
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    quarantined: tuple[FlakyTest, ...]
    state_seconds: Mapping[str, float]
    test_seconds: Mapping[str, Mapping[str, float]]


def conclude(judged: Mapping[str, Judged], *, visible: Callable[[str], bool], has_original: bool) -> Findings:
    """Weigh the states of a task. `visible` says of a test id whether the agent sees that test.

    `has_original` says that there was a tree before the mutations; where it is no state of its own it is the solved.
    """
    flaky = tuple(_flaky(judged))
    problems = [*_unjudged(judged), *_flaky_targets(judged, flaky)]
    if not problems:
        unsteady = {test.id for test in flaky}
        problems = [
            *_unsolved_problems(judged, unsteady),
            *(problem for name in (SOLVED, ORIGINAL) for problem in _solved_problems(judged, name, unsteady)),
            *_naive_problems(judged, visible),
            *_ruin_problems(judged),
        ]
    passing = {name: _always_passed(judged[name]) for name in (SOLVED, UNSOLVED)}
    ever = _ever_passed(judged[UNSOLVED])
    targets = _ids(judged[SOLVED], TestRole.TARGET)
    return Findings(
        problems=tuple(problems),
        states=_records(judged, has_original=has_original),
        fail_to_pass=tuple(sorted(name for name in passing[SOLVED] if name in targets and name not in ever)),
        pass_to_pass=tuple(sorted(passing[SOLVED] & passing[UNSOLVED])),
        quarantined=tuple(test for test in flaky if test.id not in targets),
        state_seconds={name: round(median(each.seconds), 2) for name, each in judged.items()},
        test_seconds={name: _test_seconds(each) for name, each in judged.items()},
    )


def _unjudged(judged: Mapping[str, Judged]) -> Iterator[str]:
    for name, each in judged.items():
        reasons = dict.fromkeys(found.reason for found in each.judgements if found.outcome in _UNJUDGED)
        for reason in reasons:
            if name in (EMPTIED, DELETED):
                yield f"{_word(name)} is not scored 0 but not judged at all: {reason}"
            else:
                yield f"the evaluator could not judge {_word(name)}: {reason}"


def _flaky(judged: Mapping[str, Judged]) -> Iterator[FlakyTest]:
    """Tests that passed in some repetitions of a state and not in others; each once, with the first such state."""
    seen = set()
    for name in (SOLVED, UNSOLVED, ORIGINAL):
        for test_id, results in judged[name].tests().items() if name in judged else ():
            passed = sum(_passed(result) for result in results)
            if 0 < passed < len(results) and test_id not in seen:
                seen.add(test_id)
                yield FlakyTest(id=test_id, state=name, passed=passed, of=len(results))


def _flaky_targets(judged: Mapping[str, Judged], flaky: Iterable[FlakyTest]) -> Iterator[str]:
    targets = _ids(judged[SOLVED], TestRole.TARGET) | _ids(judged[UNSOLVED], TestRole.TARGET)
    for test in flaky:
        if test.id in targets:
            bad = _first_bad(judged[test.state].tests()[test.id])
            how = f" ({bad.status}{_message(bad)})" if bad else ""
            times = f"it passed {test.passed} of {test.of} times{how}"
            yield f"target test {test.id} is flaky: on {_word(test.state)} {times}"


def _unsolved_problems(judged: Mapping[str, Judged], flaky: set[str]) -> Iterator[str]:
    each = judged[UNSOLVED]
    if any(found.outcome is Outcome.FULL_SUCCESS for found in each.judgements):
        yield "the unsolved tree is judged a full success: there is nothing to do"
    passed = _ever_passed(each)
    yield from _listed(
        f"target test {name} passes on the unsolved tree"
        for name in sorted(_ids(each, TestRole.TARGET))
        if name in passed
    )
    yield from _listed(_failures(each, TestRole.REGRESSION, flaky, "the unsolved tree"))
    score = _highest(each)
    if score and not passed:
        yield f"doing nothing is scored {score:g} instead of 0"


def _solved_problems(judged: Mapping[str, Judged], name: str, flaky: set[str]) -> Iterator[str]:
    if name not in judged:
        return
    each = judged[name]
    failures = [
        *_failures(each, TestRole.TARGET, flaky, _word(name)),
        *_failures(each, TestRole.REGRESSION, flaky, _word(name)),
    ]
    yield from _listed(failures)
    worst = next((found for found in each.judgements if found.outcome is not Outcome.FULL_SUCCESS), None)
    if worst is not None and not failures and not _only_flaky(each, flaky):
        yield f"{_word(name)} is not a full success ({worst.outcome}: {worst.reason})"


def _only_flaky(each: Judged, flaky: set[str]) -> bool:
    """Whether every repetition ran to its end and only flaky tests stand between it and full success."""
    ended = all(found.outcome in {Outcome.FULL_SUCCESS, Outcome.REGRESSION} for found in each.judgements)
    return ended and any(name in flaky for name in each.tests())


def _naive_problems(judged: Mapping[str, Judged], visible: Callable[[str], bool]) -> Iterator[str]:
    for name, each in judged.items():
        if not name.startswith(NAIVE):
            continue
        if any(found.outcome is Outcome.FULL_SUCCESS for found in each.judgements):
            yield f"{_word(name)} is a full success: the hidden tests do not tell it from a solution"
        failing = [test for test in _last(each) if visible(test.id) and test.status != "passed"]
        yield from _listed(f"{_word(name)} fails the visible test {test.id} ({test.status})" for test in failing)


def _ruin_problems(judged: Mapping[str, Judged]) -> Iterator[str]:
    for name in (EMPTIED, DELETED):
        score = _highest(judged[name]) if name in judged else None
        if score:
            passed = [test.id for test in _last(judged[name]) if test.role is TestRole.TARGET and _passed(test)]
            which = f": target test {passed[0]} passes" if passed else ""
            yield f"{_word(name)} is scored {score:g} instead of 0{which}"


def _failures(each: Judged, role: TestRole, flaky: set[str], where: str) -> Iterator[str]:
    for name, results in each.tests().items():
        bad = _first_bad(results)
        if bad is None or name in flaky or bad.role is not role:
            continue
        yield f"{role} test {name} does not pass on {where} ({bad.status}{_message(bad)})"


def _first_bad(results: Iterable[TestResult | None]) -> TestResult | None:
    return next((result for result in results if result is not None and not _passed(result)), None)


def _message(test: TestResult) -> str:
    if test.status == "skipped":
        return "; deselect what the suite skips"
    lines = [line.strip() for line in (test.message or "").splitlines() if line.strip()]
    errors = [line[2:].strip() for line in lines if line.startswith("E ")]
    line = (errors or lines[-1:] or [""])[0]
    return f": {line[:_MESSAGE_CHARACTERS]}" if line else ""


def _listed(problems: Iterable[str]) -> Iterator[str]:
    """The first few, and how many more there are."""
    found = [*problems]
    yield from found[:_LISTED]
    if len(found) > _LISTED:
        yield f"and {len(found) - _LISTED} more of this kind"


def _records(judged: Mapping[str, Judged], *, has_original: bool) -> dict[str, StateRecord]:
    records = {name: _record(each) for name, each in judged.items()}
    if has_original and ORIGINAL not in records:
        records[ORIGINAL] = records[SOLVED].model_copy(update={"same_as": SOLVED})
    return records


def _record(each: Judged) -> StateRecord:
    scores = [found.score for found in each.judgements if found.score is not None]
    return StateRecord(
        outcomes=tuple(found.outcome.value for found in each.judgements),
        lowest_score=min(scores, default=None),
        highest_score=max(scores, default=None),
        reason=each.judgements[0].reason,
    )


def _test_seconds(each: Judged) -> dict[str, float]:
    found = {}
    for name, results in sorted(each.tests().items()):
        seconds = [result.duration_seconds for result in results if result and result.duration_seconds is not None]
        if seconds:
            found[name] = round(median(seconds), 3)
    return found


def _always_passed(each: Judged) -> set[str]:
    return {name for name, results in each.tests().items() if all(_passed(result) for result in results)}


def _ever_passed(each: Judged) -> set[str]:
    return {name for name, results in each.tests().items() if any(_passed(result) for result in results)}


def _passed(result: TestResult | None) -> bool:
    return result is not None and result.status == "passed"


def _ids(each: Judged, role: TestRole) -> set[str]:
    return {test.id for judgement in each.judgements for test in judgement.tests if test.role is role}


def _last(each: Judged) -> tuple[TestResult, ...]:
    return each.judgements[-1].tests


def _highest(each: Judged) -> float | None:
    return max((found.score for found in each.judgements if found.score is not None), default=None)


def _word(name: str) -> str:
    return _WORDS.get(name) or f"the naive fix {name.removeprefix(NAIVE)!r}"
