"""A failing test written into a test file: nothing of the file moves, and it looks like its neighbours."""

import ast
import random

import pytest

from akbench_evaluators.planting import plant

MODULE = '''\
"""Tests."""
import pytest

VALUE = """text


with blank lines"""


@pytest.mark.parametrize("n", [1, 2])
def test_keeps_order(n):
    assert n


class TestSplit:
    def test_whole_cents(self):
        assert True



# Behind a comment.
def helper():
    return 1


if __name__ == "__main__":
    pytest.main()
'''
PLACES = range(60)


def planted(text: str, seed: int):
    found = plant(text.encode(), random.Random(seed))
    assert found is not None
    return found.name, found.source.decode()


@pytest.mark.parametrize("seed", PLACES)
def test_the_planted_test_fails_and_stands_in_the_source(seed):
    name, source = planted(MODULE, seed)
    [function] = [node for node in ast.parse(source).body if getattr(node, "name", None) == name]
    scope: dict = {}
    exec(compile(ast.Module([function], []), "planted", "exec"), scope)
    with pytest.raises(AssertionError):
        scope[name]()


@pytest.mark.parametrize("seed", PLACES)
def test_every_other_line_keeps_its_number(seed):
    before, after = MODULE.splitlines(), planted(MODULE, seed)[1].splitlines()
    for number, line in enumerate(before):
        assert after[number] == line or not line


def test_it_takes_every_place_that_there_is():
    places = {planted(MODULE, seed)[1].splitlines().index(f"def {planted(MODULE, seed)[0]}():") for seed in PLACES}
    assert places == {12, 17, 23, 29}


def test_its_name_is_new_and_made_of_the_words_of_its_neighbours():
    for seed in PLACES:
        name, _ = planted(MODULE, seed)
        assert name not in MODULE
        assert name.startswith("test_")


@pytest.mark.parametrize("text", ["def test_a(): pass", "def test_a(): pass\r\n", "\ufeffdef test_a(): pass\n"])
def test_a_last_line_without_an_end_other_line_ends_and_marks_are_kept(text):
    name, source = planted(text, 0)
    assert source.startswith(text.rstrip())
    assert {node.name for node in ast.parse(source.encode()).body} == {"test_a", name}
    assert source.count("\r\n") in (0, source.count("\n"))


@pytest.mark.parametrize("text", [b"", b"VALUE = 1\n", b"def helper(): pass\n", b"def broken(:\n", b"\0", b"\xff\xfe"])
def test_nothing_is_planted_where_there_is_no_test(text):
    assert plant(text, random.Random(0)) is None
