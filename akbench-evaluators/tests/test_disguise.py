"""Hidden tests under other names: only where nothing else can refer to them, and with a way back."""

import random
import re

from akbench_evaluators.disguise import disguise

HIDDEN = """\
import pytest

def test_whole_cents(): pass

@pytest.mark.parametrize("n", [1])
async def test_split_evenly(n): pass

def test_called_elsewhere(): pass

def test_known_to_conftest(): pass

@pytest.fixture
def test_data(): return 1

def test_uses_data(test_data): pass

class TestPlain:
    def test_in_a_class(self): pass

class TestDerived(Base):
    def test_of_a_derived_class(self): pass

def helper(): return test_called_elsewhere()
"""
OTHER = "def test_whole_cents(): pass\n"


def disguised(elsewhere=b"", hidden=HIDDEN, seed=0):
    sources = {"tests/test_ledger.py": hidden.encode(), "tests/test_old.py": OTHER.encode()}
    return disguise(sources, {"tests/test_ledger.py"}, elsewhere, random.Random(seed))


def renamed(found):
    return set(found.originals.values())


def test_tests_that_nothing_refers_to_get_other_names():
    found = disguised(b"test_known_to_conftest")
    assert renamed(found) == {
        "test_whole_cents",
        "test_split_evenly",
        "test_uses_data",
        "test_in_a_class",
        "test_ledger",
    }
    text = found.sources["tests/test_ledger.py"].decode()
    assert "test_whole_cents" not in text
    assert all(f"def {new}(" in text for new, old in found.originals.items() if old != "test_ledger")


def test_files_that_the_agent_saw_stay_as_they_are():
    assert "tests/test_old.py" not in disguised().sources
    assert "tests/test_old.py" not in disguised().paths


def test_lines_keep_their_numbers():
    before, after = HIDDEN.splitlines(), disguised().sources["tests/test_ledger.py"].decode().splitlines()
    assert len(before) == len(after)
    assert [re.sub(r"test_\w+", "", line) for line in before] == [re.sub(r"test_\w+", "", line) for line in after]


def test_a_file_that_something_refers_to_keeps_its_name():
    assert disguised(b"./tests/test_ledger.py").paths == {}
    assert disguised(hidden=HIDDEN + "NAME = 'test_ledger'\n").paths == {}
    [(old, new)] = disguised().paths.items()
    assert old == "tests/test_ledger.py"
    assert re.fullmatch(r"tests/test_\w+\.py", new)
    assert new != old


def test_names_are_new_for_every_check():
    assert len({frozenset(disguised(seed=seed).originals) for seed in range(20)}) == 20


def test_ids_and_explanations_are_told_with_the_names_as_they_were():
    found = disguised()
    names = {old: new for new, old in found.originals.items()}
    said = f"{found.paths['tests/test_ledger.py']}::TestPlain::{names['test_in_a_class']}[a-b]"
    assert found.reveal(said) == "tests/test_ledger.py::TestPlain::test_in_a_class[a-b]"


def test_a_file_that_is_no_python_is_left_alone():
    found = disguised(hidden="def broken(:\n", elsewhere=b"tests/test_ledger.py")
    assert found.sources["tests/test_ledger.py"] == b"def broken(:\n"
    assert not found.originals
