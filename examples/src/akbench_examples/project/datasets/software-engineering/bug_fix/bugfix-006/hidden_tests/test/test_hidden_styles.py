import pytest

from tabulate import tabulate

BOLD, UNDERLINE, RED, GREEN, RESET = "\x1b[1m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[0m"


def wrapped(cell, width=5):
    """The cell's lines, without the padding."""
    return [line.rstrip() for line in tabulate([[cell]], maxcolwidths=[width], tablefmt="plain").splitlines()]


@pytest.mark.parametrize("styles", [[BOLD, RED], [BOLD, UNDERLINE, RED], [BOLD, UNDERLINE, RED, GREEN]])
def test_a_reset_switches_all_styles_off(styles):
    on = "".join(styles)
    assert wrapped(f"{on}alert{RESET} the disk") == [f"{on}alert{RESET}", "the", "disk"]


def test_styles_are_carried_over_until_their_reset():
    on = BOLD + RED
    assert wrapped(f"{on}alert alarm{RESET} quiet") == [f"{on}alert{RESET}", f"{on}alarm{RESET}", "quiet"]


def test_only_styles_since_the_reset_are_carried_over():
    cell = f"{BOLD}{RED}alert{RESET} {GREEN}fine again{RESET} plain"
    assert wrapped(cell) == [
        f"{BOLD}{RED}alert{RESET}",
        f"{GREEN}fine{RESET}",
        f"{GREEN}again{RESET}",
        "plain",
    ]


def test_styles_switched_on_one_by_one_end_together():
    cell = f"{BOLD}bold {RED}red{RESET} plain"
    assert wrapped(cell) == [f"{BOLD}bold{RESET}", f"{BOLD}{RED}red{RESET}", "plain"]


def test_a_reset_inside_a_broken_word_counts():
    cell = f"{BOLD}{RED}alert{RESET}plain"
    lines = wrapped(cell)
    assert lines[0].startswith(f"{BOLD}{RED}alert")
    assert lines[-1] == "plain"


def test_plain_neighbours_of_a_styled_cell_stay_plain():
    row = [f"{BOLD}{RED}alert{RESET} disk full", "plain text here"]
    table = tabulate([row], maxcolwidths=[5, 5], tablefmt="plain")
    assert [line.split() for line in table.splitlines()] == [
        [f"{BOLD}{RED}alert{RESET}", "plain"],
        ["disk", "text"],
        ["full", "here"],
    ]
