"""A list of evaluators in evaluator.yaml: what it says, and where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.descriptors.document import parse
from akbench.descriptors.kinds import EvaluatorDescriptor
from akbench.spec import InputError

HEAD = 'schema_version: "1.0"\nid: tests\nversion: "1.0.0"\nevaluator:\n'
TWO = """\
  combine:
    - {id: unit, adapter: pytest, config: {target: [a]}, weight: 3}
    - {id: style, adapter: diff, required: false}
"""


def described(text: str) -> EvaluatorDescriptor:
    return parse(HEAD + text, "evaluator.yaml").validate(EvaluatorDescriptor)


def test_a_single_evaluator_is_the_only_part_and_named_after_its_adapter():
    whole = described("  adapter: pytest\n  config: {target: [a]}\n").evaluator
    assert [(each.id, each.adapter, each.weight, each.required) for each in whole.parts] == [
        ("pytest", "pytest", 1.0, True)
    ]
    assert whole.parts[0].config == {"target": ["a"]}


def test_parts_keep_their_order_weight_and_whether_they_are_required():
    parts = described(TWO).evaluator.parts
    assert [(each.id, each.weight, each.required) for each in parts] == [("unit", 3.0, True), ("style", 1.0, False)]


WRONG = {
    "nothing at all": ("  config: {}\n", "5:3", "names no evaluator"),
    "both": (f"  adapter: pytest\n{TWO}", "5:3", "'combine' beside 'adapter'"),
    "two of one name": (TWO.replace("style", "unit"), "7:12", "'unit' names another part already"),
    "none required": (TWO.replace("weight: 3", "required: false"), "6:5", "no part is required"),
    "no weight": (
        TWO.replace("weight: 3", "weight: 0").replace("required: false", "weight: 0"),
        "6:5",
        "no part has a weight",
    ),
    "a negative weight": (TWO.replace("weight: 3", "weight: -1"), "6:66", "greater than or equal to 0"),
    "an unknown key": (TWO.replace("weight: 3", "wieght: 3"), "6:58", "did you mean 'weight'?"),
    "no adapter": (TWO.replace("adapter: diff, ", ""), "7:7", "missing key"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_line_and_column(name: str):
    text, place, message = WRONG[name]
    with pytest.raises(InputError) as raised:
        described(text)
    assert f"evaluator.yaml:{place}" in str(raised.value)
    assert message in str(raised.value)


def test_only_a_task_combines_evaluators(tmp_path: Path):
    (tmp_path / "descriptors").mkdir()
    (tmp_path / "descriptors/all.yaml").write_text(HEAD + TWO)
    with pytest.raises(InputError, match=r"all\.yaml:6:5: evaluators are combined in a task's evaluator\.yaml alone"):
        Catalogue.load(tmp_path)
