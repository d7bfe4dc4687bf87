"""A task's trees from its files; a mutation that does not fit is refused where it is written."""

from __future__ import annotations

import hashlib
import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from akbench.dataset.assembly import assemble
from akbench.dataset.dataset import load_dataset
from akbench.dataset.mutation import apply_operator
from akbench.spec import InputError

HEAD = 'schema_version: "1.0"\nid: mutation-001\nversion: "1.0.0"\nmutation:\n  file: greeting/__init__.py\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The dataset that ``akbench init`` writes."""
    with as_file(files("akbench.cli").joinpath("starter/datasets/starter")) as starter:
        shutil.copytree(starter, tmp_path / "datasets/starter", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "datasets/starter"


def product(folder: Path) -> bytes:
    return (folder / "repositories/greeting/greeting/__init__.py").read_bytes()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def written(folder: Path, text: str, number: int = 1) -> None:
    path = folder / f"bug_fix/greet-001/mutations/mutation-{number:03}.yaml"
    path.write_text(HEAD.replace("mutation-001", f"mutation-{number:03}") + text)


def assembled(folder: Path):
    dataset = load_dataset(folder)
    return assemble(dataset.tasks[0], dataset, folder / "cache")


OPERATOR = "  symbol: greet\n  operator: {id: comparison-negate, version: 1, occurrence: 1}\n"


def test_mutations_of_all_three_ways_are_stacked_in_the_order_of_their_names(folder: Path):
    states = [product(folder)]
    states.append(states[0].replace(b"names[-1]}!", b"names[0]}!"))
    states.append(states[1].replace(b"len(names) == 1", b"len(names) != 1"))
    states.append(states[2].replace(b'"Hello!"', b'"Hi!"'))
    hashes = [sha256(state) for state in states]
    path = folder / "bug_fix/greet-001/mutations/mutation-001.yaml"
    assert hashes[0] in path.read_text()
    written(folder, f"  file_sha256: {hashes[1]!r}\n  result_sha256: {hashes[2]!r}\n{OPERATOR}", 2)
    patch = '  patch: |\n    @@ -7 +7 @@\n    -        return "Hello!"\n    +        return "Hi!"\n'
    written(folder, f"  file_sha256: {hashes[2]!r}\n  result_sha256: {hashes[3]!r}\n  symbol: greet\n{patch}", 3)
    found = assembled(folder)
    assert found.given.read(b"greeting/__init__.py") == states[3]
    assert found.original is not None
    assert found.original.read(b"greeting/__init__.py") == states[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            OPERATOR.replace("negate", "negated"),
            r"mutation-001\.yaml:9:13: there is no .* did you mean",
        ),
        (OPERATOR.replace("version: 1", "version: 7"), r"mutation-001\.yaml:9:13: version 7 of operator"),
        (
            OPERATOR.replace("occurrence: 1", "occurrence: 9"),
            r":9:13: greeting/__init__\.py: .*no occurrence 9",
        ),
        (OPERATOR.replace("greet", "meet"), r":9:13: .*has no place in 'meet'"),
        (OPERATOR, r":9:13: greeting/__init__\.py: result_sha256 is f+, but the mutated file's is"),
        ("  symbol: greet\n  patch: nonsense\n", r":9:10: line 1 of the patch, 'nonsense'"),
        ("  symbol: greet\n  patch: '@@ -1 +1 @@'\n", r":9:10: the hunk at line 1 of the patch says 1 lines before"),
        (
            OPERATOR + "  patch: x\n",
            r":5:3: .*exactly one of .*; found operator and patch",
        ),
        ("  symbol: greet\n", r"exactly one of replace_line, operator and patch; found none"),
        ("  symbol: greet\n  operator: {id: x, version: 0, occurrence: 1}\n", r":9:30: mutation\.operator\.version"),
    ],
)
def test_a_mutation_that_does_not_fit_is_refused_where_it_is_written(folder: Path, text: str, message: str):
    written(folder, f"  file_sha256: {sha256(product(folder))!r}\n  result_sha256: {'f' * 64!r}\n{text}")
    with pytest.raises(InputError, match=message):
        assembled(folder)


def test_a_mutation_of_another_file_than_the_one_it_was_made_for_is_refused(folder: Path):
    written(folder, f"  file_sha256: {'e' * 64!r}\n  result_sha256: {'f' * 64!r}\n{OPERATOR}")
    with pytest.raises(InputError, match=r":9:13: greeting/__init__\.py: file_sha256 is e+, but the file's is"):
        assembled(folder)


def test_a_mutation_by_operator_makes_the_tree_that_the_agent_is_given(folder: Path):
    before = product(folder)
    after = apply_operator(before, file="m", symbol="greet", operator="comparison-negate", version=1, occurrence=1)
    written(folder, f"  file_sha256: {sha256(before)!r}\n  result_sha256: {sha256(after)!r}\n{OPERATOR}")
    assert assembled(folder).given.read(b"greeting/__init__.py") == after


def test_withheld_files_are_hidden_tests_too(folder: Path):
    shutil.rmtree(folder / "bug_fix/greet-001/hidden_tests")
    with pytest.raises(InputError, match=r"no hidden tests; .* or withhold some of the repository's own"):
        load_dataset(folder)
    path = folder / "bug_fix/greet-001/repository.yaml"
    path.write_text(path.read_text() + "  withhold: [tests/test_greeting.py]\n")
    assert assembled(folder).hidden_test_files == ("tests/test_greeting.py",)
