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


CHECKOUT = {
    "python_programs/halve.py": '''\
def halve(n):
    steps = 0
    while n > 1:
        n -= n // 3
        steps += 1
    return steps


"""How often n can be halved (rounding down) until it is 1 or less."""
''',
    "correct_python_programs/halve.py": """\
def halve(n):
    steps = 0
    while n > 1:
        n //= 2
        steps += 1
    return steps
""",
    "python_testcases/test_halve.py": """\
import json
from pathlib import Path

import pytest
from python_programs.halve import halve

CASES = [json.loads(line) for line in (Path(__file__).parent / "../json_testcases/halve.json").open()]


@pytest.mark.parametrize("n, steps", CASES)
def test_halve(n, steps):
    assert halve(n) == steps


@pytest.mark.skip(reason="takes long")
def test_big(): ...
""",
    "json_testcases/halve.json": "[1, 0]\n[8, 3]\n[0, 0]\n",
}


@pytest.mark.network
def test_an_imported_program_that_loops_forever_is_sorted_and_validated(project: ProjectUnderTest, tmp_path: Path):
    for name, text in CHECKOUT.items():
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_text(text)
    imported = project.akbench("dataset", "import", str(tmp_path / "checkout"), "--format", "quixbugs")
    assert imported.returncode == 0, imported.stderr
    given = sorted(path.name for path in (project.root / "datasets/quixbugs/repositories").rglob("*") if path.is_file())
    assert given == ["halve.py"]

    done = project.akbench("dataset", "validate", "quixbugs", "--sort-tests", "--repetitions", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    evaluator = (project.root / "datasets/quixbugs/bug_fix/halve/evaluator.yaml").read_text()
    verdict = json.loads((project.root / "datasets/quixbugs/validation/halve.json").read_text())
    test = "python_testcases/test_halve.py::test_halve"
    assert verdict["fail_to_pass"] == [f"{test}[8-3]"]
    assert verdict["pass_to_pass"] == [f"{test}[0-0]", f"{test}[1-0]"]
    assert verdict["test_seconds"]["unsolved"][f"{test}[8-3]"] >= 3
    assert "test_big" not in evaluator
    assert done.stdout.endswith("1 valid, 0 refused, 0 could not be validated here\n")
