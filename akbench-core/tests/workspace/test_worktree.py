from __future__ import annotations

import os
import shutil

import pytest

from akbench.dataset.directory import read_directory
from akbench.dataset.tree import FILE, Tree
from akbench.spec import HostError
from akbench.workspace.capture import capture
from akbench.workspace.snapshot import take_snapshot
from akbench.workspace.worktree import lay_worktree


def test_the_workspace_holds_the_tree_and_git_calls_it_clean(worktree, tree, git):
    assert read_directory(worktree.workspace).tree == tree
    assert git(worktree.workspace, "status", "--porcelain", "--branch") == "## main\n"


def test_nothing_but_the_tasks_own_tree_can_be_found_with_git(worktree, snapshot, git):
    inside = worktree.workspace
    assert git(inside, "log", "--all", "--format=%H%P").split() == [snapshot.commit]
    assert set(git(inside, "reflog", "--all", "--format=%H").split()) == {snapshot.commit}
    assert git(inside, "fsck", "--unreachable", "--no-reflogs", "--full") == ""
    assert git(inside, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    for command in (("remote", "-v"), ("tag", "--list"), ("stash", "list"), ("notes", "list"), ("submodule",)):
        assert git(inside, *command) == ""
    assert len(git(inside, "worktree", "list").splitlines()) == 2, "the bare repository and this one"
    objects = git(inside, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    needed = git(inside, "rev-list", "--objects", "--all", "--no-object-names").split()
    assert sorted(objects) == sorted(needed)
    assert "the-secret-solution" not in "".join(git(inside, "cat-file", "-p", name) for name in objects)


def test_no_file_of_the_repository_leads_elsewhere(worktree, snapshot):
    objects = worktree.repository / "objects"
    assert not (objects / "info" / "alternates").exists()
    assert len(list((objects / "pack").glob("*.pack"))) == 1
    assert not (worktree.repository / "hooks").exists()
    cache = os.fsencode(snapshot.repository.parent.parent)
    for path in worktree.repository.rglob("*"):
        assert not path.is_symlink()
        assert path.is_dir() or (cache not in path.read_bytes() and path.stat().st_nlink == 1)


def test_runs_share_no_files(snapshot, lay):
    one, two = lay(snapshot, "one"), lay(snapshot, "two")
    first, second = ({file.stat().st_ino for file in run.workspace.parent.rglob("*")} for run in (one, two))
    assert not first & second


def test_git_works_where_the_sandbox_shows_the_folders_and_no_host_path_is_told(snapshot, tmp_path, git):
    host, inside = tmp_path / "host-run", tmp_path / "seen"
    host.mkdir()
    laid = lay_worktree(
        snapshot, host, inside_workspace=f"{inside}/workspace", inside_repository=f"{inside}/elsewhere/repo.git"
    )
    for path in (laid.workspace / ".git", *laid.repository.rglob("*")):
        assert path.is_dir() or b"host-run" not in path.read_bytes()
    shutil.copytree(laid.workspace, inside / "workspace", symlinks=True)
    shutil.copytree(laid.repository, inside / "elsewhere/repo.git")
    shutil.rmtree(host)
    assert git(inside / "workspace", "status", "--porcelain", "--branch") == "## main\n"
    assert "prunable" not in git(inside / "workspace", "worktree", "list", "--porcelain")


def test_an_agent_can_commit_stash_and_branch(worktree, snapshot, git):
    inside = worktree.workspace
    (inside / "new").write_text("x")
    git(inside, "add", "new")
    git(inside, "stash")
    git(inside, "stash", "pop")
    git(inside, "commit", "-m", "work")
    git(inside, "switch", "-c", "other")
    assert git(inside, "log", "--format=%an %P", "-1").split() == ["agent", snapshot.commit]


def test_attributes_of_the_tree_do_not_change_its_files(tmp_path, lay, git):
    tree = Tree.of(
        {
            b".gitattributes": (FILE, b"* text eol=crlf ident filter=lfs\n*.txt working-tree-encoding=UTF-16\n"),
            b"a.py": (FILE, b"# $Id$\nx = 1\n"),
            b"b.txt": (FILE, b"text\n"),
            b"c.bat": (FILE, b"dos\r\nunix\n"),
        }
    )
    snapshot = take_snapshot(tree, tmp_path / "cache")
    worktree = lay(snapshot, "run")
    assert read_directory(worktree.workspace).tree == tree
    assert git(worktree.workspace, "status", "--porcelain") == ""
    assert capture(worktree.workspace, snapshot, tmp_path / "capture.git").patch == b""


def test_configuration_hooks_and_templates_of_the_user_do_not_count(snapshot, lay, tmp_path, monkeypatch, git):
    hooks = tmp_path / "home/template/hooks"
    hooks.mkdir(parents=True)
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hooks / "post-checkout").chmod(0o755)
    (tmp_path / "home/.gitconfig").write_text(
        f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n[init]\n\ttemplateDir = {hooks.parent}\n"
        "[checkout]\n\tdefaultRemote = x\n[user]\n\tname = Real Person\n\temail = real@example.org\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.autocrlf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    laid = lay(snapshot, "run")
    assert not (tmp_path / "ran").exists()
    assert (laid.workspace / "README.md").read_bytes() == b"# Library\n"
    everything = b"".join(path.read_bytes() for path in laid.repository.rglob("*") if path.is_file())
    assert b"Real Person" not in everything


def test_a_machine_without_git_says_what_to_install(snapshot, lay, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="install git"):
        lay(snapshot, "run")
