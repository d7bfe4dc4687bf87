"""``akbench dataset``: the tasks, and whether they can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.lazy_group import LazyCommands
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.dataset.dataset import Dataset, Task, find_dataset, list_datasets, load_dataset
from akbench.dataset.frozen import changes
from akbench.descriptors.kinds import Filters
from akbench.experiment.publication import verdict_fault
from akbench.project import Project
from akbench.spec import InputError, JsonValue

__all__ = ["dataset"]


COMMANDS = {
    "freeze": ("akbench.cli.dataset_freeze:freeze_command", "Give a validated dataset one hash."),
    "import": ("akbench.cli.dataset_import:import_command", "Make a dataset from your checkout of a public one."),
    "mine": ("akbench.cli.dataset_mine:mine", "Make tasks from a repository's own history."),
    "mutate": ("akbench.cli.dataset_mutate:mutate", "Make bug-fix tasks by controlled mutations."),
    "new": ("akbench.cli.dataset_new:new", "Write a small commented dataset that works."),
    "validate": ("akbench.cli.dataset_validate:validate", "Validate tasks by running them in all their states."),
}
"""Commands with a module of their own -> where it is and what it does."""

DIFFICULTIES = ("easy", "medium", "hard", "expert")
RELATIONS = ("same", "related", "misleading")


@click.group(cls=LazyCommands, lazy=COMMANDS)
def dataset() -> None:
    """List, validate and make datasets."""


def filter_options[F: Callable[..., Any]](function: F) -> F:
    """``--category``, ``--difficulty``, ``--tag``, ``--task``, ``--relation``, ``--related-to``; each repeatable."""
    for option in (
        click.option("--related-to", multiple=True, help="Only this task and those in a relation to it."),
        click.option("--relation", "relations", type=click.Choice(RELATIONS), multiple=True, help="Only tasks in it."),
        click.option("--task", "task_ids", multiple=True, help="Only this task."),
        click.option("--tag", "tags", multiple=True, help="Only tasks with this tag."),
        click.option(
            "--difficulty", "difficulties", type=click.Choice(DIFFICULTIES), multiple=True, help="Only these."
        ),
        click.option("--category", "categories", multiple=True, help="Only this category."),
    ):
        function = option(function)
    return function


@dataset.command("list")
@filter_options
@project_option
@json_option
def list_command(project_dir: Path, *, as_json: bool, **filters: tuple[str, ...]) -> None:
    """List the project's datasets and their tasks. Options that filter can be given several times."""
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    chosen = Filters.model_validate(filters)
    found = [load_dataset(folder) for folder in list_datasets(project.root)]
    listed = [(each, _select(each, chosen)) for each in found]
    if any(filters.values()):
        listed = [(each, tasks) for each, tasks in listed if tasks]
    if as_json:
        print_json([_dataset_json(each, tasks, catalogue) for each, tasks in listed])
        return
    for each, tasks in listed:
        _say_dataset(each)
        print_table(("task", "category", "difficulty", "title"), [_task_row(task) for task in tasks])


@dataset.command()
@click.argument("dataset_id")
@click.argument("task_id", required=False)
@filter_options
@project_option
@json_option
def show(dataset_id: str, task_id: str | None, project_dir: Path, *, as_json: bool, **filters: tuple[str, ...]) -> None:
    """Show DATASET_ID with the state of its tasks, or one task of it with what its validation found."""
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    found = load_dataset(find_dataset(project.root, dataset_id))
    if task_id is not None:
        _show_task(found.task(task_id), catalogue, as_json=as_json)
        return
    tasks = found.select(Filters.model_validate(filters))
    if as_json:
        print_json(_dataset_json(found, tasks, catalogue))
        return
    _say_dataset(found)
    for label, text in _facts(found).items():
        say(f"  {label}: {text}")
    rows = [(*_task_row(task), _validation_state(task, catalogue)) for task in tasks]
    print_table(("task", "category", "difficulty", "title", "validation"), rows)


