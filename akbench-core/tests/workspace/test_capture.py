from __future__ import annotations

import os
import shutil
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akbench.dataset.gather import NOISE, Caps, OddityKind
from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.spec import HostError
from akbench.workspace.capture import capture
from akbench.workspace.patch import apply_patch
from akbench.workspace.snapshot import take_snapshot

NAMES = st.binary(min_size=1, max_size=5).filter(
    lambda name: not set(name) & {0, 0x2F} and name.strip(b".") and b"git" not in name.lower() and name not in NOISE
)
FILES = st.one_of(
    st.tuples(st.sampled_from([FILE, PROGRAM]), st.one_of(st.binary(max_size=30), st.sampled_from([b"a\n", b"b\n"]))),
    st.tuples(st.just(LINK), st.binary(min_size=1, max_size=8).filter(lambda target: b"\0" not in target)),
)
PATHS = st.one_of(
    st.sampled_from([b"a", b"b", b"a/b", b"a/b/c"]), st.lists(NAMES, min_size=1, max_size=2).map(b"/".join)
)


def possible(files):
    folders = {path[:at] for path in files for at, byte in enumerate(path) if byte == 0x2F}
    return Tree.of({path: file for path, file in files.items() if path not in folders})


TREES = st.dictionaries(PATHS, FILES, max_size=6).map(possible)


@pytest.fixture
def captured(worktree, snapshot, tmp_path):
    return lambda **options: capture(worktree.workspace, snapshot, tmp_path / "capture.git", **options)


def kinds(captured):
    return [(oddity.path, oddity.kind, oddity.kept) for oddity in captured.oddities]


def test_an_untouched_workspace_has_the_snapshots_tree_and_an_empty_patch(captured, tree):
    found = captured()
    assert (found.tree, found.patch, found.oddities, found.complete) == (tree, b"", (), True)


@settings(max_examples=40, deadline=None)
@given(before=TREES, after=TREES)
def test_the_patch_leads_from_any_tree_to_any_other(before, after, tmp_path_factory):
    place = tmp_path_factory.mktemp("capture")
    snapshot = take_snapshot(before, place / "cache")
    after.materialise(place / "workspace")
    found = capture(place / "workspace", snapshot, place / "capture.git")
    assert found.tree == after
    assert found.complete
    patched = apply_patch(snapshot, found.patch, place / "patched.git")
    assert patched == after
    assert all(patched.read(path) == found.tree.read(path) == after.read(path) for path in after.entries)


def test_every_kind_of_change_is_in_the_patch_and_applies_back(worktree, snapshot, captured, tmp_path):
    inside = worktree.workspace
    (inside / "lib/take.py").write_text("fixed\n")
    (inside / "README.md").unlink()
    (inside / "bin/run").chmod(0o644)
    (inside / "latest").unlink()
    (inside / "latest").symlink_to("bin")
    (inside / "lib/data.bin").write_bytes(bytes(1000))
    (inside / "ignored.log").write_text("kept all the same\n")
    (inside / 'odd "name"\n\t\u00e9').write_text("x")
    (inside / "no-newline").write_text("x")
    found = captured()
    assert apply_patch(snapshot, found.patch, tmp_path / "patched.git") == found.tree
    assert {path for path in found.tree.entries if path not in snapshot.read().entries} == {
        b"ignored.log",
        'odd "name"\n\t\u00e9'.encode(),
        b"no-newline",
    }
    assert found.tree.read(b"latest") == b"bin"
    assert found.tree.entries[b"bin/run"].mode == FILE


def test_work_committed_reset_or_hidden_from_git_is_captured_as_it_lies_there(worktree, git, captured):
    inside = worktree.workspace
    (inside / "committed").write_text("x")
    git(inside, "add", "-A")
    git(inside, "commit", "-m", "work")
    (worktree.repository / "info/exclude").write_text("hidden\n")
    (inside / "hidden").write_text("x")
    git(inside, "update-index", "--assume-unchanged", "README.md")
    (inside / "README.md").write_text("changed\n")
    assert captured().patch.count(b"\ndiff --git") == 2


def test_a_workspace_whose_repository_is_gone_is_captured(worktree, captured, tree):
    (worktree.workspace / ".git").unlink()
    (worktree.workspace / ".git").symlink_to("/etc")
    shutil.rmtree(worktree.repository)
    assert captured().tree == tree


def test_git_configuration_of_the_agent_runs_nothing_and_hides_nothing(worktree, git, captured, tmp_path):
    inside = worktree.workspace
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    spy.chmod(0o755)
    for key in ("core.fsmonitor", "filter.x.clean", "diff.x.textconv", "diff.x.command", "core.pager"):
        git(inside, "config", key, str(spy))
    (inside / ".gitattributes").write_text("*.py filter=x diff=x\n* -diff export-ignore\n")
    (inside / "lib/take.py").write_text("fixed\n")
    patch = captured().patch
    assert not (tmp_path / "ran").exists()
    assert b"+fixed\n" in patch
    assert b"Binary files" not in patch


