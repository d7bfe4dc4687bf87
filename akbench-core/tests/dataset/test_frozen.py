"""Verdicts, frozen datasets and relations: what an experiment may rely on."""

import shutil
from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.cli.dataset_new import write_new_dataset
from akbench.dataset.dataset import Dataset, load_dataset
from akbench.dataset.frozen import changes, freeze, write_frozen
from akbench.dataset.verdict import FlakyTest, Verdict, verdict_path, write_verdict
from akbench.descriptors.document import parse
from akbench.descriptors.kinds import ExperimentDescriptor, Filters
from akbench.descriptors.snapshot import load_document
from akbench.experiment.plan import Plan
from akbench.experiment.planner import ResolvedEnvironment, plan_experiment
from akbench.experiment.publication import brought_by, verdict_fault
from akbench.spec import InputError, PlanRejectedError

TASK = "bug_fix/slug-001"
FLAKY = FlakyTest(id="tests/test_slugs.py::test_letters_become_small", state="solved", passed=2, of=3)
EXPERIMENT = """\
schema_version: "1.0"
id: e
version: "1.0.0"
experiment:
  type: configuration
  agent: {id: noop}
  dataset: {id: new, version: "1.0.0"%s}
  evaluation: {evaluators: [pytest]}
"""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    pytest.importorskip("akbench_evaluators", reason="needs an evaluator")
    return Catalogue.load()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_new_dataset("new", tmp_path / "new")
    return tmp_path / "new"


def vouch(folder: Path, catalogue: Catalogue, **said: object) -> Dataset:
    """Store a verdict on the dataset's task as validating it would."""
    task = load_dataset(folder).tasks[0]
    key = task.verdict_key(brought_by(task, catalogue))
    verdict = Verdict(task=task.descriptor.id, task_version="1.0.0", **{"valid": True, "key": key, **said})
    write_verdict(verdict, verdict_path(folder, task.descriptor.id))
    return load_dataset(folder)


def plan(dataset: Dataset, catalogue: Catalogue, more: str = "") -> Plan:
    snapshot = load_document(parse(EXPERIMENT % more, "e.yaml"), ExperimentDescriptor, origin="test")
    return plan_experiment(
        snapshot, catalogue, dataset, ResolvedEnvironment(id="bubblewrap", sandbox="bubblewrap", bounded=True), {}
    )


def change(path: Path) -> None:
    path.write_text(path.read_text() + "\n")


def test_a_task_without_a_verdict_is_a_warning_of_the_plan_that_says_what_to_do(folder: Path, catalogue: Catalogue):
    assert plan(load_dataset(folder), catalogue).warnings == (
        "no valid verdict vouches for 1 of 1 tasks (slug-001 was never validated): akbench dataset validate new",
    )


def test_a_verdict_that_holds_makes_no_warning_and_its_flaky_tests_are_part_of_the_plan(
    folder: Path, catalogue: Catalogue
):
    planned = plan(vouch(folder, catalogue, quarantined=(FLAKY,)), catalogue)
    assert planned.warnings == ()
    assert planned.tasks[0].quarantined == (FLAKY.id,)
    assert planned.notes == (f"task 'slug-001' has flaky tests, which count for nothing: {FLAKY.id}",)


@pytest.mark.parametrize("changed", [f"{TASK}/description.md", "repositories/slugs/slugs/__init__.py"])
def test_a_verdict_says_nothing_about_a_task_that_was_changed(folder: Path, catalogue: Catalogue, changed: str):
    vouch(folder, catalogue, quarantined=(FLAKY,))
    change(folder / changed)
    dataset = load_dataset(folder)
    assert verdict_fault(dataset.tasks[0], catalogue) == "was changed since it was validated"
    assert plan(dataset, catalogue).tasks[0].quarantined == ()


def test_a_verdict_of_another_evaluator_version_or_a_refusal_is_told(folder: Path, catalogue: Catalogue):
    key = vouch(folder, catalogue).tasks[0].verdict.key
    older = vouch(folder, catalogue, key=key.model_copy(update={"version": "0.0.9"})).tasks[0]
    assert "akbench-evaluators 0.0.9, not with pytest of" in verdict_fault(older, catalogue)
    refused = vouch(folder, catalogue, valid=False, problems=("it is vague",)).tasks[0]
    assert verdict_fault(refused, catalogue) == "was refused by its validation: it is vague"


