from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from akbench.dataset.tree import FILE, Tree
from akbench.workspace.snapshot import take_snapshot


def test_equal_trees_have_equal_commits_everywhere(tree, tmp_path):
    one, two = take_snapshot(tree, tmp_path / "x"), take_snapshot(tree, tmp_path / "y")
    assert (one.tree, one.commit) == (two.tree, two.commit)
    assert take_snapshot(Tree.of({}), tmp_path / "x").commit == "1270d8fbdf6d3e3320544d9f00d162e6bb4be5ee"


def test_git_finds_one_root_commit_of_the_tree_and_no_fault(snapshot, tree, git):
    assert git(snapshot.repository, "rev-list", "--all", "--parents").split() == [snapshot.commit]
    assert git(snapshot.repository, "rev-parse", "main^{tree}").strip() == tree.id == snapshot.tree
    assert git(snapshot.repository, "fsck", "--full", "--strict") == ""


def test_a_snapshot_holds_only_what_its_commit_needs(snapshot, git):
    objects = git(snapshot.repository, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    needed = git(snapshot.repository, "rev-list", "--objects", "--all", "--no-object-names").split()
    assert sorted(objects) == sorted(needed)


def test_the_tree_reads_back_from_the_snapshot(snapshot, tree):
    assert snapshot.read() == tree
    assert snapshot.read().read(b"lib/take.py") == tree.read(b"lib/take.py")


def test_a_snapshot_is_made_once(tree, tmp_path):
    first = take_snapshot(tree, tmp_path)
    stamp = first.repository.stat().st_mtime_ns
    assert take_snapshot(tree, tmp_path) == first
    assert first.repository.stat().st_mtime_ns == stamp
    assert [path.name for path in (tmp_path / "snapshots").iterdir()] == [f"{tree.id}.git"]


def test_makers_at_the_same_time_do_not_disturb_each_other(tmp_path, git):
    tree = Tree.of({f"f{n}".encode(): (FILE, str(n).encode()) for n in range(200)})
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: take_snapshot(tree, tmp_path), range(4)))
    assert len(set(taken)) == 1
    assert git(taken[0].repository, "fsck", "--full") == ""
    assert len(list((tmp_path / "snapshots").iterdir())) == 1


def test_the_empty_tree_has_a_snapshot(tmp_path, git):
    snapshot = take_snapshot(Tree.of({}), tmp_path)
    assert git(snapshot.repository, "ls-tree", "main") == ""
