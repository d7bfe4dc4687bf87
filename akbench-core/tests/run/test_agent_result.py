"""What is told of an agent's changes."""

from akbench.dataset.tree import FILE, Tree
from akbench.run.agent_result import added_code


def added_lines(given: Tree, final: Tree) -> dict[str, tuple[str, ...]]:
    return {path: code.lines for path, code in added_code(given, final).items()}


def tree(**files: bytes) -> Tree:
    return Tree.of({name.encode(): (FILE, content) for name, content in files.items()})


def test_only_lines_that_the_file_did_not_have_are_told():
    given = tree(a=b"one\ntwo\n", same=b"x\n")
    final = tree(a=b"two\nthree\none\n", same=b"x\n", new=b"all\nof it\n")
    assert added_lines(given, final) == {"a": ("three",), "new": ("all", "of it")}


def test_binary_large_and_far_too_many_files_are_left_out():
    many = {f"f{number:04}": b"\0" for number in range(600)}
    final = tree(**many, a=b"line\n" * 300_000, b=b"line\n", z=b"late\n")
    assert added_lines(tree(), final) == {"b": ("line",)}


def test_bytes_that_are_no_text_are_told_as_such():
    assert added_lines(tree(), tree(a=b"\xff\n")) == {"a": ("\\xff",)}


def test_pythons_files_are_read_before_any_number_of_others():
    many = {f"f{number:04}": b"x\n" for number in range(600)}
    assert "z.py" in added_lines(tree(), tree(**many, **{"z.py": b"late\n"}))
