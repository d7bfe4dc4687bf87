from __future__ import annotations

import time

import pytest

from akbench.dataset.globs import matcher


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("tests/test_a.py", b"tests/test_a.py", True),
        ("tests/test_a.py", b"src/tests/test_a.py", False),
        ("tests", b"tests/test_a.py", False),
        ("tests/**", b"tests/test_a.py", True),
        ("tests/**", b"tests/deep/er/.hidden", True),
        ("tests/**", b"tests", True),
        ("tests/**", b"tests_too/a", False),
        ("tests/*", b"tests/deep/a", False),
        ("*.egg-info/**", b"x.egg-info/PKG-INFO", True),
        ("*.egg-info/**", b"src/x.egg-info/PKG-INFO", False),
        ("**/conftest.py", b"conftest.py", True),
        ("**/conftest.py", b"a/b/conftest.py", True),
        ("**/conftest.py", b"a/conftest.py/b", False),
        ("a/**/z", b"a/z", True),
        ("a/**/z", b"a/b/c/z", True),
        ("test_[ab].py", b"test_b.py", True),
        ("test_[!ab].py", b"test_b.py", False),
        ("*", b".hidden", True),
        ("*.py", b"\xff.py", True),
        ("*.PY", b"a.py", False),
    ],
)
def test_a_glob_matches_whole_paths(glob, path, expected):
    assert matcher([glob])(path) is expected


def test_one_matching_glob_of_many_is_enough():
    matches = matcher(["a", "b/*"])
    assert matches(b"b/c")
    assert not matches(b"c")


def test_no_glob_matches_nothing():
    assert not matcher([])(b"a")


def test_many_double_stars_cost_no_more_than_one():
    matches = matcher(["/".join(["**"] * 30 + ["x", "y"])])
    path = b"/".join([b"x"] * 40)
    started = time.process_time()
    assert not matches(path)
    assert matches(path + b"/y")
    assert time.process_time() - started < 1
