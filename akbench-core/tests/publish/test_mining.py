"""Which commits of a real repository are candidates, and what their trees are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from akbench.publish.mining import TEST_GLOBS, commits_with_tests, object_folder, trees_of
from akbench.spec import InputError

ENVIRON = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.invalid", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRON).stdout.strip()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = tmp_path_factory.mktemp("checkout")
    git(repository, "init", "-q", "-b", "main")
    history = {
        "first": {"m.py": "x = 1\n", "tests/test_m.py": "old\n", "tests/data.txt": "old\n", "NEWS": "\n"},
        "fix": {"m.py": "x = 2\n", "tests/test_m.py": "new\n", "tests/data.txt": "new\n", "NEWS": "fixed\n"},
        "docs": {"NEWS": "more\n"},
        "tests only": {"tests/test_m.py": "newer\n"},
        "data only": {"m.py": "x = 3\n", "tests/data.txt": "newer\n"},
        "drop": {"m.py": None, "n.py": "x = 3\n", "tests/test_m.py": None, "tests/test_n.py": "n\n"},
        "big": {**{f"big{number}.py": "" for number in range(5)}, "tests/test_n.py": "big\n"},
    }
    for message, files in history.items():
        for name, text in files.items():
            path = repository / name
            path.parent.mkdir(exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", message)
        git(repository, "tag", message.replace(" ", "-"))
    return repository


def subjects(checkout: Path, **changes) -> list[str]:
    values = {"revision": "HEAD", "stop": None, "tests": TEST_GLOBS, "most_files": 3, **changes}
    return [each.message.strip() for each in commits_with_tests(checkout, **values)]


def test_commits_that_change_code_and_tests_are_found_newest_first(checkout: Path):
    assert subjects(checkout) == ["drop", "fix"]
    assert subjects(checkout, most_files=5) == ["big", "drop", "fix"]


def test_the_range_and_what_counts_as_tests_can_be_chosen(checkout: Path):
    assert subjects(checkout, revision="docs") == ["fix"]
    assert subjects(checkout, stop="fix") == ["drop"]
    assert subjects(checkout, tests=["tests/test_n.py"]) == ["drop"]


def test_a_bare_repository_does_as_well(checkout: Path):
    assert subjects(checkout / ".git") == ["drop", "fix"]


def test_the_trees_keep_tests_and_code_apart(checkout: Path):
    (fix,) = commits_with_tests(checkout, revision="docs", stop=None, tests=TEST_GLOBS, most_files=3)
    trees = trees_of(fix, object_folder(checkout))
    assert fix.selectors == ("tests/test_m.py",)
    assert trees.before.id == git(checkout, "rev-parse", "first^{tree}")
    assert {path: trees.tests.read(path) for path in trees.tests.entries} == {
        b"tests/test_m.py": b"new\n",
        b"tests/data.txt": b"new\n",
    }
    assert {path: trees.solved.read(path) for path in trees.solved.entries} == {
        b"m.py": b"x = 2\n",
        b"NEWS": b"fixed\n",
        b"tests/test_m.py": b"old\n",
        b"tests/data.txt": b"old\n",
    }
    assert trees.solved.overlay(trees.tests).id == git(checkout, "rev-parse", "fix^{tree}")


def test_a_file_that_goes_is_gone_in_the_solution(checkout: Path):
    drop, _ = commits_with_tests(checkout, revision="drop", stop=None, tests=TEST_GLOBS, most_files=3)
    solved = trees_of(drop, object_folder(checkout)).solved
    assert b"m.py" not in solved.entries
    assert b"n.py" in solved.entries


def test_what_is_no_repository_or_no_commit_is_refused(checkout: Path, tmp_path: Path):
    with pytest.raises(InputError, match="no git repository"):
        subjects(tmp_path)
    with pytest.raises(InputError, match="there is no commit 'nowhere'"):
        subjects(checkout, revision="nowhere")


def test_a_test_that_is_a_link_makes_no_task(checkout: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", checkout, copy], check=True, env=ENVIRON)
    (copy / "tests" / "test_link.py").symlink_to("test_n.py")
    (copy / "n.py").write_text("x = 4\n")
    git(copy, "add", "-A")
    git(copy, "commit", "-q", "-m", "link")
    newest = next(commits_with_tests(copy, revision="HEAD", stop=None, tests=TEST_GLOBS, most_files=3))
    with pytest.raises(InputError, match=r"'tests/test_link\.py' is a symbolic link"):
        trees_of(newest, object_folder(copy))
