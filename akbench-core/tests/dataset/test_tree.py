from __future__ import annotations

import os
import stat
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akbench.dataset.directory import read_directory
from akbench.dataset.gather import NOISE
from akbench.dataset.tree import FILE, LINK, PROGRAM, Tree
from akbench.spec import InputError

NAMES = st.binary(min_size=1, max_size=6).filter(lambda name: not set(name) & {0, 0x2F} and name.strip(b".") != b"")
PLAIN = NAMES.filter(lambda name: b"git" not in name.lower() and name not in NOISE)
PATHS = st.lists(PLAIN, min_size=1, max_size=3).map(b"/".join)
FILES = st.dictionaries(PATHS, st.tuples(st.sampled_from([FILE, PROGRAM]), st.binary(max_size=40)), max_size=8)


def without_conflicts(files):
    folders = {path[:at] for path in files for at, byte in enumerate(path) if byte == 0x2F}
    return {path: file for path, file in files.items() if path not in folders}


TREES = FILES.map(without_conflicts).map(Tree.of)


def tree(**files):
    return Tree.of({name.replace("__", "/").encode() + b".py": (FILE, content) for name, content in files.items()})


def git_tree_id(folder):
    git = ["git", "-C", folder, "-c", "core.autocrlf=false"]
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run([*git, "add", "-A", "-f"], check=True, capture_output=True)
    return subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()


@settings(max_examples=60, deadline=None)
@given(tree=TREES)
def test_a_tree_written_to_disk_reads_back_as_the_same_tree(tree, tmp_path_factory):
    target = tmp_path_factory.mktemp("tree")
    tree.materialise(target)
    assert read_directory(target).tree == tree


@settings(max_examples=20, deadline=None)
@given(tree=TREES)
def test_the_tree_id_is_the_one_that_git_computes(tree, tmp_path_factory):
    target = tmp_path_factory.mktemp("tree")
    tree.materialise(target)
    assert git_tree_id(target) == tree.id


@settings(max_examples=60, deadline=None)
@given(below=TREES, above=TREES)
def test_an_overlay_shows_all_of_the_upper_tree_and_stays_possible(below, above):
    both = below.overlay(above)
    assert all(both.entries[path] == entry for path, entry in above.entries.items())
    assert Tree.checked(both.entries, both.fresh) == both
    assert both.entries.keys() <= below.entries.keys() | above.entries.keys()


def test_a_known_tree_has_its_known_id():
    assert Tree.of({}).id == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_modes_and_links_survive_on_disk_whatever_the_umask(tmp_path):
    made = Tree.of(
        {b"bin/run": (PROGRAM, b"#!/bin/sh\n"), b"a": (FILE, b"a"), b"to": (LINK, b"bin"), b"lost": (LINK, b"nowhere")}
    )
    before = os.umask(0o077)
    try:
        made.materialise(tmp_path / "t")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "t/bin/run").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "t/a").stat().st_mode) == 0o644
    assert (tmp_path / "t/to").readlink().name == "bin"
    assert read_directory(tmp_path / "t").tree == made


def test_git_attributes_change_nothing_on_disk(tmp_path):
    made = Tree.of({b".gitattributes": (FILE, b"* text eol=crlf ident\n"), b"a": (FILE, b"$Id$\nb\n")})
    made.materialise(tmp_path / "t")
    assert (tmp_path / "t/a").read_bytes() == b"$Id$\nb\n"


def test_a_folder_that_is_not_empty_is_not_written_into(tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(InputError, match="not empty"):
        tree(a=b"").materialise(tmp_path)


@pytest.mark.parametrize("path", [b"../x", b"/x", b".git/hooks/x", b""])
def test_a_hostile_path_makes_no_tree(path):
    with pytest.raises(InputError, match="cannot be in a tree"):
        Tree.of({path: (FILE, b"")})


def test_a_file_cannot_lie_under_a_file_or_link():
    with pytest.raises(InputError, match="lies under another file"):
        Tree.of({b"a": (LINK, b"/etc"), b"a/b": (FILE, b"")})


def test_without_and_only_divide_a_tree():
    whole = tree(tests__a=b"1", tests__b=b"2", src__c=b"3")
    kept, taken = whole.without(["tests/**"]), whole.only(["tests/**"])
    assert set(kept.entries) == {b"src/c.py"}
    assert set(taken.entries) == {b"tests/a.py", b"tests/b.py"}
    assert kept.overlay(taken) == whole
    assert set(kept.fresh.values()) == {b"3"}, "contents that are no longer needed are let go"


def test_matching_lists_what_globs_find():
    assert tree(b=b"", a__x=b"").matching(["*", "a/*"]) == (b"a/x.py", b"b.py")


def test_an_overlaid_file_takes_the_place_of_a_link_to_a_folder():
    below = Tree.of({b"tests": (LINK, b"/victim"), b"a": (FILE, b"")})
    both = below.overlay(Tree.of({b"tests/hidden.py": (FILE, b"x")}))
    assert set(both.entries) == {b"a", b"tests/hidden.py"}


def test_an_overlaid_file_takes_the_place_of_a_folder():
    both = tree(tests__a=b"", b=b"").overlay(Tree.of({b"tests": (FILE, b"x")}))
    assert set(both.entries) == {b"b.py", b"tests"}


def test_a_replaced_file_keeps_its_mode_and_leaves_the_first_tree_alone():
    first = Tree.of({b"run": (PROGRAM, b"old")})
    second = first.replace(b"run", b"new")
    assert (first.read(b"run"), second.read(b"run")) == (b"old", b"new")
    assert second.entries[b"run"].mode == PROGRAM


def test_a_file_that_is_not_there_cannot_be_replaced_or_read():
    for act in (lambda: tree(a=b"").replace(b"b.py", b""), lambda: tree(a=b"").read(b"b.py")):
        with pytest.raises(InputError, match=r"b\.py: there is no such file"):
            act()


def test_a_stored_tree_holds_nothing_in_memory_and_reads_the_same(tmp_path):
    first = tree(a=b"1", b__c=b"2")
    stored = first.stored(tmp_path)
    assert stored == first
    assert not stored.fresh
    assert stored.read(b"b/c.py") == b"2"
    assert first.stored(tmp_path) == stored
    assert [path.name for path in (tmp_path / "trees").iterdir()] == [first.id]


def test_trees_from_different_places_can_be_laid_over_each_other(tmp_path):
    one, two = tree(a=b"1").stored(tmp_path / "x"), tree(b=b"2").stored(tmp_path / "y")
    both = one.overlay(two).replace(b"a.py", b"3")
    assert both.read(b"a.py") + both.read(b"b.py") == b"32"
