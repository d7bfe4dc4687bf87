"""Reading a dataset: whatever lies there, it is the dataset that was meant or one error that names the file."""

import os
import shutil
from pathlib import Path

import pytest

from akbench.cli import init
from akbench.dataset.dataset import find_dataset, list_datasets, load_dataset
from akbench.spec import InputError

STARTER = Path(init.__file__).parent / "starter"
TASK = "bug_fix/greet-001"


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    shutil.copytree(STARTER / "datasets", tmp_path / "datasets", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "datasets" / "starter"


def replaced_by_file(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    folder.write_text("x")


def replaced_by_link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to(path.with_name("real"))


def edit(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


FAULTS = {
    "a link as task": (lambda d: replaced_by_link(d / TASK), TASK, "symbolic links are not allowed"),
    "a link as category": (lambda d: replaced_by_link(d / "bug_fix"), "bug_fix", "symbolic links are not allowed"),
    "a link as repositories": (lambda d: replaced_by_link(d / "repositories"), "repositories", "symbolic links"),
    "a pipe as hidden test": (
        lambda d: os.mkfifo(d / TASK / "hidden_tests/pipe"),
        f"{TASK}/hidden_tests/pipe",
        "neither file nor folder",
    ),
    "a pipe in a repository": (
        lambda d: os.mkfifo(d / "repositories/greeting/pipe"),
        "repositories/greeting/pipe",
        "neither file nor folder",
    ),
    "a file as hidden tests": (lambda d: replaced_by_file(d / TASK / "hidden_tests"), "hidden_tests", "is no folder"),
    "a file as public tests": (lambda d: replaced_by_file(d / TASK / "public_tests"), "public_tests", "is no folder"),
    "a file as mutations": (lambda d: replaced_by_file(d / TASK / "mutations"), "mutations", "is no folder"),
    "no such repository": (
        lambda d: edit(d / TASK / "repository.yaml", "repositories/greeting", "repositories/nowhere"),
        f"{TASK}/repository.yaml:6:9",
        "there is no folder 'repositories/nowhere' in the dataset",
    ),
    "a file as repository": (
        lambda d: edit(d / TASK / "repository.yaml", "repositories/greeting", "dataset.yaml"),
        f"{TASK}/repository.yaml:6:9",
        "there is no folder 'dataset.yaml'",
    ),
    "a repository with too long a name": (
        lambda d: edit(d / TASK / "repository.yaml", "repositories/greeting", "x" * 5000),
        f"{TASK}/repository.yaml:6:9",
        "there is no folder",
    ),
    "an empty description": (lambda d: (d / TASK / "description.md").write_text(" \n"), "description.md", "empty"),
    "a description of bytes": (
        lambda d: (d / TASK / "description.md").write_bytes(b"\xff"),
        "description.md:1:1",
        "save it as UTF-8",
    ),
    "a null character in the description": (
        lambda d: (d / TASK / "description.md").write_text("one\ntwo \0"),
        "description.md:2",
        "null character",
    ),
    "a huge description": (
        lambda d: (d / TASK / "description.md").write_text("x" * (1 << 21)),
        "description.md",
        "larger than",
    ),
}


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.replace(" ", "_"))
def test_a_fault_of_a_dataset_is_named_with_its_place_when_it_is_read(dataset: Path, case: str):
    break_it, place, words = FAULTS[case]
    load_dataset(dataset)
    break_it(dataset)
    with pytest.raises(InputError) as error:
        load_dataset(dataset)
    assert words in str(error.value)
    assert f"{place}: " in str(error.value)


def test_two_datasets_cannot_have_one_id(dataset: Path):
    shutil.copytree(dataset, dataset.with_name("zweite"))
    for look in (lambda: list_datasets(dataset.parents[1]), lambda: find_dataset(dataset.parents[1], "starter")):
        with pytest.raises(
            InputError, match=r"zweite/dataset\.yaml:2:5: dataset id 'starter' is also used in"
        ) as error:
            look()
        assert str(dataset) in str(error.value)


@pytest.mark.parametrize("value", ["[a]", "{a: b}", "null", "3"])
def test_a_dataset_whose_id_is_no_text_is_named(dataset: Path, value: str):
    edit(dataset / "dataset.yaml", "id: starter", f"id: {value}")
    with pytest.raises(InputError, match=r"dataset\.yaml:2:5: id"):
        find_dataset(dataset.parents[1], "starter")


def test_a_whole_dataset_may_lie_elsewhere(dataset: Path):
    before = load_dataset(dataset).digest
    replaced_by_link(dataset)
    shutil.move(dataset.with_name("real"), dataset.parents[1] / "shared")
    dataset.unlink()
    dataset.symlink_to(dataset.parents[1] / "shared")
    assert load_dataset(find_dataset(dataset.parents[1], "starter")).digest == before
