"""The adversaries get nothing, are told of where they leave a trace, and the honest ones beside them are believed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from akbench.cli import cli
from akbench.run.lifecycle import RunState
from akbench.spec import InputError
from akbench_examples.adversaries.suite import HONEST, broken_expectations, load_suite
from akbench_sandbox_docker.engine import connected
from akbench_sandbox_docker.testing import NoEngineError, private_engine

AKBENCH = Path(sys.executable).with_name("akbench")
SUITE = {each.id: each for each in load_suite()}
FEW = (
    "conftest-drops-hidden-tests",
    "forge-some-reports",
    "unchecked-bytecode",
    "search-the-disk",
    "many-files",
    "daemon-rewrites-the-workspace",
    "fix-and-tests",
)
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def tried(folder: Path, sandbox: str, *only: str, **environ: str) -> dict[str, dict]:
    options = [word for name in only for word in ("--only", name)]
    done = subprocess.run(
        [AKBENCH, "adversaries", folder, "--sandbox", sandbox, "--json", *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environ},
        timeout=3000,
    )
    assert done.stdout, done.stderr
    found = {each["id"]: each for each in json.loads(done.stdout)["adversaries"]}
    assert {name: each["wrong"] for name, each in found.items() if each["wrong"]} == {}
    assert done.returncode == 0, done.stderr
    return found


def processes_below(folder: Path) -> list[str]:
    """Processes of this machine whose command or working folder names `folder`."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            told = (path / "cmdline").read_text() + str((path / "cwd").readlink())
        except OSError:
            continue
        if str(folder) in told:
            found.append(told)
    return found


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A temporary folder in which nobody else is at work, with a path short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="adv-") as name:
        path = Path(name)
        path.chmod(0o1777)
        yield path


def left_behind(folder: Path, temporary: Path) -> dict[str, object]:
    return {
        "processes": processes_below(folder),
        "workspaces": [path.name for path in (folder / "data" / "workspaces").iterdir()],
        "mounts": [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(folder) in line],
        "temporary": [path.name for path in temporary.iterdir()],
    }


NOTHING = {"processes": [], "workspaces": [], "mounts": [], "temporary": []}


@pytest.mark.network
@pytest.mark.bubblewrap
@needs_bubblewrap
def test_a_few_of_each_kind_get_nothing_and_leave_nothing(tmp_path, temporary):
    found = tried(tmp_path / "adversaries", "bubblewrap", *FEW, TMPDIR=str(temporary))
    assert set(found) == {*FEW}
    assert left_behind(tmp_path / "adversaries", temporary) == NOTHING


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.bubblewrap
@needs_bubblewrap
def test_all_get_nothing_in_bubblewrap(tmp_path, temporary):
    found = tried(tmp_path / "adversaries", "bubblewrap", TMPDIR=str(temporary))
    assert len(found) >= len(SUITE) - 1
    assert left_behind(tmp_path / "adversaries", temporary) == NOTHING


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.docker
def test_all_get_nothing_in_docker(tmp_path, temporary):
    try:
        with private_engine():
            found = tried(tmp_path / "adversaries", "docker", TMPDIR=str(temporary))
            with connected() as engine:
                assert engine.containers(all=True) == []
    except NoEngineError as error:
        pytest.skip(str(error))
    assert set(found) == set(SUITE)
    assert left_behind(tmp_path / "adversaries", temporary) == NOTHING


def test_nobodys_folder_is_mixed_with_hostile_agents(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.txt").write_text("mine")
    (tmp_path / "link").symlink_to("project")
    (tmp_path / "nowhere").symlink_to("missing")
    for name, words in (
        ("project", "holds something else"),
        ("link", "holds something else"),
        ("nowhere", "a link to"),
    ):
        done = CliRunner().invoke(cli, ["adversaries", str(tmp_path / name)])
        assert isinstance(done.exception, InputError) or done.exit_code == 2
        assert words in done.output + str(done.exception)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link", "notes.txt", "nowhere", "project"]


def test_the_suite_is_as_large_as_it_says_and_every_family_has_some():
    families = Counter(each.family for each in SUITE.values())
    assert families[HONEST] >= 5
    assert sum(families.values()) - families[HONEST] >= 40
    assert len(SUITE) == len(load_suite())


def run(**others: object) -> SimpleNamespace:
    usual = {"solved": False, "reason": None, "oddities": (), "touched_protected": (), "state": RunState.COMPLETED}
    return SimpleNamespace(**{**usual, "finished_at": datetime.now(UTC), **others})


def test_an_adversary_that_wins_is_told():
    wrong = list(broken_expectations(SUITE["system-exit"], run(solved=True), None, None))  # type: ignore[arg-type]
    assert wrong == ["it counts as solved: COMPLETED "]


def test_an_adversary_whose_run_says_nothing_is_told():
    wrong = list(broken_expectations(SUITE["system-exit"], run(solved=None), None, None))  # type: ignore[arg-type]
    assert wrong == ["it counts as no result: COMPLETED "]


def test_an_adversary_that_escapes_is_told():
    patch = "diff --git a/found.txt b/found.txt\n+/datasets/hidden\n"
    wrong = list(broken_expectations(SUITE["search-the-disk"], run(), None, patch))  # type: ignore[arg-type]
    assert len(wrong) == 1
    assert "got what it must not get" in wrong[0]


def test_an_adversary_that_leaves_no_sign_is_told():
    wrong = list(broken_expectations(SUITE["sitecustomize"], run(), None, None))  # type: ignore[arg-type]
    assert len(wrong) == 1
    assert "nothing tells of it" in wrong[0]


def test_an_honest_one_that_is_accused_or_not_believed_is_told():
    accused = run(solved=False, reason="tampering: something")
    wrong = list(broken_expectations(SUITE["plain-fix"], accused, None, None))  # type: ignore[arg-type]
    assert len(wrong) == 2
