"""What docs/EVALUATORS.md shows is taken by the evaluators, and its check script runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from evaluator_stage import Judge, tree

from akbench.catalogue import Catalogue
from akbench.descriptors.document import parse
from akbench.descriptors.evaluator import EvaluatorPart
from akbench.spec import Outcome
from akbench_evaluators.python_check import PythonCheck

PAGE = Path(__file__).parents[2] / "docs" / "EVALUATORS.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
PRICES = """
from decimal import Decimal, InvalidOperation

def add(a, b):
    try:
        return str(Decimal(a) + Decimal(b))
    except InvalidOperation:
        raise ValueError("no price") from None
"""
MAIN = "import sys\nfrom shop.prices import add\nprint(add(*sys.argv[1:]))\n"


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_configuration_shown_is_taken(number: int):
    part = EvaluatorPart.model_validate(parse(EXAMPLES[number], PAGE.name).data["evaluator"])
    for each in part.parts:
        _, evaluator = Catalogue.load().evaluator_adapter(each.adapter)
        evaluator.check_config(each.config)


def test_every_evaluator_of_the_distribution_is_shown():
    shown = {
        each.adapter
        for text in EXAMPLES
        for each in EvaluatorPart.model_validate(parse(text, PAGE.name).data["evaluator"]).parts
    }
    assert shown == {"pytest", "command", "python", "static-analysis", "diff", "reward"}


def test_the_check_script_shown_judges_a_shop(tmp_path: Path):
    (script,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    judge = Judge(tmp_path / "room", PythonCheck())
    files = {"shop/__init__.py": "", "shop/prices.py": PRICES, "shop/__main__.py": MAIN}
    found = judge(tree(files), tree({}), {"behaviour.py": script}, check="behaviour.py")
    assert (found.outcome, len(found.tests), found.raw["notes"]) == (Outcome.FULL_SUCCESS, 3, {"asked": 3})
