"""What laying out, handing over, reading back and judging a workspace costs, by the size of the repository.

usage: python benchmarks/run_workspaces.py [TIMES]

Uses two releases of the package index, of about 400 and about 7,000 files, and times each step TIMES times (default
10) beside plain `git worktree add`. Prints per step the median and the least wall clock in ms.
"""

import os
import statistics
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from akbench.dataset.directory import read_directory
from akbench.dataset.release import fetch_sdist, sdist_sha256
from akbench.dataset.tree import Tree
from akbench.evaluate.protection import judged_tree
from akbench.git import git
from akbench.project import cache_folder
from akbench.sandbox.bubblewrap import BubblewrapSandbox
from akbench.workspace.capture import capture
from akbench.workspace.removal import remove_tree
from akbench.workspace.snapshot import Snapshot, take_snapshot
from akbench.workspace.worktree import lay_worktree

RELEASES = {"pylint": "4.0.4", "django": "5.2.8"}
CHANGED = 10

type Times = defaultdict[str, list[float]]


def main() -> None:
    """Measure each release."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    for name, version in RELEASES.items():
        tree = release(name, version)
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            found = measured(tree, Path(folder), times)
        print(f"\n{name} {version}: {len(tree.entries)} files, load average {os.getloadavg()[0]:.1f}\n")
        print("| step | median ms | least ms |\n|---|---|---|")
        for step, seconds in found.items():
            print(f"| {step} | {1000 * statistics.median(seconds):.0f} | {1000 * min(seconds):.0f} |")


def release(name: str, version: str) -> Tree:
    """The files of a release."""
    archive = fetch_sdist(name, version, sdist_sha256(name, version), cache_folder())
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
        (root,) = Path(folder).iterdir()
        return read_directory(root).tree


def measured(tree: Tree, folder: Path, times: int) -> Times:
    """Step -> seconds of each time."""
    found: Times = defaultdict(list)
    with timed(found, "the snapshot, once for each task"):
        snapshot = take_snapshot(tree, folder)
    for count in range(times):
        run = folder / f"run-{count}"
        run.mkdir()
        one_run(snapshot, tree, run, found)
        remove_tree(run)
    return found


def one_run(snapshot: Snapshot, tree: Tree, run: Path, found: Times) -> None:
    """Each step of one run, an agent that changes ten files included."""
    sandbox = BubblewrapSandbox()
    plain = run / "plain"
    with timed(found, "`git worktree add` (for comparison)"):
        git("worktree", "add", "--quiet", "--detach", str(plain), "main", repository=snapshot.repository)
    git("worktree", "remove", "--force", str(plain), repository=snapshot.repository)
    with timed(found, "an own repository and its worktree"):
        worktree = lay_worktree(snapshot, run, inside_workspace="/workspace", inside_repository="/workspace.git")
    with timed(found, "handing it to the sandbox's user"):
        sandbox.own(worktree.workspace)
        sandbox.own(worktree.repository)
    for path in [path for path, entry in tree.entries.items() if path.endswith(b".py")][:CHANGED]:
        with (worktree.workspace / os.fsdecode(path)).open("a") as file:
            file.write("# changed\n")
    with timed(found, "the final tree and the diff"):
        captured = capture(worktree.workspace, snapshot, run / "final.git")
    with timed(found, "the evaluation's workspace"):
        judged = judged_tree(final=captured.tree, given=tree, hidden=Tree.of({}), protected=("tests/**",))
        judged.tree.materialise(run / "evaluation")
        sandbox.own(run / "evaluation")


@contextmanager
def timed(found: Times, step: str) -> Iterator[None]:
    """Note how long the block took."""
    begun = time.perf_counter()
    yield
    found[step].append(time.perf_counter() - begun)


if __name__ == "__main__":
    main()
