"""Evaluators that break the contract in one point each. `fails` names the one contract test that must catch them."""

# ruff: noqa: N801, RUF012 - a liar is a class within the class that catches it

from __future__ import annotations

import json

from akbench.descriptors.document import parse
from akbench.descriptors.kinds import EvaluatorDescriptor
from akbench.descriptors.snapshot import load_document
from akbench.spec import EvaluationInvocation, Evaluator, InputError, Judgement, Outcome
from akbench.testing import EvaluatorContract

RUNNER = b"""
import json, os, subprocess, sys
done = subprocess.run([sys.executable, "-I", "answer.py"], capture_output=True, text=True)
print("said", done.stdout)
with os.fdopen(3, "w") as report:
    json.dump({"said": done.stdout, "code": done.returncode}, report)
    report.write("\\n")
"""


class Lies(EvaluatorContract):
    fails = ""
    sandbox = "local"
    late_seconds = 2.0
    stop_seconds = 15.0
    trial = {
        "config": {"answer": 42, "timeout_seconds": 30},
        "wrong": [{"answer": -1}],
        "solved": {"answer.py": "print(6 * 7)\n"},
        "unsolved": {"answer.py": "print(6 + 7)\n"},
        "code": "answer.py",
    }

    @classmethod
    def read_descriptor(cls):
        schema = {"answer": {"type": "integer", "required": True}, "timeout_seconds": {"type": "float"}}
        part = {"adapter": "liar", "configuration_schema": schema}
        data = {"schema_version": "1.0", "id": "liar", "version": "1.0.0", "evaluator": part}
        return load_document(parse(json.dumps(data), "liar.yaml"), EvaluatorDescriptor, origin="liar")


class Answering(Evaluator):
    """Runs answer.py in a process that has no report, and compares what it says."""

    def check_config(self, config):
        answer, seconds = config.get("answer"), config.get("timeout_seconds", 1)
        if not isinstance(answer, int) or answer < 0 or not isinstance(seconds, int | float):
            raise InputError("answer: give a number, 0 or more")

    def prepare(self, request):
        argv = (request.python, "-I", f"{request.tools}/runner.py")
        return EvaluationInvocation(argv=argv, environ=request.environ, files={"runner.py": RUNNER})

    def judge(self, evidence):
        if evidence.process.timed_out:
            return Judgement(outcome=Outcome.TIMEOUT, reason="out of time")
        if evidence.report_truncated:
            return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason="the report was cut")
        try:
            said = json.loads(evidence.report)["said"]
        except (ValueError, KeyError):
            return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason="there is no report")
        return self.judged(said == f"{evidence.request.config['answer']}\n")

    def judged(self, right):
        outcome = Outcome.FULL_SUCCESS if right else Outcome.FAILURE
        return Judgement(outcome=outcome, reason="compared", score=float(right))


class TestHonestEvaluator(Lies):
    adapter = Answering


class TestEvaluatorDislikesAll(Lies):
    """Refuses the very configuration that it is tried with."""

    fails = "test_a_working_configuration_is_accepted"

    class adapter(Answering):
        def check_config(self, config):
            raise InputError("answer: try another")


class TestEvaluatorTakesAll(Lies):
    fails = "test_a_wrong_configuration_is_refused_with_a_message"

    class adapter(Answering):
        def check_config(self, config):
            pass


class TestEvaluatorWantsWhatNobodyGives(Lies):
    """Names a tree that there is none of."""

    fails = "test_what_it_wants_to_see_is_said_in_the_contracts_words"

    class adapter(Answering):
        judges = "everything"


class TestEvaluatorNeverContent(Lies):
    fails = "test_a_solved_tree_succeeds"

    class adapter(Answering):
        def judged(self, right):
            return Judgement(outcome=Outcome.FAILURE, reason="never", score=0.0)


class TestEvaluatorBlamesItself(Lies):
    """Calls a wrong answer a fault of its own."""

    fails = "test_an_unsolved_tree_fails"

    class adapter(Answering):
        def judged(self, right):
            outcome = Outcome.FULL_SUCCESS if right else Outcome.EVALUATOR_ERROR
            return Judgement(outcome=outcome, reason="compared")


class TestEvaluatorSharesItsReport(Lies):
    """Lets the tested code write to the report, and believes its first line."""

    fails = "test_a_forged_report_is_not_believed"

    class adapter(Answering):
        def prepare(self, request):
            runner = RUNNER.replace(b"text=True", b"text=True, pass_fds=[3]")
            argv = (request.python, "-I", f"{request.tools}/runner.py")
            return EvaluationInvocation(argv=argv, environ=request.environ, files={"runner.py": runner})

        def judge(self, evidence):
            first = evidence.report.partition(b"\n")[0]
            return super().judge(
                type(evidence)(
                    request=evidence.request,
                    process=evidence.process,
                    report=first + b"\n",
                    report_truncated=evidence.report_truncated,
                )
            )


class TestEvaluatorForgivesDelay(Lies):
    """Calls what did not end a success."""

    fails = "test_a_check_that_does_not_end_is_stopped"

    class adapter(Answering):
        def judge(self, evidence):
            if evidence.process.timed_out:
                return Judgement(outcome=Outcome.FULL_SUCCESS, reason="it would have got there", score=1.0)
            return super().judge(evidence)


class TestEvaluatorForgivesBreakage(Lies):
    """Calls code that cannot be read a success."""

    fails = "test_a_broken_tree_is_no_success"

    class adapter(Answering):
        def judge(self, evidence):
            if b'"said": "", "code": 1' in evidence.report:
                return Judgement(outcome=Outcome.PARTIAL_SUCCESS, reason="it is a start", score=0.5)
            return super().judge(evidence)


class TestEvaluatorNeedsNoReport(Lies):
    """Believes the exit code where there is no report."""

    fails = "test_a_missing_or_damaged_report_is_no_success"

    class adapter(Answering):
        def judge(self, evidence):
            if not evidence.report and not evidence.process.timed_out:
                return self.judged(evidence.process.exit_code == 0)
            return super().judge(evidence)


class TestEvaluatorGivesNoReason(Lies):
    fails = "test_a_judgement_is_complete"

    class adapter(Answering):
        def judged(self, right):
            found = super().judged(right)
            return Judgement(outcome=found.outcome, reason=" ", score=42.0)


class TestEvaluatorChangesItsMind(Lies):
    """Judges a failure otherwise when it sees the same again."""

    fails = "test_the_same_tree_is_judged_the_same"

    class adapter(Answering):
        seen = []

        def judge(self, evidence):
            found = super().judge(evidence)
            if evidence.report in self.seen and found.outcome is Outcome.FAILURE:
                return Judgement(outcome=Outcome.REGRESSION, reason="again", score=0.0)
            self.seen.append(evidence.report)
            return found
