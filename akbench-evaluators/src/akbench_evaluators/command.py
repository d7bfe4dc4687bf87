"""The evaluator `command`: one command that succeeds on a solved tree."""

from __future__ import annotations

from collections.abc import Mapping

from akbench.spec import (
    EvaluationEvidence,
    EvaluationInvocation,
    EvaluationRequest,
    Evaluator,
    InputError,
    JsonValue,
    Judgement,
    Outcome,
)
from akbench_evaluators.config import reject_unknown_keys, require_seconds, texts
from akbench_evaluators.process_ending import describe_exit, judge_cut_short, usable_report
from akbench_evaluators.shipment import runner_argv, runner_files
from akbench_evaluators.signed_report import Shapes

__all__ = ["CommandEvaluator"]

_KEYS = ("command", "success_exit_codes", "timeout_seconds")
_RECORDS: Shapes = {"started": {}, "unstartable": {"reason": (str,)}, "ended": {"exit_code": (int,)}}
_WITHOUT_SCORE = frozenset({Outcome.EVALUATOR_ERROR, Outcome.INFRASTRUCTURE_ERROR})


class CommandEvaluator(Evaluator):
    """Runs the command in the workspace; success is an exit code that the configuration lists."""

    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        """Raise `InputError` with the key and the mend if `config` cannot be used."""
        reject_unknown_keys(config, _KEYS)
        require_seconds(config, "timeout_seconds")
        texts(config, "command", required=True)
        _success_exit_codes(config)

    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        """Say how to run the command: below a runner that alone holds the report."""
        settings = {
            "workspace": request.workspace,
            "report_fd": request.report_fd,
            "command": texts(request.config, "command", required=True),
        }
        files = runner_files("command_runner", "hiding", "signed_report", settings=settings)
        return EvaluationInvocation(argv=runner_argv(request), environ=dict(request.environ), files=files)

    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        """Judge from the exit code that the runner saw."""
        report = usable_report(evidence, _RECORDS)
        if isinstance(report, Judgement):
            return report
        last = report.records[-1]
        if last["kind"] == "unstartable":
            return _verdict(Outcome.EVALUATOR_ERROR, f"the command could not be started: {last['reason']}")
        if last["kind"] == "ended":
            return _ended(last["exit_code"], _success_exit_codes(evidence.request.config))
        return judge_cut_short(evidence.process)


def _ended(exit_code: int, success: tuple[int, ...]) -> Judgement:
    outcome = Outcome.FULL_SUCCESS if exit_code in success else Outcome.FAILURE
    return _verdict(outcome, f"the command ended with {describe_exit(exit_code)}", exit_code=exit_code)


def _verdict(outcome: Outcome, reason: str, **raw: JsonValue) -> Judgement:
    score = None if outcome in _WITHOUT_SCORE else float(outcome is Outcome.FULL_SUCCESS)
    return Judgement(outcome=outcome, reason=reason, score=score, raw=raw)


def _success_exit_codes(config: Mapping[str, JsonValue]) -> tuple[int, ...]:
    value = config.get("success_exit_codes", [0])
    if not isinstance(value, list) or not value:
        raise InputError(f"evaluator config: 'success_exit_codes' is {value!r}; make it a list of exit codes like [0]")
    return tuple(_exit_code(item) for item in value)


def _exit_code(item: JsonValue) -> int:
    if isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= 255:
        return item
    raise InputError(f"evaluator config: 'success_exit_codes' holds {item!r}; each is an integer from 0 to 255")
