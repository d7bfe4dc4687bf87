from __future__ import annotations

import hashlib

import pytest

from akbench.dataset.candidates import propose
from akbench.dataset.mutation import apply_operator
from akbench.dataset.tree import FILE, Tree
from akbench.spec import InputError

SOURCE = b"""\
def clamp(low, n, high):
    if n < low:
        return low
    if n > high:
        return high
    return n


class Box:
    def area(self):
        return self.width * self.height + 0
"""
TREE = Tree.of({b"lib/m.py": (FILE, SOURCE), b"lib/n.py": (FILE, b"x = 1\n"), b"README": (FILE, b"")})


def proposed(**changes):
    return propose(TREE, **{"files": ["lib/*.py"], "seed": 0, **changes})


def test_the_seed_alone_decides_the_order():
    assert proposed() == proposed()
    assert proposed() != proposed(seed=1)
    assert {each.address for each in proposed()} == {each.address for each in proposed(seed=1)}


def test_every_operator_comes_up_before_one_comes_up_twice():
    operators = [each.operator for each in proposed()]
    distinct = len(set(operators))
    assert len(operators) > distinct
    assert len(set(operators[:distinct])) == distinct


def test_files_symbols_and_operators_can_be_chosen():
    assert {each.file for each in proposed(files=["lib/n.py"])} == {"lib/n.py"}
    assert {each.symbol for each in proposed(symbols=["Box.*"])} == {"Box.area"}
    assert {each.operator for each in proposed(operators=["dropped-guard"])} == {"dropped-guard"}


def test_a_candidate_is_what_its_address_means():
    for each in proposed(files=["lib/m.py"]):
        content = each.content()
        assert each.file_sha256 == hashlib.sha256(SOURCE).hexdigest()
        assert content == apply_operator(
            SOURCE,
            file=each.file,
            symbol=each.symbol,
            operator=each.operator,
            version=each.operator_version,
            occurrence=each.occurrence,
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files": ["src/**"]}, "'src/\\*\\*' matches no file of the repository"),
        (
            {"files": ["README", "lib/m.py"], "operators": ["nothing"]},
            "no mutation operator 'nothing'; known:",
        ),
    ],
)
def test_a_choice_of_nothing_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        proposed(**changes)


def test_a_file_that_is_no_python_is_refused():
    tree = Tree.of({b"m.txt": (FILE, b"no python at all\n")})
    with pytest.raises(InputError, match=r"m\.txt: not a Python source file"):
        propose(tree, files=["m.txt"], seed=0)
