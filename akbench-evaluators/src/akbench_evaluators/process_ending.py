"""How the process of a check ended, in words and as a verdict where it left no report to judge from."""

from __future__ import annotations

import signal

from akbench.spec import EvaluationEvidence, Judgement, Outcome, ProcessEvidence
from akbench_evaluators.signed_report import Shapes, SignedReport, read_report

__all__ = ["describe_ending", "describe_exit", "judge_cut_short", "judge_unstarted", "usable_report"]

_TAIL_BYTES = 4_096


def describe_ending(process: ProcessEvidence) -> str:
    """The ending of the process, such as ``exit code 0`` or ``SIGSEGV``."""
    if process.timed_out:
        return "out of time"
    if process.signal is not None:
        return describe_exit(-process.signal)
    return f"exit code {process.exit_code}"


def describe_exit(code: int) -> str:
    """A child's return code, where a negative one stands for a signal."""
    if code >= 0:
        return f"exit code {code}"
    known = {each.value: each.name for each in signal.Signals}
    return known.get(-code, f"signal {-code}")


def usable_report(evidence: EvaluationEvidence, shapes: Shapes) -> SignedReport | Judgement:
    """The check's own report, with a record at least; the verdict instead where there is none or somebody forged it."""
    report = read_report(evidence.report, shapes)
    if report is None or not report.records:
        return judge_unstarted(evidence.process)
    if report.forged:
        return Judgement(outcome=Outcome.FAILURE, reason="tampering: something else wrote to the report", score=0.0)
    return report


def judge_unstarted(process: ProcessEvidence) -> Judgement:
    """The verdict where the runner itself did not come to work: no tested code had run, so it is not at fault."""
    if process.start_error is not None:
        reason = f"the check could not be started: {process.start_error}"
        return Judgement(outcome=Outcome.INFRASTRUCTURE_ERROR, reason=reason)
    if process.cancelled:
        return Judgement(outcome=Outcome.INFRASTRUCTURE_ERROR, reason="the check was cancelled")
    reason = f"the check did not begin ({describe_ending(process)}): {_last_error_line(process)}"
    return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason=reason)


def judge_cut_short(process: ProcessEvidence) -> Judgement:
    """The verdict where the runner came to work and its report has no end."""
    if process.cancelled:
        return Judgement(outcome=Outcome.INFRASTRUCTURE_ERROR, reason="the check was cancelled")
    if process.timed_out:
        return Judgement(outcome=Outcome.TIMEOUT, reason="the check ran out of time", score=0.0)
    reason = f"the tested code ended the check ({describe_ending(process)})"
    return Judgement(outcome=Outcome.FAILURE, reason=reason, score=0.0)


def _last_error_line(process: ProcessEvidence) -> str:
    with process.stderr.open("rb") as stream:
        stream.seek(max(0, process.stderr.stat().st_size - _TAIL_BYTES))
        lines = stream.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing on standard error"
