"""The evaluator `python`: a check script of the task in a process that the product's code cannot look into."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar

from akbench.spec import (
    EvaluationEvidence,
    EvaluationInvocation,
    EvaluationRequest,
    Evaluator,
    InputError,
    JsonValue,
    Judgement,
    Outcome,
    TestResult,
    TestRole,
)
from akbench_evaluators.config import reject_unknown_keys, require_seconds, text
from akbench_evaluators.process_ending import judge_cut_short, usable_report
from akbench_evaluators.shipment import runner_argv, runner_files
from akbench_evaluators.signed_report import Shapes

__all__ = ["PythonCheck"]

_KEYS = ("check", "timeout_seconds")
_ABSENT = type(None)
_RECORDS: Shapes = {
    "started": {"seen": (list,)},
    "test": {"name": (str,), "role": (str,), "status": (str,), "seconds": (float,), "message": (str, _ABSENT)},
    "note": {"values": (dict,)},
    "ended": {"problem": (str, _ABSENT)},
}
_RUNNER = ("check_runner", "concealed_input", "hiding", "product", "product_server", "signed_report")


class PythonCheck(Evaluator):
    """Runs a function ``check(product, report)`` that reaches the product's code in other processes alone."""

    needs_python: ClassVar[bool] = True

    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        """Raise `InputError` with the key and the mend if `config` cannot be used."""
        reject_unknown_keys(config, _KEYS)
        require_seconds(config, "timeout_seconds")
        _name(config)

    def check_files(self, config: Mapping[str, JsonValue]) -> tuple[str, ...]:
        """The check script."""
        return (_name(config),)

    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        """Say how to run the check: the script goes in through standard input and lies nowhere."""
        name = _name(request.config)
        settings = {
            "report_fd": request.report_fd,
            "workspace": request.workspace,
            "python": request.python,
            "environ": {**request.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            "name": f"checks/{name}",
            "source": request.checks[name].decode("utf-8"),
        }
        files = runner_files(*_RUNNER, settings={})
        return EvaluationInvocation(
            argv=runner_argv(request), environ=dict(request.environ), files=files, stdin=json.dumps(settings).encode()
        )

    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        """Judge from the tests that the check reported."""
        report = usable_report(evidence, _RECORDS)
        if isinstance(report, Judgement):
            return report
        name = _name(evidence.request.config)
        tests = tuple(_test(record, name) for record in report.records if record["kind"] == "test")
        raw = _raw(report.records)
        last = report.records[-1]
        if evidence.report_truncated or last["kind"] != "ended":
            cut = judge_cut_short(evidence.process)
            return Judgement(
                outcome=cut.outcome, reason=cut.reason + _openness(raw), score=cut.score, tests=tests, raw=raw
            )
        outcome, reason, score = _verdict(tests, last["problem"])
        return Judgement(outcome=outcome, reason=reason + _openness(raw), score=score, tests=tests, raw=raw)


def _name(config: Mapping[str, JsonValue]) -> str:
    name = text(config, "check")
    if name is None:
        raise InputError("evaluator config: 'check' is missing; name a file of the task's folder checks/")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.suffix != ".py" or str(path) != name:
        raise InputError(f"evaluator config: 'check' is {name!r}; name a .py file below checks/, like behaviour.py")
    return name


def _test(record: Mapping[str, Any], check: str) -> TestResult:
    return TestResult(
        id=f"checks/{check}::{record['name']}",
        role=TestRole(record["role"]),
        status=record["status"],
        duration_seconds=record["seconds"],
        message=record["message"],
    )


def _raw(records: tuple[dict[str, Any], ...]) -> dict[str, JsonValue]:
    notes: dict[str, JsonValue] = {}
    for record in records:
        if record["kind"] == "note":
            notes.update(record["values"])
    seen = records[0]["seen"]
    return {"isolated": not seen, "seen_by_product": seen, "notes": notes}


def _openness(raw: Mapping[str, JsonValue]) -> str:
    if raw["isolated"]:
        return ""
    return "; the product could have looked into the check's process here (see the raw judgement)"


def _verdict(tests: tuple[TestResult, ...], problem: str | None) -> tuple[Outcome, str, float | None]:
    if problem is not None:
        return Outcome.FAILURE, f"the check ended outside its tests: {problem}", 0.0
    if not any(test.role is TestRole.TARGET for test in tests):
        return Outcome.EVALUATOR_ERROR, "the check reports no target test", None
    target = [test for test in tests if test.role is TestRole.TARGET]
    passed = [test for test in target if test.status == "passed"]
    score = len(passed) / len(target)
    broken = [test for test in tests if test.role is TestRole.REGRESSION and test.status != "passed"]
    if broken:
        return Outcome.REGRESSION, f"{len(broken)} regression tests broke: {_first(broken)}", score
    if len(passed) == len(target):
        return Outcome.FULL_SUCCESS, f"all {len(tests)} tests passed", score
    failed = [test for test in target if test.status != "passed"]
    reason = f"{len(failed)} of {len(target)} target tests did not pass: {_first(failed)}"
    return Outcome.PARTIAL_SUCCESS if passed else Outcome.FAILURE, reason, score


def _first(tests: list[TestResult]) -> str:
    return f"{tests[0].id} ({tests[0].status}: {(tests[0].message or '')[:200]})"
