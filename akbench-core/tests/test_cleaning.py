"""What a dead harness left is told from what a living one uses, and from what is nobody's business."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from akbench import ownership
from akbench.cleaning import clean, remnants
from akbench.cli import cli
from akbench.ownership import Owner
from akbench.spec import HostError, Leftover
from akbench.workspace.scratch import scratch_folder

HARNESS = """
import sys, time
from pathlib import Path
from akbench.workspace.scratch import scratch_folder
with scratch_folder("run-", Path(sys.argv[1])) as scratch:
    (scratch / "workspace").mkdir()
    print(scratch.name, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "configs").mkdir(parents=True)
    (tmp_path / "project" / "data" / "workspaces").mkdir(parents=True)
    return tmp_path / "project"


def harness(workspaces: Path) -> tuple[subprocess.Popen[str], str]:
    started = subprocess.Popen([sys.executable, "-c", HARNESS, str(workspaces)], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    return started, started.stdout.readline().strip()


def test_of_two_harnesses_only_the_dead_ones_folder_is_removed(project):
    workspaces = project / "data" / "workspaces"
    (workspaces / "mine").mkdir()
    (dead, dead_folder), (living, living_folder) = harness(workspaces), harness(workspaces)
    with dead, living:
        try:
            dead.send_signal(signal.SIGKILL)
            dead.wait()
            args = ["clean", "--project", str(project), "--json"]
            foretold = CliRunner().invoke(cli, [*args, "--dry-run"])
            assert [each["name"] for each in json.loads(foretold.output)] == [dead_folder]
            assert (workspaces / dead_folder).exists()
            cleaned = CliRunner().invoke(cli, args)
            assert [(each["state"], each["name"]) for each in json.loads(cleaned.output)] == [("removed", dead_folder)]
            assert sorted(path.name for path in workspaces.iterdir()) == sorted(["mine", living_folder])
        finally:
            living.kill()


def test_an_owner_is_gone_only_where_that_can_be_seen():
    here = Owner.this()
    assert not here.is_gone()
    assert Owner.parse(str(here)) == here
    assert replace(here, started=here.started + 1).is_gone(), "its number is another process's by now"
    assert replace(here, boot="before the last start").is_gone()
    assert not replace(here, started=1, machine="another").is_gone()
    assert not replace(here, started=1, namespace="pid:[1]").is_gone(), "it lives in another container"


def test_a_dead_process_that_nobody_has_waited_for_is_gone():
    child = subprocess.Popen(["true"])
    line = Path("/proc", str(child.pid), "stat").read_text()
    owner = replace(Owner.this(), pid=child.pid, started=int(line.rpartition(")")[2].split()[19]))
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert owner.is_gone()
    child.wait()


@pytest.mark.parametrize("text", ["", "a b c 1", "a b c x 2", "a b c 1 2 3", "\ufffd"])
def test_a_text_that_is_no_owner_is_none(text):
    assert Owner.parse(text) is None


def dead_marker(folder: Path) -> None:
    folder.mkdir()
    (folder / ".akbench-owner").write_text(str(replace(Owner.this(), started=1)))


def test_only_marked_folders_of_our_own_in_the_temporary_folder_are_removed(own_temporary_folder, tmp_path):
    dead_marker(own_temporary_folder / "akbench-dead")
    dead_marker(own_temporary_folder / "others")
    dead_marker(tmp_path / "elsewhere")
    (own_temporary_folder / "akbench-link").symlink_to(tmp_path / "elsewhere")
    (own_temporary_folder / "akbench-unmarked").mkdir()
    (own_temporary_folder / "akbench-linked-marker").mkdir()
    marker = tmp_path / "elsewhere" / ".akbench-owner"
    (own_temporary_folder / "akbench-linked-marker" / ".akbench-owner").symlink_to(marker)
    (own_temporary_folder / "akbench-file").touch()
    if os.geteuid() == 0:
        dead_marker(own_temporary_folder / "akbench-of-another")
        os.chown(own_temporary_folder / "akbench-of-another", 4711, 4711)
    with scratch_folder() as living:
        found = tuple(remnants(None, ()))
        assert [each.name for each in found] == ["akbench-dead"]
        assert [reason for _, reason in clean(found)] == [None]
        assert living.exists()
    assert not living.exists()
    assert (tmp_path / "elsewhere").exists()
    assert not (own_temporary_folder / "akbench-dead").exists()


def odd_markers(folder: Path) -> dict[str, str]:
    """Folders with markers that no harness makes: name -> what is said of it."""
    dead = str(replace(Owner.this(), started=1))
    texts = {
        "empty": b"",
        "binary": bytes(range(256)),
        "digits": dead.encode() + b"9" * 900,
        "longer": f"{dead} 1".encode(),
    }
    for name, content in texts.items():
        (folder / f"akbench-{name}").mkdir()
        (folder / f"akbench-{name}" / ".akbench-owner").write_bytes(content)
    for name in ("folder", "fifo", "dangling"):
        (folder / f"akbench-{name}").mkdir()
    (folder / "akbench-folder" / ".akbench-owner").mkdir()
    os.mkfifo(folder / "akbench-fifo" / ".akbench-owner")
    (folder / "akbench-dangling" / ".akbench-owner").symlink_to("nowhere")
    if os.geteuid() == 0:
        dead_marker(folder / "akbench-foreign")
        os.chown(folder / "akbench-foreign" / ".akbench-owner", 4711, 4711)
    names = sorted(path.name for path in folder.iterdir())
    return {name: "names no owner" if name.partition("-")[2] in texts else "is no file of this user" for name in names}


def test_a_damaged_marker_is_named_and_its_folder_left_alone(own_temporary_folder, project):
    said = odd_markers(own_temporary_folder)
    dead_marker(own_temporary_folder / "akbench-dead")
    done = CliRunner().invoke(cli, ["clean", "--project", str(project), "--json"])
    rows = {each["name"]: each["state"] for each in json.loads(done.output)}
    expected = {name: f"left alone: .akbench-owner {words}" for name, words in said.items()}
    assert rows == {"akbench-dead": "removed", **expected}
    assert done.exit_code == 0
    assert sorted(path.name for path in own_temporary_folder.iterdir()) == sorted(said)


def test_an_owner_of_which_the_kernel_does_not_tell_counts_as_alive(monkeypatch):
    start = ownership._start

    def hidden(pid: int) -> int | None:
        if pid != os.getpid():
            raise PermissionError("hidden by hidepid=1")
        return start(pid)

    monkeypatch.setattr(ownership, "_start", hidden)
    assert not replace(Owner.this(), pid=1).is_gone()


class Silent:
    """A sandbox whose engine answers and then fails, in a way that nobody foresaw."""

    def leftovers(self):
        raise KeyError("Id")


def test_a_sandbox_that_does_not_tell_what_it_left_keeps_nobody_from_cleaning_the_rest(own_temporary_folder):
    dead_marker(own_temporary_folder / "akbench-dead")
    found = clean(remnants(None, [("silent", Silent()), ("stubborn", Stubborn())]))
    assert [(each.where, reason) for each, reason in found[1:]] == [
        ("silent", "what it left cannot be told: KeyError: 'Id'"),
        ("stubborn", "the engine keeps c1"),
    ]
    assert not (own_temporary_folder / "akbench-dead").exists()


class Stubborn:
    """A sandbox whose engine does not obey."""

    def leftovers(self):
        return (Leftover(kind="container", name="c1"),)

    def remove(self, leftover):
        raise HostError(f"the engine keeps {leftover.name}")


def test_what_cannot_be_removed_is_named_with_its_reason():
    ((remnant, reason),) = clean(remnants(None, [("stubborn", Stubborn())]))
    assert (remnant.where, reason) == ("stubborn", "the engine keeps c1")


def test_outside_a_project_only_the_rest_is_cleaned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["clean"]).output == "nothing is left of earlier runs\n"
    asked = CliRunner().invoke(cli, ["clean", "--project", "."])
    assert "no AK-Bench project here" in str(asked.exception)
