"""The scripted model has an answer for each of its tasks and each effort, and for each of them only one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from ruamel.yaml import YAML

from akbench_examples import project_folder

PROJECT = project_folder()
SCRIPTS: list[dict[str, Any]] = YAML(typ="safe").load(
    (PROJECT / "configs/scripts/demo-model.yaml").read_text(encoding="utf-8")
)["scripts"]
DEMO = PROJECT / "datasets/software-engineering"
DESCRIPTIONS = {path.parent.name: path.read_text() for path in DEMO.rglob("description.md")}


SCRIPTED = [*(f"bugfix-{number:03}" for number in range(1, 7)), "feature-001", "feature-002"]


@pytest.mark.parametrize("experiment", ["demo", "demo-without-codex"])
def test_the_demo_asks_for_scripted_tasks_alone(experiment):
    text = (PROJECT / f"configs/experiments/{experiment}.yaml").read_text(encoding="utf-8")
    asked = YAML(typ="safe").load(text)["experiment"]["dataset"]["filters"]["task_ids"]
    assert asked
    assert set(asked) <= set(SCRIPTED)


@pytest.mark.parametrize("task", SCRIPTED)
def test_each_task_has_one_script_per_effort(task):
    fitting = [script for script in SCRIPTS if script["match"] in DESCRIPTIONS[task]]
    assert sorted(script["when"]["reasoning_effort"] for script in fitting) == ["high", "low"]


def test_no_script_fits_two_tasks():
    for script in SCRIPTS:
        assert sum(script["match"] in text for text in DESCRIPTIONS.values()) == 1


def test_scripts_end_with_a_message_but_for_two_failures():
    last = [script["steps"][-1] for script in SCRIPTS]
    assert Counter(step["fail"] for step in last if "fail" in step) == {"http_500": 1, "hang": 1}
    assert sum("say" in step for step in last) == len(SCRIPTS) - 2


def test_each_step_does_one_thing_and_states_its_usage():
    for step in (step for script in SCRIPTS for step in script["steps"]):
        assert len({"run", "patch", "say", "fail"} & set(step)) == 1
        assert ("usage" in step) == ("fail" not in step)


def test_cached_tokens_are_part_of_the_input_and_reasoning_is_part_of_the_output():
    for usage in (step["usage"] for script in SCRIPTS for step in script["steps"] if "usage" in step):
        assert usage["cached_input_tokens"] <= usage["input_tokens"]
        assert usage["reasoning_output_tokens"] <= usage["output_tokens"]


def test_patches_are_whole():
    patches = [step["patch"] for script in SCRIPTS for step in script["steps"] if "patch" in step]
    assert patches
    assert all(text.startswith("*** Begin Patch\n*** ") and text.endswith("*** End Patch\n") for text in patches)
