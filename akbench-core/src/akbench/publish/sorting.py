"""Sorting a task's tests by what they do: those that tell the solved tree from the unsolved one are its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ruamel.yaml import YAML

from akbench.evaluate.judging import JudgedPart
from akbench.publish.states import SOLVED, UNSOLVED, tree_states
from akbench.publish.validation import TaskBench
from akbench.spec import JsonValue, Judgement, Outcome, TestRole

__all__ = ["sort_tests"]

type Way = tuple[int | str, ...]


def sort_tests(bench: TaskBench) -> bool:
    """Judge the task solved and unsolved, once each, and write what was found into its ``evaluator.yaml``.

    Tests that pass on both trees become regression tests, tests that are skipped on the solved one are left out, and
    all others are targets: also those that fail on the solved tree, so that validating the task names them. False,
    and nothing is written, when the evaluator knows no single tests, could not judge, or all is sorted already.
    """
    room = bench.scratch / "sorting"
    states = {each.name: each.tree for each in tree_states(bench.assembled, bench.snapshot, bench.cache, room)}
    judged = {name: bench.judge(states[name], f"sorting-{name}") for name in (SOLVED, UNSOLVED)}
    solved, unsolved = judged[SOLVED].judgement, judged[UNSOLVED].judgement
    if any(each.outcome is Outcome.EVALUATOR_ERROR or not each.tests for each in (solved, unsolved)):
        return False
    roles = _roles(solved, unsolved)
    target, regression = ([name for name, role in roles.items() if role is wanted] for wanted in TestRole)
    if not target or roles == {test.id: test.role for test in solved.tests}:
        return False
    changes = _changes(bench, judged[SOLVED].parts, target, regression)
    if changes:
        _write(bench.assembled.task.folder / "evaluator.yaml", changes)
    return bool(changes)


def _changes(
    bench: TaskBench, solved: Sequence[JudgedPart], target: list[str], regression: list[str]
) -> dict[Way, Mapping[str, JsonValue]]:
    """Where a configuration stands in evaluator.yaml -> what it is with the sorted tests that this part ran."""
    found: dict[Way, Mapping[str, JsonValue]] = {}
    for index, part in enumerate(solved):
        own = {test.id for test in part.evaluation.judgement.tests}
        targets, others = ([name for name in names if name in own] for names in (target, regression))
        config = part.ready.evaluator.with_roles(part.ready.part.config, targets, others) if targets else None
        if config is not None:
            found[(*bench.assembled.task.evaluator.model.evaluator.way(index), "config")] = config
    return found


def _roles(solved: Judgement, unsolved: Judgement) -> dict[str, TestRole]:
    before = {test.id for test in unsolved.tests if test.status == "passed"}
    return {
        test.id: TestRole.REGRESSION if test.status == "passed" and test.id in before else TestRole.TARGET
        for test in solved.tests
        if test.status != "skipped"
    }


def _write(path: Path, changes: Mapping[Way, Mapping[str, JsonValue]]) -> None:
    """Change the configurations in place; comments and everything else stay."""
    yaml = YAML()
    yaml.width = 4096
    yaml.preserve_quotes = True
    document = yaml.load(path.read_text(encoding="utf-8"))
    for way, config in changes.items():
        place = document
        for step in way:
            place = place[step]
        place.update(config)
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)
    draft.replace(path)
