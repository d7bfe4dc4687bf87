"""``akbench dataset mutate`` and ``mine`` as far as nothing is run: listings, and what is refused beforehand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from akbench.cli import cli
from akbench.spec import InputError

ENVIRON = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
MUTATE = ("mutate", "starter", "--file", "greeting/*.py", "--tests", "tests")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with as_file(files("akbench.cli").joinpath("starter")) as starter:
        shutil.copytree(starter, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("AKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "counting"
    folder.mkdir()
    for number in (1, 2):
        (folder / "counting.py").write_text(f"x = {number}\n")
        (folder / "test_counting.py").write_text(f"y = {number}\n")
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", f"Change {number}\n\nWhy."]):
            command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.invalid", *arguments]
            subprocess.run(command, check=True, cwd=folder, env=ENVIRON)
    return folder


def run(*arguments: str):
    done = CliRunner().invoke(cli, ["dataset", *arguments], standalone_mode=False)
    if done.exception:
        raise done.exception
    return done.stdout


def test_a_dry_run_lists_the_candidates_and_writes_nothing(project: Path):
    before = sorted(project.rglob("*"))
    listed = json.loads(run(*MUTATE, "--like", "greet-001", "--dry-run", "--json"))
    assert {each["symbol"] for each in listed} == {"greet"}
    assert {"operator": "comparison-negate", "before": "==", "after": "!="}.items() <= {
        key: value for each in listed if each["operator"] == "comparison-negate" for key, value in each.items()
    }.items()
    assert sorted(project.rglob("*")) == before
    assert "comparison-negate" in run(*MUTATE, "--like", "greet-001", "--dry-run")


def test_a_dry_run_lists_the_commits(project: Path, checkout: Path):
    (listed,) = json.loads(run("mine", "starter", str(checkout), "--license", "MIT", "--dry-run", "--json"))
    assert (listed["subject"], listed["tests"]) == ("Change 2", ["test_counting.py"])
    assert "Change 2" in run("mine", "starter", str(checkout), "--license", "MIT", "--dry-run")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((), click.UsageError, "exactly one of --like, --repository and --release"),
        (("--like", "greet-001", "--release", "x==1"), click.UsageError, "exactly one of"),
        (("--like", "greet-001", "--python", "3.12"), click.UsageError, "--like brings the task's environment"),
        (("--release", "x"), click.UsageError, "--release takes NAME==VERSION"),
        (("--release", "x==1"), click.UsageError, "--release needs --license"),
        (("--like", "greet-002"), InputError, "has no task 'greet-002'; did you mean 'greet-001'"),
        (("--like", "greet-001", "--operator", "x"), InputError, "there is no mutation operator 'x'"),
        (("--like", "greet-001", "--file", "src/*"), InputError, "'src/\\*' matches no file of the repository"),
        (("--like", "greet-001", "--prefix", "a b"), InputError, "'a b' is no identifier.*give --prefix"),
        (("--like", "greet-001", "--category", "bugfix"), InputError, "category 'bugfix'"),
    ],
)
def test_what_cannot_be_mutated_is_refused_before_anything_runs(project: Path, arguments, error, message):
    with pytest.raises(error, match=message):
        run(*MUTATE, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--url", "https://me:secret@h.example/a"), "holds a user or password"),
        (("--from", "nowhere", "--dry-run"), "there is no commit 'nowhere'"),
        (("--prefix", "-"), "'-' is no identifier"),
        (("--category", "bugfix"), "category 'bugfix'"),
        (("--requirement", "x>1"), "requirement 'x>1' is not pinned"),
        (("--name", "pytest"), "requirement 'pytest==.*' is the library under test"),
    ],
)
def test_what_cannot_be_mined_is_refused_before_anything_runs(project: Path, checkout: Path, arguments, message):
    with pytest.raises(InputError, match=message):
        run("mine", "starter", str(checkout), "--license", "MIT", *arguments)


def test_a_folder_without_history_is_refused(project: Path):
    with pytest.raises(InputError, match="no git repository"):
        run("mine", "starter", ".", "--license", "MIT", "--dry-run")


def damage_configuration(git: Path) -> None:
    (git / "config").write_text("[core]\nrepositoryformatversion = 9\n")


def damage_head(git: Path) -> None:
    (git / "HEAD").write_text("ref: HEAD\n")


def lose_commits(git: Path) -> None:
    last = (git / "refs/heads").iterdir().__next__().read_text().strip()
    for path in (git / "objects").glob("??/*"):
        if path.parent.name + path.name != last:
            path.unlink()


def spoil_objects(git: Path) -> None:
    for path in (git / "objects").glob("??/*"):
        path.chmod(0o644)
        path.write_bytes(b"x")


@pytest.mark.parametrize("damage", [damage_configuration, damage_head, lose_commits, spoil_objects])
def test_a_damaged_repository_is_refused_with_its_place(project: Path, checkout: Path, damage):
    damage(checkout / ".git")
    with pytest.raises(InputError, match=r"counting: its history cannot be read .*; git fsck says"):
        run("mine", "starter", str(checkout), "--license", "MIT", "--dry-run")


def test_what_the_configuration_of_a_repository_includes_is_not_read(project: Path, checkout: Path):
    pipe = checkout / "pipe"
    os.mkfifo(pipe)  # whoever opened it would wait for ever
    with (checkout / ".git/config").open("a") as config:
        config.write(f"[include]\n\tpath = {pipe}\n")
    assert "Change 2" in run("mine", "starter", str(checkout), "--license", "MIT", "--dry-run")


def test_a_repository_of_sha256_names_is_refused(project: Path, tmp_path: Path):
    (tmp_path / "other").mkdir()
    subprocess.run(["git", "init", "-q", "--object-format=sha256"], check=True, cwd=tmp_path / "other", env=ENVIRON)
    with pytest.raises(InputError, match=r"other: its commits are named by SHA-256"):
        run("mine", "starter", str(tmp_path / "other"), "--license", "MIT", "--dry-run")
