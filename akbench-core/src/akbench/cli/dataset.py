"""``akbench dataset``: the tasks, and whether they can be trusted."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.lazy_group import LazyCommands
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.dataset.dataset import Dataset, Task, find_dataset, list_datasets, load_dataset
from akbench.pipeline import check_task, make_ready, strongest_sandbox
from akbench.project import Project, cache_folder
from akbench.publish.validation import TaskValidation, validate_task
from akbench.spec import JsonValue
from akbench.workspace.removal import remove_tree

__all__ = ["dataset"]


COMMANDS = {
    "mine": ("akbench.cli.dataset_mine:mine", "Make tasks from a repository's own history."),
    "mutate": ("akbench.cli.dataset_mutate:mutate", "Make bug-fix tasks by controlled mutations."),
}
"""Commands with a module of their own -> where it is and what it does."""


@click.group(cls=LazyCommands, lazy=COMMANDS)
def dataset() -> None:
    """List, validate and make datasets."""


@dataset.command("list")
@project_option
@json_option
def list_command(project_dir: Path, *, as_json: bool) -> None:
    """List the project's datasets and their tasks."""
    found = [load_dataset(folder) for folder in list_datasets(Project.at(project_dir).root)]
    if as_json:
        print_json([_dataset_json(each) for each in found])
        return
    for each in found:
        say(f"{each.model.id} {each.model.version}: {each.model.title} ({each.digest[:12]})")
        rows = [
            (task.descriptor.id, task.descriptor.task.category, task.descriptor.task.difficulty, task.descriptor.title)
            for task in each.tasks
        ]
        print_table(("task", "category", "difficulty", "title"), rows)


@dataset.command()
@click.argument("dataset_id", required=False)
@click.option("--task", "task_ids", multiple=True, help="Only this task (repeatable).")
@click.option("--static", is_flag=True, help="Check the files only; fetch, build and run nothing.")
@project_option
@json_option
@click.pass_context
def validate(
    ctx: click.Context,
    dataset_id: str | None,
    task_ids: tuple[str, ...],
    project_dir: Path,
    *,
    static: bool,
    as_json: bool,
) -> None:
    """Validate DATASET_ID (default: all): files, then each task unsolved and with its reference solution.

    A task is good when its target tests fail on the unsolved tree, everything passes on the solved one, and the
    regression tests pass on both. Exit code 1 if one is not.
    """
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    folders = (find_dataset(project.root, dataset_id),) if dataset_id else list_datasets(project.root)
    validations = []
    for folder in folders:
        loaded = load_dataset(folder)
        for task in [loaded.task(name) for name in task_ids] or loaded.tasks:
            check_task(task, catalogue)
            if not static:
                validations.append(_validate(task, loaded, catalogue, project, quiet=as_json))
    if as_json:
        print_json({"valid": all(each.ok for each in validations), "tasks": [_validation_json(v) for v in validations]})
    elif static:
        say("the files are valid; nothing was run")
    ctx.exit(0 if all(each.ok for each in validations) else 1)


def _validate(task: Task, dataset: Dataset, catalogue: Catalogue, project: Project, *, quiet: bool) -> TaskValidation:
    ready = make_ready(task, dataset, catalogue, cache_folder())
    sandbox = strongest_sandbox(catalogue)[1]
    project.require_writable()
    scratch = Path(tempfile.mkdtemp(prefix="validate-", dir=project.workspaces))
    scratch.chmod(0o755)
    try:
        found = validate_task(
            ready.assembled,
            ready.snapshot,
            ready.environment,
            ready.evaluator,
            sandbox,
            cache_folder(),
            scratch,
            threading.Event(),
        )
    finally:
        remove_tree(scratch)
    if not quiet:
        word = "ok" if found.ok else "NOT VALID"
        say(f"{task.descriptor.id}: {word} ({found.seconds:.1f} s)")
        for problem in found.problems:
            say(f"  - {problem}")
    return found


def _dataset_json(dataset: Dataset) -> dict[str, JsonValue]:
    return {
        "id": dataset.model.id,
        "version": dataset.model.version,
        "title": dataset.model.title,
        "license": dataset.model.license,
        "hash": dataset.digest,
        "tasks": [
            {
                "id": task.descriptor.id,
                "version": task.descriptor.version,
                "title": task.descriptor.title,
                "category": task.descriptor.task.category,
                "difficulty": task.descriptor.task.difficulty,
                "tags": list(task.descriptor.task.tags),
            }
            for task in dataset.tasks
        ],
    }


def _validation_json(validation: TaskValidation) -> dict[str, JsonValue]:
    return {
        "task": validation.task_id,
        "ok": validation.ok,
        "problems": list(validation.problems),
        "seconds": round(validation.seconds, 2),
        "target_tests": validation.target_tests,
        "regression_tests": validation.regression_tests,
    }
