"""The dataset `libraries`: its make-up, and that two of its tasks validate here and now.

That a verdict which holds vouches for each task is checked, for all shipped datasets, by the end-to-end tests.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest
from click.testing import CliRunner

from akbench.cli.dataset_validate import validate
from akbench.dataset.dataset import load_dataset
from akbench_examples import project_folder

DATASETS = project_folder() / "datasets"
LIBRARIES = load_dataset(DATASETS / "libraries")
each_task = pytest.mark.parametrize("task", LIBRARIES.tasks, ids=lambda task: task.descriptor.id)


def families():
    """Sets of tasks that relations of any kind connect."""
    found = {task.descriptor.id: {task.descriptor.id} for task in LIBRARIES.tasks}
    for task in LIBRARIES.tasks:
        for targets in task.descriptor.task.relations.by_kind().values():
            for target in targets:
                joined = found[task.descriptor.id] | found[target]
                found.update(dict.fromkeys(joined, joined))
    return {frozenset(family) for family in found.values() if len(family) > 1}


def test_the_example_datasets_have_twenty_tasks_in_all_difficulties_and_the_first_two_categories():
    tasks = [*LIBRARIES.tasks, *load_dataset(DATASETS / "software-engineering").tasks]
    assert len(tasks) >= 20
    assert set(Counter(task.descriptor.task.category for task in tasks)) == {"bug_fix", "new_feature"}
    assert set(Counter(task.descriptor.task.difficulty for task in tasks)) == {"easy", "medium", "hard", "expert"}


def test_there_are_three_families_and_each_kind_of_relation():
    assert len(families()) >= 3
    kinds = {kind for task in LIBRARIES.tasks for kind, ids in task.descriptor.task.relations.by_kind().items() if ids}
    assert kinds == {"same", "related", "misleading"}


@each_task
def test_every_mutation_is_an_operator_with_the_hashes_before_and_after(task):
    assert task.mutations
    for mutation in task.mutations:
        assert mutation.mutation.operator is not None
        assert mutation.mutation.result_sha256


@each_task
def test_a_description_names_neither_tests_nor_the_changed_code(task):
    assert "hidden" not in task.description.lower()
    assert "mutation" not in task.description.lower()
    assert all(mutation.mutation.file not in task.description for mutation in task.mutations)


@each_task
def test_tests_of_our_own_are_targets(task):
    targets = set(task.evaluator.model.evaluator.config["target"])
    own = {str(path.relative_to(task.hidden_tests)) for path in task.hidden_tests.rglob("test_*.py")}
    assert own
    assert own <= targets


@pytest.mark.network
def test_an_easy_and_an_expert_task_validate_here(tmp_path):
    shutil.copytree(project_folder(), tmp_path / "project")
    asked = ["libraries", "--again", "--repetitions", "1", "--jobs", "2", "--json", "--project", tmp_path / "project"]
    result = CliRunner().invoke(validate, [*map(str, asked), "--task", "omd-001", "--task", "tlru-002"])
    assert result.exit_code == 0, result.output
    assert {report["task"]: report["ok"] for report in json.loads(result.stdout)["tasks"]} == {
        "omd-001": True,
        "tlru-002": True,
    }
