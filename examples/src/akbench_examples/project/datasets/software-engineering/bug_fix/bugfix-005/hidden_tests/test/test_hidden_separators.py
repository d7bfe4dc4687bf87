import pytest

from tabulate import SEPARATING_LINE, tabulate

DRAWN_AS_RULES = ["simple", "psql", "orgtbl", "github", "presto"]


def pattern(table):
    """The table's body as one letter per line: a rule, or the first letter that is in it."""
    return "".join(next((char for char in line if char.isalpha()), "=") for line in table.splitlines())


def body(names):
    """Rows named by letters; `=` stands for a separating line."""
    return [SEPARATING_LINE if name == "=" else [name, 1] for name in names]


@pytest.mark.parametrize("layout", ["a=b=c", "a=b=c=d=e", "ab=cd=ef", "a=bcd=e=f"])
def test_each_separating_line_keeps_its_place(layout):
    assert pattern(tabulate(body(layout), tablefmt="simple")) == f"={layout}="


def test_two_lines_in_a_row_and_another_one_later():
    assert pattern(tabulate(body("a==b=c"), tablefmt="simple")) == "=a==b=c="


def test_lines_at_both_ends_keep_their_places():
    assert pattern(tabulate(body("=a=b="), tablefmt="simple")) == "==a=b=="


@pytest.mark.parametrize("tablefmt", DRAWN_AS_RULES)
def test_other_formats_agree(tablefmt):
    drawn = pattern(tabulate(body("a=b=c"), tablefmt=tablefmt))
    assert drawn.strip("=") == "a=b=c"


def test_an_index_counts_only_the_rows():
    table = tabulate(body("a=b=c"), showindex=iter("xyz"), tablefmt="plain")
    assert [line.split() for line in table.splitlines()] == [["x", "a", "1"], [], ["y", "b", "1"], [], ["z", "c", "1"]]


def test_wrapped_cells_keep_the_lines_between_the_same_rows():
    rows = [["aa bb", 1], SEPARATING_LINE, ["cc", 2], SEPARATING_LINE, ["dd ee", 3]]
    assert pattern(tabulate(rows, maxcolwidths=[2, None], tablefmt="simple")) == "=ab=c=de="
