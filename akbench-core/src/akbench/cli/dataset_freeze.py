"""``akbench dataset freeze``: one hash for a validated dataset."""

from __future__ import annotations

from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.output import json_option, print_json, project_option, say
from akbench.dataset.dataset import find_dataset, load_dataset
from akbench.dataset.frozen import freeze, write_frozen
from akbench.experiment.publication import verdict_fault
from akbench.project import Project
from akbench.spec import InputError

__all__ = ["freeze_command"]


@click.command("freeze")
@click.argument("dataset_id")
@project_option
@json_option
def freeze_command(dataset_id: str, project_dir: Path, *, as_json: bool) -> None:
    """Write frozen.json for DATASET_ID: the hash of every task and verdict, and one hash over them all.

    An experiment can name it (dataset: {id, version, hash}); once frozen, a changed dataset is refused. Every task
    must have a valid verdict that holds. A frozen version keeps its hash: raise the version to freeze it anew.
    """
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    dataset = load_dataset(find_dataset(project.root, dataset_id))
    faults = [(task.descriptor.id, verdict_fault(task, catalogue)) for task in dataset.tasks]
    lacking = [f"{task_id} {fault}" for task_id, fault in faults if fault]
    if lacking:
        named = "\n  ".join(lacking)
        how = f"validate it first (akbench dataset validate {dataset_id}), and remove the tasks that are refused"
        raise InputError(f"{len(lacking)} of {len(faults)} tasks cannot be frozen; {how}:\n  {named}")
    frozen, before = freeze(dataset), dataset.frozen
    if before is not None and before.version == frozen.version and before.hash != frozen.hash:
        message = f"version {frozen.version} is frozen already, with the hash {before.hash}; raise the version"
        raise dataset.document.error(message, ("version",))
    path = write_frozen(frozen, dataset.folder)
    if as_json:
        print_json({"dataset": dataset_id, "version": frozen.version, "hash": frozen.hash, "file": str(path)})
    else:
        say(f"{dataset_id} {frozen.version} is frozen: {frozen.hash}")
