"""Writes the table of ISOLATION_AND_SECURITY.md from the suite. With --check: fails if it is out of date."""

import re
import sys
from pathlib import Path

from akbench_examples.adversaries.suite import Adversary, load_suite

PAGE = Path(__file__).with_name("ISOLATION_AND_SECURITY.md")
BLOCK = re.compile(r"(<!-- generated: adversaries -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def page() -> str:
    """The page with the table made anew."""
    rows = [row(each) for each in load_suite()]
    table = "\n".join(("| agent | what it does | sign |", "|---|---|---|", *rows))
    return BLOCK.sub(lambda block: f"{block[1]}\n{table}\n\n{block[3]}", PAGE.read_text())


def row(adversary: Adversary) -> str:
    """One line of the table."""
    sign = ", ".join(f"{kind}: `{words}`" for kind, words in adversary.sign.items())
    honest = "solved, not accused" if adversary.is_honest else ""
    return f"| `{adversary.id}` | {adversary.title} | {sign or honest} |"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    sys.exit(page() != PAGE.read_text())
