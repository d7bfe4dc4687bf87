from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from akbench.dataset.dataset import UNWRITTEN, load_dataset
from akbench.dataset.tree import FILE, Tree
from akbench.descriptors.document import read
from akbench.publish.task_writing import NewTask, TaskTerms, files_of, free_id, protecting, write_task
from akbench.spec import InputError

TASK = NewTask(
    id="x-001",
    terms=TaskTerms(
        category="bug_fix",
        difficulty="easy",
        python="3.12",
        requirements=("pytest==9.2.0",),
        python_path=("src",),
        timeout_seconds=60.0,
        test_timeout_seconds=5.0,
    ),
    hint="See origin.yaml.",
    protected=("tests/**",),
    repository={"source": "git", "url": "https://h.example/r", "commit": "1" * 20 + "e" + "1" * 19, "license": "MIT"},
    repository_id="r",
    repository_version="1.0.0",
    target=("tests/test_x.py::test_a[1-\u00e9: #]",),
    regression=("tests",),
    deselect=(),
    origin={"message": "x"},
    hidden_tests=Tree.of({b"tests/test_x.py": (FILE, b"")}),
    reference_patch=b"diff",
)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    header = 'schema_version: "1.0"\nid: d\nversion: "1.0.0"\nlicense: MIT\n'
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "dataset.yaml").write_text(header)
    return tmp_path / "d"


def test_a_written_task_is_read_as_it_was_meant(dataset: Path):
    folder = write_task(dataset, TASK)
    assert folder == dataset / "bug_fix" / "x-001"
    (task,) = load_dataset(dataset).tasks
    assert task.descriptor.task.environment.requirements == ("pytest==9.2.0",)
    assert task.repository.repository.model_dump()["commit"] == TASK.repository["commit"]
    assert task.evaluator.model.evaluator.config["target"] == [*TASK.target]
    assert UNWRITTEN in task.description
    assert task.reference_patch.read_bytes() == b"diff"
    assert [path.name for path in dataset.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    "message",
    ["one", "two\n\nlines\n", "\n lead", "a\r\nb\r\n", "a\x1b[1m\nb", "\u2028\na", "\x85\n", "#c\n---\n", "t\t\n\n"],
)
def test_the_message_of_a_commit_is_recorded_exactly(dataset: Path, message: str):
    folder = write_task(dataset, replace(TASK, origin={"message": message}))
    assert read(folder / "origin.yaml").data["origin"]["message"] == message


def test_a_task_is_never_written_over(dataset: Path):
    write_task(dataset, TASK)
    assert free_id(dataset, "x") == "x-002"
    with pytest.raises(InputError, match="there is a task of that name"):
        write_task(dataset, TASK)


def test_what_the_tests_are_in_is_protected():
    assert protecting(["tests", "test_a.py::test_b", "more/tests/"]) == ("more/tests/**", "test_a.py", "tests/**")
    assert files_of(["b.py::x", "a.py::y::z", "b.py::w"]) == ("a.py", "b.py")
