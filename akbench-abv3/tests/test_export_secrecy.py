"""What an export leaves out: descriptors that judge a task name its hidden tests."""

from __future__ import annotations

import pytest

from akbench_abv3.exchange.export import _judges_a_task

HEAD = 'schema_version: "1.0"\nid: x\nversion: "1.0.0"\n'
SECRET = "config: {target: [tests/test_hidden.py]}"


@pytest.mark.parametrize(
    "part", [f"{{adapter: pytest, {SECRET}}}", f"{{combine: [{{id: unit, adapter: pytest, {SECRET}}}]}}"]
)
def test_one_evaluator_with_its_tests_and_several_of_them_judge_a_task(part: str):
    assert _judges_a_task(f"{HEAD}evaluator: {part}\n")


def test_the_description_of_an_evaluator_as_such_judges_none():
    assert not _judges_a_task(f"{HEAD}evaluator: {{adapter: own}}\n")