def _select(dataset: Dataset, filters: Filters) -> tuple[Task, ...]:
    """Task ids are looked for in all datasets: one that lacks them has nothing to show."""
    known = {task.descriptor.id for task in dataset.tasks}
    wanted = {*filters.task_ids, *filters.related_to}
    if wanted - known:
        return ()
    return dataset.select(filters)


def _say_dataset(dataset: Dataset) -> None:
    frozen = "" if dataset.frozen is None else ", frozen"
    say(f"{dataset.model.id} {dataset.model.version}: {dataset.model.title} ({dataset.hash[:12]}{frozen})")


def _facts(dataset: Dataset) -> dict[str, str]:
    part = dataset.model.dataset
    facts = {
        "description": part.description,
        "license": dataset.model.license,
        "source": part.source,
        "commit": part.commit or "",
        "hash": dataset.hash,
        "changed since it was frozen": "; ".join(changes(dataset)),
    }
    return {label: text for label, text in facts.items() if text}


def _task_row(task: Task) -> tuple[str, str, str, str]:
    part = task.descriptor.task
    return task.descriptor.id, part.category, part.difficulty, task.descriptor.title


def _show_task(task: Task, catalogue: Catalogue, *, as_json: bool) -> None:
    if as_json:
        verdict = None if task.verdict is None else task.verdict.model_dump(mode="json")
        print_json({**_task_json(task, catalogue), "description": task.description, "verdict": verdict})
        return
    say(f"{task.descriptor.id} {task.descriptor.version}: {task.descriptor.title}")
    say(f"  {task.descriptor.task.category}, {task.descriptor.task.difficulty}; {', '.join(task.descriptor.task.tags)}")
    for kind, targets in task.descriptor.task.relations.by_kind().items():
        if targets:
            say(f"  {kind}: {', '.join(targets)}")
    say(f"  validation: {_validation_state(task, catalogue)}")
    if task.verdict is not None:
        say(f"  fail to pass: {len(task.verdict.fail_to_pass)}, pass to pass: {len(task.verdict.pass_to_pass)}")
        for test in task.verdict.quarantined:
            say(f"  quarantined: {test.id} ({test.state}: passed {test.passed} of {test.of})")
        rows = [
            (name, ", ".join(state.outcomes), f"{task.verdict.state_seconds.get(name, 0):.2f} s", state.reason)
            for name, state in task.verdict.states.items()
        ]
        print_table(("state", "outcomes", "duration", "reason"), rows)
    say("")
    say(task.description.rstrip())


def _dataset_json(dataset: Dataset, tasks: tuple[Task, ...], catalogue: Catalogue) -> dict[str, JsonValue]:
    return {
        "id": dataset.model.id,
        "version": dataset.model.version,
        "title": dataset.model.title,
        "license": dataset.model.license,
        "source": dataset.model.dataset.source,
        "commit": dataset.model.dataset.commit,
        "hash": dataset.hash,
        "frozen": dataset.frozen is not None,
        "changes": list(changes(dataset)),
        "tasks": [_task_json(task, catalogue) for task in tasks],
    }


def _task_json(task: Task, catalogue: Catalogue) -> dict[str, JsonValue]:
    part = task.descriptor.task
    return {
        "id": task.descriptor.id,
        "version": task.descriptor.version,
        "title": task.descriptor.title,
        "category": part.category,
        "difficulty": part.difficulty,
        "tags": list(part.tags),
        "relations": {kind: list(targets) for kind, targets in part.relations.by_kind().items() if targets},
        "license": task.repository.repository.license,
        "digest": task.digest,
        "validation": _validation_state(task, catalogue),
    }


def _validation_state(task: Task, catalogue: Catalogue) -> str:
    """``valid``, or why no verdict vouches for it; a task whose evaluator is not here can still be listed."""
    try:
        return verdict_fault(task, catalogue) or "valid"
    except InputError as error:
        return str(error)
