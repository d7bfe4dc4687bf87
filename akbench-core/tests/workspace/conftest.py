from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.workspace.snapshot import Snapshot, take_snapshot
from akbench.workspace.worktree import Worktree, lay_worktree

SOLUTION = b"def take(n, xs):\n    return xs[:n]  # the-secret-solution\n"
MUTATED = b"def take(n, xs):\n    return xs[: n + 1]\n"


@pytest.fixture
def solved() -> Tree:
    return Tree.of(
        {
            b"README.md": (FILE, b"# Library\n"),
            b"bin/run": (PROGRAM, b"#!/bin/sh\nexit 0\n"),
            b"lib/take.py": (FILE, SOLUTION),
            b"lib/data.bin": (FILE, bytes(range(256))),
            b"latest": (LINK, b"lib"),
            b".gitignore": (FILE, b"*.log\n"),
        }
    )


@pytest.fixture
def tree(solved: Tree) -> Tree:
    return solved.replace(b"lib/take.py", MUTATED)


@pytest.fixture
def snapshot(tree: Tree, tmp_path: Path) -> Snapshot:
    return take_snapshot(tree, tmp_path / "cache")


@pytest.fixture
def lay(tmp_path: Path) -> Callable[[Snapshot, str], Worktree]:
    """Lays a worktree in a new folder of that name, whose paths inside are the host's."""

    def lay(snapshot: Snapshot, name: str) -> Worktree:
        run = tmp_path / name
        run.mkdir()
        inside = {"inside_workspace": str(run / "workspace"), "inside_repository": str(run / "repo.git")}
        return lay_worktree(snapshot, run, **inside)

    return lay


@pytest.fixture
def worktree(snapshot: Snapshot, lay: Callable[[Snapshot, str], Worktree]) -> Worktree:
    return lay(snapshot, "run")


@pytest.fixture
def git() -> Callable[..., str]:
    """Git as an agent would run it: in a folder, with no configuration but the repository's own."""
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}

    def git(folder: Path, *arguments: str, check: bool = True) -> str:
        command = ["git", "-C", folder, *arguments]
        done = subprocess.run(command, check=check, capture_output=True, env=environ)
        return done.stdout.decode("utf-8", "replace")

    return git
