"""A task judged by several evaluators: validated, run and shown through the real command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from project_under_test import ProjectUnderTest

from akbench.descriptors.document import parse

TASK = "datasets/starter/bug_fix/greet-001"
COMBINED = """\
schema_version: "1.0"
id: greet-001-tests
version: "1.1.0"
evaluator:
  combine:
    - id: unit
      adapter: pytest
      weight: 3
      config:
        target: [tests/test_groups.py]
        regression: [tests/test_greeting.py]
        timeout_seconds: 60
    - id: behaviour
      adapter: python
      config: {check: behaviour.py, timeout_seconds: 60}
    - id: size
      adapter: diff
      required: false
      config: {max_lines: 2, allow: ["greeting/**"]}
"""
CHECK = """\
def check(product, report):
    with report.test("five are greeted"):
        assert product.call("greeting:greet", list("abcde")) == "Hello, a, b, c, d and e!"
    with report.test("nobody is greeted as well", role="regression"):
        product.call("greeting:greet", [])
"""


@pytest.fixture(scope="module")
def combined(shared_project: ProjectUnderTest) -> ProjectUnderTest:
    """The starter's task with three evaluators."""
    (shared_project.root / TASK / "checks").mkdir()
    (shared_project.root / TASK / "checks/behaviour.py").write_text(CHECK)
    (shared_project.root / TASK / "evaluator.yaml").write_text(COMBINED)
    return shared_project


def evaluation(project: ProjectUnderTest, run_id: str) -> dict[str, Any]:
    path = project.root / "data/artifacts/exp-0001" / run_id / "evaluation.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_such_a_task_is_validated_by_the_tests_of_all_its_parts(combined: ProjectUnderTest):
    done = combined.akbench("dataset", "validate", "starter", "--repetitions", "2", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads((combined.root / "datasets/starter/validation/greet-001.json").read_text())
    assert verdict["key"]["evaluator"] == "pytest+python+diff"
    assert "checks/behaviour.py::five are greeted" in verdict["fail_to_pass"]
    assert "checks/behaviour.py::nobody is greeted as well" in verdict["pass_to_pass"]
    assert any(name.startswith("tests/test_groups.py::") for name in verdict["fail_to_pass"])
    assert verdict["states"]["unsolved"]["highest_score"] == 0.0


def test_each_run_is_judged_by_all_parts_and_keeps_what_each_said(combined: ProjectUnderTest):
    file = combined.experiment("together", "oracle: {id: oracle}\nnoop: {id: noop}")
    text = (combined.root / file).read_text()
    (combined.root / file).write_text(text.replace("evaluators: [pytest]", "evaluators: [pytest, python, diff]"))
    done = combined.akbench("experiment", "run", file)
    assert done.returncode == 0, done.stderr
    solved, idle = evaluation(combined, "run-0001"), evaluation(combined, "run-0002")
    assert [(part["id"], part["judgement"]["outcome"]) for part in solved["parts"]] == [
        ("unit", "full_success"),
        ("behaviour", "full_success"),
        ("size", "full_success"),
    ]
    assert (solved["outcome"], solved["score"]) == ("full_success", 1.0)
    assert [part["judgement"]["score"] for part in idle["parts"]] == [0.0, 0.0, 0.0]
    assert (idle["outcome"], idle["score"]) == ("failure", 0.0)
    folder = combined.root / "data/artifacts/exp-0001/run-0001"
    kept = {artifact["name"] for artifact in combined.result("exp-0001", "run-0001")["artifacts"]}
    for part in ("unit", "behaviour", "size"):
        assert f"evaluation/{part}/report.jsonl" in kept
        assert (folder / "evaluation" / part / "report.jsonl").stat().st_size > 0
    audit = json.loads((folder / "audit.json").read_text())
    assert audit["findings"] == []
    shown = combined.show("exp-0001")["run_list"][0]["audit"]
    assert {rule["id"]: rule["unavailable"] for rule in shown["rules"]}["steering-file"] is None


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("adapter: diff", "adapter: dif", "evaluator.yaml:17:16: unknown evaluator 'dif'; did you mean 'diff'?"),
        ("max_lines: 2", "max_lines: 0", "evaluator.yaml:19:15: evaluator config: 'max_lines' is 0"),
        ("behaviour.py,", "behavior.py,", "evaluator.yaml:15:15: there is no file checks/behavior.py"),
    ],
)
def test_what_is_wrong_in_a_part_is_named_with_line_and_column(
    combined: ProjectUnderTest, old: str, new: str, place: str
):
    path: Path = combined.root / TASK / "evaluator.yaml"
    path.write_text(COMBINED.replace(old, new))
    done = combined.akbench("dataset", "validate", "starter", "--static")
    path.write_text(COMBINED)
    assert done.returncode == 2
    assert place in done.stderr


def test_tests_are_sorted_into_the_part_that_ran_them(combined: ProjectUnderTest):
    path = combined.root / TASK / "evaluator.yaml"
    mixed = "target: [tests/test_groups.py, tests/test_greeting.py]  # to be sorted"
    path.write_text(
        COMBINED.replace("target: [tests/test_groups.py]", mixed).replace(
            "        regression: [tests/test_greeting.py]\n", ""
        )
    )
    done = combined.akbench("dataset", "validate", "starter", "--sort-tests", "--repetitions", "1")
    written = parse(path.read_text(), "evaluator.yaml").data["evaluator"]["combine"]
    path.write_text(COMBINED)
    assert done.returncode == 0, done.stdout + done.stderr
    unit, behaviour, size = (part["config"] for part in written)
    assert unit["target"]
    assert all(name.startswith("tests/test_groups.py::") for name in unit["target"])
    assert any(name.startswith("tests/test_greeting.py::") for name in unit["regression"])
    assert behaviour == {"check": "behaviour.py", "timeout_seconds": 60}
    assert size == {"max_lines": 2, "allow": ["greeting/**"]}
