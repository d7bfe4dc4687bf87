"""Tasks made by the command line, from a mutation and from a repository's history, up to their validation."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest

from akbench.dataset.assembly import assemble
from akbench.dataset.dataset import load_dataset

ENVIRON = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
MUTATE = (
    *("dataset", "mutate", "starter", "--like", "greet-001", "--file", "greeting/*.py", "--tests", "tests"),
    *("--operator", "comparison-negate", "--keep", "1", "--repetitions", "1", "--prefix", "made", "--json"),
)


def run(project: ProjectUnderTest, *arguments: str):
    done = project.akbench(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def validated(project: ProjectUnderTest, task: Path) -> None:
    """The task is refused until its description is written, and valid then."""
    command = ("dataset", "validate", "starter", "--task", task.name, "--repetitions", "1")
    refused = project.akbench(*command)
    assert refused.returncode == 2
    assert f"{task.name}/description.md:1:1: the description is still to be written" in refused.stderr
    (task / "description.md").write_text("Greeting the wrong number of people goes wrong.\n")
    done = project.akbench(*command)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.network
def test_a_mutation_that_tests_notice_becomes_a_valid_task(shared_project: ProjectUnderTest):
    found = run(shared_project, *MUTATE)
    kept = [each for each in found["tried"] if each["task"]]
    assert [each["task"] for each in kept] == ["made-001"]
    task = shared_project.root / "datasets/starter/bug_fix/made-001"
    assert {path.name for path in task.iterdir()} == {
        "task.yaml", "description.md", "repository.yaml", "evaluator.yaml", "origin.yaml", "mutations",
    }  # fmt: skip
    assert "seed: 0" in (task / "origin.yaml").read_text()
    validated(shared_project, task)
    assert run(shared_project, *MUTATE) == found
    assert not (task.parent / "made-002").exists()


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.invalid", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRON).stdout.strip()


def commit(repository: Path, message: str, **files: str) -> str:
    for name, text in files.items():
        (repository / f"{name}.py").write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", message)
    return git(repository, "rev-parse", "HEAD")


@pytest.mark.network
def test_a_commit_whose_tests_fail_before_it_becomes_a_valid_task(shared_project: ProjectUnderTest, tmp_path: Path):
    checkout = tmp_path / "counting"
    checkout.mkdir()
    git(checkout, "init", "-q", "-b", "main")
    test = "import counting\ndef test_one(): assert counting.count([7]) == 1\n"
    parent = commit(checkout, "first", counting="def count(xs): return 1\n", test_counting=test)
    wanted = test + "def test_two(): assert counting.count([7, 8]) == 2\n"
    fix = commit(checkout, "MESSAGEWORD fix", counting="def count(xs): return len(xs)\n", test_counting=wanted)
    commit(checkout, "no change", counting="def count(xs):\n    return len(xs)\n", test_counting=wanted + "# same\n")
    command = ("dataset", "mine", "starter", str(checkout), "--license", "MIT", "--repetitions", "1", "--json")
    found = run(shared_project, *command)
    assert [(each["fate"], each["task"], each["fail_to_pass"]) for each in found] == [
        ("passes_before", None, []),
        ("kept", "counting-001", ["test_counting.py::test_two"]),
    ]
    task = shared_project.root / "datasets/starter/bug_fix/counting-001"
    assert f"commit: {parent}" in (task / "repository.yaml").read_text().replace("'", "")
    assert (task / "hidden_tests/test_counting.py").read_text() == wanted
    assert "return len(xs)" in (task / "solution/reference.patch").read_text()
    assert "MESSAGEWORD" in (task / "origin.yaml").read_text()
    assert fix in (task / "origin.yaml").read_text()
    loaded = load_dataset(shared_project.root / "datasets/starter")
    given = assemble(loaded.task("counting-001"), loaded, Path(shared_project.environ["AKBENCH_CACHE"])).given
    assert set(given.entries) == {b"counting.py", b"test_counting.py"}
    assert b"test_two" not in given.read(b"test_counting.py")
    validated(shared_project, task)
    assert run(shared_project, *command) == found
