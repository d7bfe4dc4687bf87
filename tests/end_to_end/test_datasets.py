"""A new dataset from the command line: written, validated for real, frozen, named by an experiment."""

import json

import pytest
from project_under_test import ProjectUnderTest

EXPERIMENT = """\
schema_version: "1.0"
id: e
version: "1.0.0"
experiment:
  type: configuration
  agent: {id: noop}
  dataset: {id: mine, version: "1.0.0", hash: HASH}
  evaluation: {evaluators: [pytest]}
"""


@pytest.mark.network
def test_a_new_dataset_validates_untouched_resumes_freezes_and_can_be_named_by_its_hash(project: ProjectUnderTest):
    assert project.akbench("dataset", "new", "mine").returncode == 0
    first = project.akbench("dataset", "validate", "mine", "--repetitions", "2", "--json")
    assert first.returncode == 0, first.stdout + first.stderr
    report = json.loads(first.stdout)["tasks"][0]
    assert (report["task"], report["ok"], report["fail_to_pass"], report["pass_to_pass"]) == ("slug-001", True, 5, 2)
    verdict = (project.root / "datasets/mine/validation/slug-001.json").read_text()
    assert str(project.root) not in verdict
    states = json.loads(verdict)["states"]
    assert list(states) == ["solved", "unsolved", "naive/only-the-report", "emptied", "deleted"]
    assert states["naive/only-the-report"]["outcomes"] == ["partial_success"] * 2
    assert [states[name]["highest_score"] for name in ("unsolved", "emptied", "deleted")] == [0.0, 0.0, 0.0]

    again = project.akbench("dataset", "validate", "mine", "--repetitions", "2", "--json")
    assert json.loads(again.stdout)["tasks"][0]["reused"] is True
    frozen = project.akbench("dataset", "freeze", "mine", "--json")
    assert frozen.returncode == 0, frozen.stderr
    path = project.root / "configs" / "experiments" / "e.yaml"
    path.write_text(EXPERIMENT.replace("HASH", json.loads(frozen.stdout)["hash"]))
    assert project.akbench("experiment", "validate", str(path)).returncode == 0

    (project.root / "datasets/mine/bug_fix/slug-001/description.md").write_text("Something else.\n")
    refused = project.akbench("experiment", "validate", str(path))
    assert refused.returncode == 2
    assert "is frozen and was changed since: task 'slug-001' differs" in refused.stderr
    assert "1 of 1 tasks cannot be frozen" in project.akbench("dataset", "freeze", "mine").stderr
