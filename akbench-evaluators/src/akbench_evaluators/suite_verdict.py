"""From the records of a pytest suite to a verdict; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from akbench.spec import Judgement, Outcome, ProcessEvidence, TestResult, TestRole
from akbench_evaluators.node_ids import selected, selects
from akbench_evaluators.process_ending import describe_ending
from akbench_evaluators.signed_report import Shapes, SignedReport

__all__ = ["RECORDS", "Suite", "SuiteRun", "judge_suite"]

RECORDS: Shapes = {
    "started": {"python": (str,), "pytest": (str,)},
    "selector": {"selector": (str,), "exists": (bool,), "named": (bool,)},
    "item": {"id": (str,)},
    "uncollected": {"id": (str,), "outcome": (str,), "message": (str,)},
    "canary": {"id": (str,)},
    "collected": {},
    "completed": {},
    "phase": {
        "id": (str,),
        "when": (str,),
        "outcome": (str,),
        "seconds": (int, float),
        "raised": (bool,),
        "subtest": (bool,),
        "message": (str, type(None)),
    },
    "finished": {"exit_code": (int,)},
}
"""The records of the suite's runner."""

_WITHOUT_SCORE = frozenset({Outcome.EVALUATOR_ERROR, Outcome.INFRASTRUCTURE_ERROR})
_PHASES = frozenset({"setup", "call", "teardown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What a task asks for: the selectors of its target, regression and deselected tests."""

    target: tuple[str, ...]
    regression: tuple[str, ...]
    deselect: tuple[str, ...]

    def role(self, node_id: str) -> TestRole:
        """The role of a test; one that both lists select is a target."""
        return TestRole.TARGET if selected(self.target, node_id) else TestRole.REGRESSION

    def by_role(self) -> Iterator[tuple[TestRole, str]]:
        """Each selector with its role."""
        yield from ((TestRole.TARGET, selector) for selector in self.target)
        yield from ((TestRole.REGRESSION, selector) for selector in self.regression)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """What the runner reported. `exit_code` is None if the process ended before the runner was done.

    - `collected` and `completed`: whether pytest came to the end of collecting and of running the tests.
    - `lacking`: selectors whose file or folder is not in the tree; `unnamed`: those whose name is not in their file.
    - `uncollected`: node id -> its collection report; `phases`: test id -> its phase reports in order.
    """

    started: Mapping[str, Any]
    lacking: tuple[str, ...]
    unnamed: frozenset[str]
    items: tuple[str, ...]
    uncollected: Mapping[str, Mapping[str, Any]]
    canaries: tuple[str, ...]
    phases: Mapping[str, tuple[Mapping[str, Any], ...]]
    collected: bool
    completed: bool
    exit_code: int | None
    forged: bool

    @classmethod
    def read(cls, report: SignedReport) -> SuiteRun:
        """Sort the records of a report by their kind."""
        kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        phases: dict[str, tuple[Mapping[str, Any], ...]] = {}
        for record in report.records:
            kinds[record["kind"]].append(record)
        for phase in kinds["phase"]:
            phases[phase["id"]] = (*phases.get(phase["id"], ()), phase)
        return cls(
            started=kinds["started"][0],
            lacking=tuple(each["selector"] for each in kinds["selector"] if not each["exists"]),
            unnamed=frozenset(each["selector"] for each in kinds["selector"] if not each["named"]),
            items=tuple(each["id"] for each in kinds["item"]),
            uncollected={each["id"]: each for each in kinds["uncollected"]},
            canaries=tuple(each["id"] for each in kinds["canary"]),
            phases=phases,
            collected=bool(kinds["collected"]),
            completed=bool(kinds["completed"]),
            exit_code=kinds["finished"][0]["exit_code"] if kinds["finished"] else None,
            forged=report.forged,
        )


def judge_suite(suite: Suite, run: SuiteRun, process: ProcessEvidence, *, truncated: bool) -> Judgement:
    """The verdict on a suite whose runner started.

    The score is the fraction of the target tests that passed, regressions or not; None if nothing was measured.
    """
    tests = _tests(suite, run)
    tampering = _tampering(run)
    outcome, reason = (
        _tampered(tampering)
        or _evaluator_fault(suite, run)
        or _early_end(run, tests, process, truncated=truncated)
        or _result(tests)
    )
    score = None if outcome in _WITHOUT_SCORE else 0.0 if tampering else _score(tests)
    raw = {
        "python": run.started["python"],
        "pytest": run.started["pytest"],
        "pytest_exit_code": run.exit_code,
        "planted_failures": len(run.canaries),
        "tampering": [*tampering],
    }
    believed = tuple(map(_disbelieved, tests)) if tampering else tests
    return Judgement(outcome=outcome, reason=reason, score=score, tests=believed, raw=raw)


def _disbelieved(test: TestResult) -> TestResult:
    """A test whose report cannot be told from a forged one: what it said is kept for people and counts for nothing."""
    return replace(
        test, status="error", message=f"not believed, as the check was tampered with; it said: {test.status}"
    )


def _tests(suite: Suite, run: SuiteRun) -> tuple[TestResult, ...]:
    """Every collected test, then every selector that stands for tests which were never seen."""
    seen = [_test(item, suite.role(item), run.phases.get(item, ())) for item in run.items]
    unseen = dict.fromkeys(
        result for role, selector in suite.by_role() for result in _unseen(suite, run, role, selector)
    )
    return (*seen, *unseen)


def _test(node_id: str, role: TestRole, phases: tuple[Mapping[str, Any], ...]) -> TestResult:
    status = _status(phases)
    messages = (phase["message"] for phase in phases if phase["message"] is not None)
    unfinished = "it was collected but did not run to its end" if status == "missing" else None
    seconds = sum(phase["seconds"] for phase in phases if not phase["subtest"]) if phases else None
    message = next(messages, unfinished)
    return TestResult(id=node_id, role=role, status=status, duration_seconds=seconds, message=message)


def _status(phases: tuple[Mapping[str, Any], ...]) -> str:
    outcomes = {(phase["when"], phase["outcome"]) for phase in phases}
    if outcomes & {("setup", "failed"), ("teardown", "failed")}:
        return "error"
    if ("call", "failed") in outcomes:
        return "failed"
    if any(outcome == "skipped" for _, outcome in outcomes):
        return "skipped"
    return "passed" if {when for when, _ in outcomes} == _PHASES else "missing"


def _unseen(suite: Suite, run: SuiteRun, role: TestRole, selector: str) -> Iterator[TestResult]:
    """What a selector names without any test to show for it: files that failed to load, or nothing at all."""
    uncollected = [node_id for node_id in run.uncollected if _related(selector, node_id)]
    for node_id in uncollected:
        name = node_id if selects(selector, node_id) else selector
        if not selected(suite.deselect, name):
            record = run.uncollected[node_id]
            status = "skipped" if record["outcome"] == "skipped" else "error"
            yield TestResult(id=name, role=role, status=status, message=record["message"])
    if not uncollected and not any(selects(selector, item) for item in run.items):
        message = "no test of it was collected" if run.collected else "the check ended before it was collected"
        yield TestResult(id=selector, role=role, status="missing", message=message)


def _related(selector: str, node_id: str) -> bool:
    return selects(selector, node_id) or selects(node_id, selector)


def _tampering(run: SuiteRun) -> tuple[str, ...]:
    """What shows that the tested code interfered with the check."""
    signs = ["something else wrote to the report"] if run.forged else []
    planted = {canary: _status(run.phases.get(canary, ())) for canary in run.canaries}
    if "passed" in planted.values():
        signs.append("a planted failing test was reported as passed")
    if "missing" in planted.values() and _all_ran(run):
        signs.append("a planted failing test was removed")
    if any(phase["raised"] and phase["outcome"] == "passed" for phases in run.phases.values() for phase in phases):
        signs.append("a test that raised was reported as passed")
    return tuple(signs)


def _all_ran(run: SuiteRun) -> bool:
    return all(_status(run.phases.get(item, ())) != "missing" for item in run.items)


def _tampered(signs: tuple[str, ...]) -> tuple[Outcome, str] | None:
    return (Outcome.FAILURE, f"tampering: {'; '.join(signs)}") if signs else None


def _evaluator_fault(suite: Suite, run: SuiteRun) -> tuple[Outcome, str] | None:
    if run.lacking:
        return (
            Outcome.EVALUATOR_ERROR,
            f"the tree has no file or folder for the selector {_listing(run.lacking)}",
        )
    unknown = [each for _, each in suite.by_role() if each in run.unnamed and _yielded_nothing(run, each)]
    if run.collected and unknown:
        return Outcome.EVALUATOR_ERROR, f"its file names no test for the selector {_listing(unknown)}"
    return None


def _yielded_nothing(run: SuiteRun, selector: str) -> bool:
    return not any(_related(selector, node_id) for node_id in (*run.items, *run.uncollected))


def _early_end(
    run: SuiteRun, tests: tuple[TestResult, ...], process: ProcessEvidence, *, truncated: bool
) -> tuple[Outcome, str] | None:
    missing = _count(sum(test.status == "missing" for test in tests), "test")
    unfinished = run.exit_code is None
    if unfinished and process.cancelled:
        return Outcome.INFRASTRUCTURE_ERROR, "the check was cancelled"
    if unfinished and process.timed_out:
        return Outcome.TIMEOUT, f"out of time; {missing} did not run to the end"
    if truncated:
        return Outcome.EVALUATOR_ERROR, "the report is longer than the harness keeps; select fewer tests"
    if unfinished:
        return Outcome.FAILURE, f"the tested code ended the check ({describe_ending(process)}); {missing} missing"
    if not run.completed:
        return Outcome.FAILURE, f"pytest stopped early (exit code {run.exit_code}); {missing} missing"
    return None


def _result(tests: tuple[TestResult, ...]) -> tuple[Outcome, str]:
    target = [test for test in tests if test.role is TestRole.TARGET]
    regression = [test for test in tests if test.role is TestRole.REGRESSION]
    broken = [f"{test.id} ({test.status})" for test in regression if test.status != "passed"]
    open_ = [f"{test.id} ({test.status})" for test in target if test.status != "passed"]
    if broken:
        return (
            Outcome.REGRESSION,
            f"{len(broken)} of {_count(len(regression), 'regression test')} broke: {_listing(broken)}",
        )
    if not open_:
        return Outcome.FULL_SUCCESS, f"all {len(target)} target and {len(regression)} regression tests passed"
    reason = f"{len(open_)} of {_count(len(target), 'target test')} did not pass: {_listing(open_)}"
    return Outcome.PARTIAL_SUCCESS if len(open_) < len(target) else Outcome.FAILURE, reason


def _score(tests: tuple[TestResult, ...]) -> float:
    target = [test.status == "passed" for test in tests if test.role is TestRole.TARGET]
    return sum(target) / len(target) if target else 0.0


def _listing(names: Iterable[str]) -> str:
    first, *rest = names
    return f"{first} and {len(rest)} more" if rest else first


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
