"""Each evaluator of a task judges the tree it asks for, in a folder of its own that no other one touches."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from akbench.dataset.assembly import assemble
from akbench.dataset.dataset import load_dataset
from akbench.dataset.tree import FILE, Tree
from akbench.descriptors.evaluator import CombinedPart
from akbench.evaluate.judging import ReadyEvaluator, judge_work
from akbench.run.record import dump_json
from akbench.sandbox.local import LocalSandbox
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
    TreeKind,
)
from akbench.testing.contract.agent_stage import environment_with

LOOK = """
import json, os, sys
places = {"workspace": sys.argv[1], "given": sys.argv[2]}
found = {name: sorted(os.listdir(place)) if place else None for name, place in places.items()}
found["product"] = open("greeting/__init__.py").read()
found["stdin"] = sys.stdin.read()
open("trace-of-" + sys.argv[3], "w").close()
os.write(int(sys.argv[4]), json.dumps(found).encode())
print("seen")
"""


class Looking(Evaluator):
    """Says what it can see."""

    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        del config

    def check_files(self, config: Mapping[str, JsonValue]) -> tuple[str, ...]:
        return (str(config["check"]),) if "check" in config else ()

    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        name = type(self).__name__
        argv = (request.python, "-c", LOOK, request.workspace, request.given or "", name, str(request.report_fd))
        return EvaluationInvocation(argv=argv, environ=request.environ, stdin=b"".join(dict(request.checks).values()))

    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        raw = json.loads(evidence.report)
        raw["hidden"] = list(evidence.request.hidden_files)
        return Judgement(outcome=Outcome.FULL_SUCCESS, reason="seen", score=1.0, raw=raw)


class LookingAtTheWork(Looking):
    judges = TreeKind.FINAL
    needs_given = True


def ready(evaluator: Evaluator, name: str, **config: JsonValue) -> ReadyEvaluator:
    part = CombinedPart(id=name, adapter="looking", config=config)
    return ReadyEvaluator(part=part, evaluator=evaluator, distribution="here", version="1")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory):
    """The starter task's work with a changed conftest.py and a new file, as two evaluators see it."""
    root = tmp_path_factory.mktemp("judging")
    with as_file(files("akbench.cli").joinpath("starter/datasets/starter")) as starter:
        shutil.copytree(starter, root / "starter", ignore=shutil.ignore_patterns("__pycache__"))
    checks = root / "starter/bug_fix/greet-001/checks"
    checks.mkdir()
    (checks / "secret.py").write_text("what only the check knows")
    dataset = load_dataset(root / "starter")
    assembled = assemble(dataset.tasks[0], dataset, root / "cache")
    work = Tree.of({b"notes.txt": (FILE, b"new"), b"conftest.py": (FILE, b"evil")})
    return judge_work(
        assembled=assembled,
        final=assembled.given.overlay(work),
        evaluators=(ready(Looking(), "restored", check="secret.py"), ready(LookingAtTheWork(), "final")),
        environment=environment_with(),
        sandbox=LocalSandbox(),
        scratch=root / "scratch",
        cancelled=threading.Event(),
    )


def seen(judged, number: int) -> Mapping[str, JsonValue]:
    return judged.parts[number].evaluation.judgement.raw


def test_an_evaluator_of_the_restored_tree_sees_hidden_tests_and_no_protected_change(judged):
    workspace = seen(judged, 0)["workspace"]
    assert "conftest.py" not in workspace
    assert "notes.txt" in workspace
    assert seen(judged, 0)["hidden"]
    assert seen(judged, 0)["given"] is None
    assert judged.touched == ("conftest.py",)


def test_an_evaluator_of_the_final_tree_sees_the_work_as_it_was_left_beside_what_was_given(judged):
    found = seen(judged, 1)
    assert {"conftest.py", "notes.txt"} <= {*found["workspace"]}
    assert found["hidden"] == []
    assert set(found["workspace"]) - set(found["given"]) == {"conftest.py", "notes.txt"}


def test_what_one_evaluator_writes_into_its_folder_no_other_one_sees(judged):
    assert "trace-of-Looking" not in seen(judged, 1)["workspace"]


def test_only_the_part_that_asks_for_a_check_script_is_given_it(judged):
    assert seen(judged, 0)["stdin"] == "what only the check knows"
    assert seen(judged, 1)["stdin"] == ""


def test_every_part_is_recorded_with_who_judged_and_what_it_said(judged):
    record = json.loads(dump_json(judged.record()))
    assert [(each["id"], each["adapter"], each["version"]) for each in record["parts"]] == [
        ("restored", "looking", "1"),
        ("final", "looking", "1"),
    ]
    assert record["outcome"] == "full_success"
    assert record["parts"][1]["judgement"]["raw"]["given"]


def test_the_reports_and_logs_of_parts_are_kept_apart(judged):
    found = judged.files()
    assert {name.split("/")[1] for name in found} == {"restored", "final"}
    assert found["evaluation/final/stdout.log"] == (b"seen\n", "text/plain")
    assert json.loads(found["evaluation/restored/report.jsonl"][0])["given"] is None


def test_the_score_of_the_tests_is_told_from_that_of_a_tidy_tree(judged):
    def says(part, score: float, *tests: TestResult):
        said = Judgement(outcome=Outcome.FULL_SUCCESS, reason="r", score=score, tests=tests)
        return replace(part, evaluation=replace(part.evaluation, judgement=said))

    failed = TestResult(id="t", role=TestRole.TARGET, status="failed")
    parts = says(judged.parts[0], 0.0, failed), says(judged.parts[1], 1.0)
    assert replace(judged, parts=parts).tested_score == 0.0
    assert judged.tested_score == judged.judgement.score == 1.0


def test_a_comparing_evaluator_without_a_given_tree_is_refused(tmp_path: Path):
    from akbench.evaluate.evaluation import evaluate

    with pytest.raises(InputError, match="compares with the tree"):
        evaluate(
            tree=Tree.of({}),
            hidden_files=(),
            evaluator=LookingAtTheWork(),
            config={},
            environment=environment_with(),
            python_path=(),
            sandbox=LocalSandbox(),
            scratch=tmp_path,
            cancelled=threading.Event(),
        )


class Stumbling(Looking):
    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        raise KeyError("exit_code")


def test_an_evaluator_that_stumbles_over_its_report_is_an_evaluator_error_and_keeps_its_report(tmp_path: Path):
    """Work whose code made it stumble can then be judged again; as a fault of the machine the run would be lost."""
    from akbench.evaluate.evaluation import evaluate

    found = evaluate(
        tree=Tree.of({b"greeting/__init__.py": (FILE, b"")}),
        hidden_files=(),
        evaluator=Stumbling(),
        config={},
        environment=environment_with(),
        python_path=(),
        sandbox=LocalSandbox(),
        scratch=tmp_path,
        cancelled=threading.Event(),
    )
    assert found.judgement.outcome is Outcome.EVALUATOR_ERROR
    assert found.judgement.reason == "the evaluator failed on what its check reported: KeyError: 'exit_code'"
    assert b"greeting" in found.report
