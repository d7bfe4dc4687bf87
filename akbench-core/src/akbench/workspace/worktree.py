"""The repository an agent is given: its own copy of a snapshot, and a worktree of that copy."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from akbench.git import git
from akbench.workspace.snapshot import Snapshot

__all__ = ["Worktree", "lay_worktree"]

_AGENT = "[user]\n\tname = agent\n\temail = agent@example.invalid\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """An agent's files at `workspace`, and the bare repository `repository` they belong to (host paths)."""

    workspace: Path
    repository: Path


def lay_worktree(snapshot: Snapshot, run: Path, *, inside_workspace: str, inside_repository: str) -> Worktree:
    """Make ``<run>/repo.git`` and its worktree ``<run>/workspace``, for an agent who sees them at the `inside` paths.

    The copy shares nothing with other runs: worktrees of one repository would show each other's work. The branch
    ``main`` is checked out, as in any fresh clone; a detached HEAD would be one more thing that sets the benchmark
    apart from daily work, and its commits would be on no branch. Commits are made as ``agent``, since many git
    commands refuse to work for nobody. Git's own paths are the agent's, so on the host git finds the repository
    only where the `inside` paths are the host's.
    """
    repository = run / "repo.git"
    workspace = run / "workspace"
    shutil.copytree(snapshot.repository, repository)
    with (repository / "config").open("a") as config:
        config.write(_AGENT)
    git("worktree", "add", "--quiet", str(workspace), "main", repository=repository)
    (workspace / ".git").write_text(f"gitdir: {inside_repository}/worktrees/{workspace.name}\n")
    (repository / "worktrees" / workspace.name / "gitdir").write_text(f"{inside_workspace}/.git\n")
    return Worktree(workspace=workspace, repository=repository)
