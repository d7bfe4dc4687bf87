"""A run's page tells who judged, what a later grading says, and what the audit noticed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from akbench.audit.auditing import Observed, audit
from akbench.evaluate.judging import EvaluationRecord, PartRecord
from akbench.run.grading import GradedVerdict, GradingRecord, TestChange
from akbench.run.lifecycle import RunState
from akbench.run.record import dump_json
from akbench.spec import Judgement, Outcome, TestRole, ToolCall

PAGE = "runs/exp-0001/run-0001/index.html"
FIRST = GradedVerdict(state=RunState.COMPLETED, outcome=Outcome.FULL_SUCCESS, score=1.0, solved=True, reason=None)
GRADING = GradingRecord(
    experiment_id="exp-0001",
    run_id="run-0001",
    number=2,
    key="k",
    graded_at=datetime(2026, 12, 24, tzinfo=UTC),
    duration_seconds=1.0,
    task="bugfix-001",
    task_version="1.1.0",
    task_digest="d",
    dataset_version="1.0.0",
    dataset_hash="h",
    evaluator="pytest",
    evaluator_version="0.2.0",
    environment="e",
    sandbox="bubblewrap",
    patch_sha256="p",
    tree="t",
    before=FIRST,
    after=replace(FIRST, outcome=Outcome.FAILURE, score=0.0, solved=False, reason="it <fails> now"),
    tests=(TestChange(id="t.py::new", role=TestRole.TARGET, before=None, after="failed"),),
    touched_protected=(),
)


def part(name: str, outcome: Outcome, score: float, **raw: int) -> PartRecord:
    return PartRecord(
        id=name,
        adapter="pytest",
        distribution="akbench-evaluators",
        version="0.1.0",
        weight=3.0,
        required=name == "unit",
        duration_seconds=2.0,
        judgement=Judgement(outcome=outcome, reason=f"{name} says so", score=score, raw=raw),
    )


def shown(lab, run, experiment, report_of, **files: bytes):
    kept = lab.keep(run(), {name.replace("__", "/").replace("_json", ".json"): text for name, text in files.items()})
    lab.add(experiment(runs=(kept,)))
    return report_of(lab).page(PAGE).text


def test_every_part_of_a_combination_is_shown_with_its_judgement(lab, run, experiment, report_of):
    parts = (part("unit", Outcome.FULL_SUCCESS, 1.0), part("style", Outcome.FAILURE, 0.5, new_findings=7))
    record = EvaluationRecord(outcome="full_success", reason="r", score=0.875, tests=(), raw={}, parts=parts)
    text = shown(lab, run, experiment, report_of, evaluation_json=dump_json(record))
    assert "unit pytest (akbench-evaluators 0.1.0) required 3 full success 1 2.00 s unit says so" in text
    assert "style pytest (akbench-evaluators 0.1.0) optional 3 failure 0.5" in text
    assert '"new_findings": 7' in text
    assert "Together: full success, score 0.875." in text


def test_a_newer_grading_is_shown_beside_the_first_verdict(lab, run, experiment, report_of):
    text = shown(lab, run, experiment, report_of, gradings__0002__grading_json=dump_json(GRADING))
    assert "The newest grading says something else than the first result." in text
    assert "first" in text
    assert "pytest 0.2.0 1.1.0 failure 0 no it <fails> now" in text
    assert "t.py::new : not there → failed" in text or "t.py::new: not there → failed" in text


def test_findings_of_the_audit_are_shown_with_their_evidence(lab, run, experiment, report_of):
    calls = [ToolCall(name="shell", command="curl 'https://example.org/<x>'")]
    seen = Observed(tool_calls=calls, trace=(), reports_calls=True, changes={}, added={}, model_requests=None)
    text = shown(lab, run, experiment, report_of, audit_json=dump_json(audit(seen)))
    assert "warning Tries to reach another machine tool call 1 curl https://example.org/<x> 1" in text
    assert "not checked, the agent had no model endpoint" in text


def test_a_run_without_any_of_these_says_so(lab, run, experiment, report_of):
    text = shown(lab, run, experiment, report_of)
    assert "This run was not audited." in text
    assert "No evaluator's judgement is stored for this run." in text
    assert "Judged again since" not in text
