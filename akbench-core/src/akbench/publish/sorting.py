"""Sorting a task's tests by what they do: those that tell the solved tree from the unsolved one are its targets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ruamel.yaml import YAML

from akbench.publish.states import SOLVED, UNSOLVED, tree_states
from akbench.publish.validation import TaskBench
from akbench.spec import JsonValue, Judgement, Outcome, TestRole

__all__ = ["sort_tests"]


def sort_tests(bench: TaskBench) -> bool:
    """Judge the task solved and unsolved, once each, and write what was found into its ``evaluator.yaml``.

    Tests that pass on both trees become regression tests, tests that are skipped on the solved one are left out, and
    all others are targets: also those that fail on the solved tree, so that validating the task names them. False,
    and nothing is written, when the evaluator knows no single tests, could not judge, or all is sorted already.
    """
    room = bench.scratch / "sorting"
    states = {each.name: each.tree for each in tree_states(bench.assembled, bench.snapshot, bench.cache, room)}
    judged = {name: bench.judge(states[name], f"sorting-{name}").judgement for name in (SOLVED, UNSOLVED)}
    if any(each.outcome is Outcome.EVALUATOR_ERROR or not each.tests for each in judged.values()):
        return False
    roles = _roles(judged[SOLVED], judged[UNSOLVED])
    target, regression = ([name for name, role in roles.items() if role is wanted] for wanted in TestRole)
    if not target or roles == {test.id: test.role for test in judged[SOLVED].tests}:
        return False
    config = bench.evaluator.with_roles(bench.assembled.task.evaluator.model.evaluator.config, target, regression)
    if config is not None:
        _write(bench.assembled.task.folder / "evaluator.yaml", config)
    return config is not None


def _roles(solved: Judgement, unsolved: Judgement) -> dict[str, TestRole]:
    before = {test.id for test in unsolved.tests if test.status == "passed"}
    return {
        test.id: TestRole.REGRESSION if test.status == "passed" and test.id in before else TestRole.TARGET
        for test in solved.tests
        if test.status != "skipped"
    }


def _write(path: Path, config: Mapping[str, JsonValue]) -> None:
    """Change the configuration in place; comments and everything else stay."""
    yaml = YAML()
    yaml.width = 4096
    yaml.preserve_quotes = True
    document = yaml.load(path.read_text(encoding="utf-8"))
    document["evaluator"]["config"].update(config)
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)
    draft.replace(path)