def test_links_are_kept_but_never_followed(worktree, captured, tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("the-host-secret")
    inside = worktree.workspace
    (inside / "out").symlink_to(tmp_path / "secret")
    (inside / "up").symlink_to("../..")
    shutil.rmtree(inside / "lib")
    (inside / "lib").symlink_to(tmp_path / "secret")
    found = captured()
    assert b"the-host-secret" not in found.patch
    assert {path for path, kind, kept in kinds(found) if kind is OddityKind.ESCAPING_LINK and kept} == {
        b"latest",
        b"lib",
        b"out",
        b"up",
    }
    assert found.tree.entries[b"lib"].mode == LINK


def test_the_files_of_a_repository_within_are_kept_and_its_history_is_not(worktree, git, captured):
    nested = worktree.workspace / "vendor"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "code.py").write_text("x")
    found = captured()
    assert b"vendor/code.py" in found.tree.entries
    assert kinds(found) == [(b"vendor/.git", OddityKind.NESTED_REPOSITORY, False)]


def test_what_is_no_file_stops_nothing_and_is_recorded(worktree, captured, monkeypatch):
    inside = worktree.workspace
    os.mkfifo(inside / "pipe")
    monkeypatch.chdir(inside)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        found = captured()
    assert kinds(found) == [(b"pipe", OddityKind.FIFO, False), (b"sock", OddityKind.SOCKET, False)]


def test_names_that_git_would_refuse_are_left_out_and_recorded(worktree, captured):
    for name in (".GIT", "git~1"):
        (worktree.workspace / name).write_text("x")
    (worktree.workspace / os.fsdecode(b"\xff\n")).write_text("x")
    assert kinds(captured()) == [
        (b".GIT", OddityKind.HOSTILE_NAME, False),
        (b"git~1", OddityKind.HOSTILE_NAME, False),
        (b"\xff\n", OddityKind.STRANGE_NAME, True),
    ]


def test_a_huge_file_is_not_read(worktree, captured):
    with (worktree.workspace / "huge").open("wb") as file:
        file.truncate(10 << 30)
    found = captured()
    assert kinds(found) == [(b"huge", OddityKind.HUGE_FILE, False)]
    assert found.complete


def test_a_flood_of_files_ends_the_reading_and_says_so(worktree, captured):
    for number in range(20):
        (worktree.workspace / f"z{number}").touch()
    found = captured(caps=Caps(files=10))
    assert not found.complete
    assert found.oddities[-1].kind is OddityKind.TOO_MUCH
    assert len(found.tree.entries) == 10


def test_folders_as_deep_as_can_be_stop_nothing(worktree, captured):
    here = os.open(worktree.workspace, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert [kind for _, kind, _ in kinds(captured())] == [OddityKind.TOO_DEEP]


def test_caches_are_no_work(worktree, captured):
    for name in ("__pycache__/a.pyc", "lib/__pycache__/b.pyc", ".pytest_cache/v/x", ".venv/bin/python"):
        (worktree.workspace / name).parent.mkdir(parents=True)
        (worktree.workspace / name).touch()
    (worktree.workspace / "lib/node_modules").write_text("a file of that name is a file")
    found = captured()
    assert found.patch.count(b"diff --git") == 1
    assert found.oddities == ()


def test_a_folder_named_like_a_cache_counts_when_the_task_has_files_in_it(tmp_path):
    snapshot = take_snapshot(Tree.of({b"a/.cache/x": (FILE, b"1")}), tmp_path)
    for name in ("a/.cache/x", "a/.cache/y", ".cache/z"):
        (tmp_path / "w" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "w" / name).write_text("2")
    found = capture(tmp_path / "w", snapshot, tmp_path / "capture.git")
    assert set(found.tree.entries) == {b"a/.cache/x", b"a/.cache/y"}


def test_only_what_differs_is_stored(worktree, snapshot, captured, tmp_path):
    (worktree.workspace / "lib/take.py").write_text("fixed\n")
    captured()
    loose = list((tmp_path / "capture.git/objects").glob("??/*"))
    assert len(loose) == 3, "one file, its folder, the root"


def test_a_workspace_that_is_gone_or_a_link_is_the_hosts_fault(worktree, captured, tmp_path):
    worktree.workspace.rename(tmp_path / "moved")
    worktree.workspace.symlink_to(tmp_path / "moved")
    with pytest.raises(HostError, match="cannot be read"):
        captured()
