"""Datasets as users meet them: shipped ones are vouched for; a new one is written, validated, frozen and named."""

import json
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest

from akbench.catalogue import Catalogue
from akbench.cli import init
from akbench.dataset.dataset import load_dataset
from akbench.experiment.publication import verdict_fault
from akbench_examples import project_folder

SHIPPED = (
    Path(init.__file__).parent / "starter/datasets/starter",
    project_folder() / "datasets/software-engineering",
    project_folder() / "datasets/libraries",
)

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


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_a_valid_verdict_vouches_for_every_task_that_is_shipped(folder: Path):
    catalogue = Catalogue.load()
    tasks = load_dataset(folder).tasks
    assert {task.descriptor.id: verdict_fault(task, catalogue) for task in tasks} == dict.fromkeys(
        (task.descriptor.id for task in tasks), None
    ), "validate the dataset again and keep what is written into its validation/"


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