def test_a_dataset_is_frozen_only_with_verdicts(folder: Path):
    with pytest.raises(InputError, match="never validated: slug-001"):
        freeze(load_dataset(folder))


CHANGES = {
    "dataset.yaml": "dataset.yaml differs",
    "repositories/slugs/tests/test_slugs.py": "the files below repositories/ differ",
    f"{TASK}/task.yaml": "task 'slug-001' differs",
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_changed_frozen_dataset_is_refused_with_what_changed(folder: Path, catalogue: Catalogue, changed: str):
    write_frozen(freeze(vouch(folder, catalogue)), folder)
    assert changes(load_dataset(folder)) == ()
    change(folder / changed)
    with pytest.raises(PlanRejectedError, match=r"e\.yaml:7:17: dataset 'new' is frozen and was changed") as refused:
        plan(load_dataset(folder), catalogue)
    assert str(refused.value).endswith(f": {CHANGES[changed]}")


def test_a_changed_verdict_and_a_changed_frozen_file_are_told(folder: Path, catalogue: Catalogue):
    path = write_frozen(freeze(vouch(folder, catalogue)), folder)
    assert changes(vouch(folder, catalogue, problems=("x",))) == ("the verdict on task 'slug-001' differs",)
    path.write_text(path.read_text().replace("slug-001", "slug-009"))
    assert changes(load_dataset(folder)) == (
        "frozen.json itself was edited",
        "task 'slug-001' was added",
        "task 'slug-009' was removed",
    )


def test_what_only_tells_of_the_machine_is_no_part_of_the_frozen_hash(folder: Path, catalogue: Catalogue):
    first = freeze(vouch(folder, catalogue, state_seconds={"solved": 1.0}, environment="a", sandbox="local"))
    elsewhere = vouch(folder, catalogue, state_seconds={"solved": 2.0}, environment="b", sandbox="bubblewrap")
    assert freeze(elsewhere).hash == first.hash
    assert freeze(vouch(folder, catalogue, fail_to_pass=("t",))).hash != first.hash


def test_an_experiment_can_name_the_hash_of_a_frozen_dataset_and_no_other(folder: Path, catalogue: Catalogue):
    frozen = freeze(vouch(folder, catalogue))
    with pytest.raises(PlanRejectedError, match=r"e\.yaml:7:\d+: dataset 'new' is not frozen.*dataset freeze new"):
        plan(load_dataset(folder), catalogue, f", hash: {frozen.hash}")
    write_frozen(frozen, folder)
    dataset = load_dataset(folder)
    assert dataset.hash == frozen.hash
    assert plan(dataset, catalogue, f", hash: {frozen.hash}").warnings == ()
    with pytest.raises(PlanRejectedError, match=f"is frozen with the hash {frozen.hash}, not this one"):
        plan(dataset, catalogue, f", hash: {'a' * 64}")


def family(folder: Path) -> Dataset:
    """slug-001 is the same as slug-002 and misleads about slug-003; slug-004 is alone."""
    original = (folder / TASK / "task.yaml").read_text()
    for number in (2, 3, 4):
        other = folder / f"bug_fix/slug-00{number}"
        shutil.copytree(folder / TASK, other)
        (other / "task.yaml").write_text(original.replace("slug-001", f"slug-00{number}"))
    relations = "  relations: {same: [slug-002], misleading: [slug-003]}\n  difficulty:"
    (folder / TASK / "task.yaml").write_text(original.replace("  difficulty:", relations))
    return load_dataset(folder)


@pytest.mark.parametrize(
    ("filters", "chosen"),
    [
        ({"relations": ["same"]}, "1 2"),
        ({"relations": ["same", "misleading"]}, "1 2 3"),
        ({"relations": ["related"]}, ""),
        ({"related_to": ["slug-003"]}, "1 3"),
        ({"related_to": ["slug-001"], "relations": ["same"]}, "1 2"),
        ({"related_to": ["slug-004"]}, "4"),
        ({"relations": ["same"], "task_ids": ["slug-002", "slug-003"]}, "2"),
        ({"tags": ["text"], "difficulties": ["easy"]}, "1 2 3 4"),
    ],
)
def test_tasks_are_chosen_by_their_relations_whichever_side_says_so(folder: Path, filters, chosen: str):
    found = family(folder).select(Filters.model_validate(filters))
    assert " ".join(task.descriptor.id.removeprefix("slug-00") for task in found) == chosen
