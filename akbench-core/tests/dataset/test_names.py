from __future__ import annotations

import subprocess

import pytest

from akbench.dataset.names import LinkFate, follow, name_flaw, oddly_named

REFUSED = [b"../a", b"a/../b", b"a//b", b"/a", b"./a", b".git/config", b"a/.git", b".GIT/x", b"git~1", b".git /x"]
TAKEN = [b"a", b"a/b", b".gitignore", b".github/x", b"git", b"a b\n", b"\xff", b"...", b"a\\b"]


@pytest.mark.parametrize("path", REFUSED)
def test_a_path_that_git_refuses_is_flawed(path, tmp_path):
    assert name_flaw(path) is not None
    assert not _git_takes(path, tmp_path)


@pytest.mark.parametrize("path", TAKEN)
def test_a_path_that_git_takes_has_no_flaw(path, tmp_path):
    assert name_flaw(path) is None
    assert _git_takes(path, tmp_path)


def _git_takes(path, folder):
    subprocess.run(["git", "init", "-q", folder], check=True)
    entry = b"100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t" + path + b"\0"
    command = ["git", "-C", folder, "update-index", "-z", "--index-info"]
    subprocess.run(command, input=entry, check=True, capture_output=True)
    return subprocess.run(["git", "-C", folder, "ls-files", "-z"], check=True, capture_output=True).stdout != b""


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({b"l": b"a"}, LinkFate.INSIDE),
        ({b"l": b"nowhere/at/all"}, LinkFate.INSIDE),
        ({b"l": b"."}, LinkFate.INSIDE),
        ({b"l": b".."}, LinkFate.OUTSIDE),
        ({b"l": b"/etc/passwd"}, LinkFate.OUTSIDE),
        ({b"l": b"a/../../x"}, LinkFate.OUTSIDE),
        ({b"l": b"m", b"m": b"/etc"}, LinkFate.OUTSIDE),
        ({b"l": b"l"}, LinkFate.LOOP),
        ({b"l": b"m", b"m": b"l"}, LinkFate.LOOP),
        ({b"l": b"x/y/z/..", b"x/y/z": b"../.."}, LinkFate.OUTSIDE),
        ({b"l": b"x/y/..", b"x/y": b"../p/q"}, LinkFate.INSIDE),
    ],
)
def test_the_fate_of_a_link_is_found_through_every_link_on_its_way(links, expected):
    assert follow(b"l", links) is expected


def test_a_link_in_a_folder_may_climb_to_the_root_but_not_beyond():
    assert follow(b"a/b/l", {b"a/b/l": b"../../x"}) is LinkFate.INSIDE
    assert follow(b"a/b/l", {b"a/b/l": b"../../../x"}) is LinkFate.OUTSIDE


@pytest.mark.parametrize(
    ("path", "expected"), [(b"caf\xc3\xa9", False), (b"\xff", True), (b"a\nb", True), (b"\x1b[2J", True)]
)
def test_names_that_a_terminal_would_obey_are_odd(path, expected):
    assert oddly_named(path) is expected
