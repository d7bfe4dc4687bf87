"""``akbench dataset import``: the user's own checkout of a public set of tasks as a dataset of the project."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.dataset_new import check_dataset_id
from akbench.cli.export import list_formats
from akbench.cli.output import json_option, print_json, project_option, say
from akbench.dataset.locations import url_flaw
from akbench.dataset.tree import Tree
from akbench.environments import strongest_environment
from akbench.pipeline import check_task
from akbench.project import Project, cache_folder
from akbench.publish.importing import DatasetWriter, Written
from akbench.spec import GitRepository, ImportedDataset, InputError
from akbench.workspace.scratch import scratch_folder

__all__ = ["import_command"]


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--format", "name", metavar="NAME", help="The format of SOURCE; see --formats.")
@click.option("--id", "dataset_id", metavar="ID", help="The id of the new dataset.  [default: the format's name]")
@click.option("--formats", is_flag=True, help="List the formats that installed extensions read, and stop.")
@project_option
@json_option
def import_command(
    source: Path | None, name: str | None, dataset_id: str | None, project_dir: Path, *, formats: bool, as_json: bool
) -> None:
    """Read the checkout SOURCE of a public set of tasks into a new dataset of the project.

    Nothing of SOURCE is changed, and nothing of it is run, unless a task brings an image: then the image is built, its
    files are taken out of it and the task's solution is run in it, in a sandbox. Next: akbench dataset validate ID
    --sort-tests.
    """
    if formats:
        list_formats(Catalogue.load().dataset_importers(), as_json=as_json)
        return
    if source is None or name is None:
        raise InputError("say what to read and in which format: akbench dataset import SOURCE --format NAME")
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    project.require_writable()
    check_dataset_id(dataset_id or name)
    place = project.root / "datasets" / (dataset_id or name)
    if place.exists():
        raise InputError("already there; choose another --id or remove it", place=str(place))
    imported = catalogue.read_foreign_dataset(name, source.resolve())
    written = _write(imported, place, project, catalogue)
    _tell(imported, written, place, as_json=as_json)


def _write(imported: ImportedDataset, place: Path, project: Project, catalogue: Catalogue) -> Written:
    """Written aside first: a dataset is there whole or not at all."""
    with scratch_folder("import-", project.workspaces) as scratch:
        scratch.chmod(0o755)
        writer = DatasetWriter(
            scratch / "whole" / place.name,
            cache_folder(),
            scratch,
            fetch=_fetch,
            check=lambda task: check_task(task, catalogue),
            sandbox=lambda: strongest_environment(catalogue, task_images=True).sandbox,
        )
        written = writer.write(imported, place.name)
        place.parent.mkdir(exist_ok=True)
        shutil.move(scratch / "whole" / place.name, place)
    return written


def _tell(imported: ImportedDataset, written: Written, place: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "dataset": place.name,
                "source": imported.source,
                "commit": imported.commit,
                "license": imported.license,
                "tasks": list(written.tasks),
                "refused": dict(written.refused),
                "notes": list(imported.notes),
            }
        )
        return
    for name, reason in written.refused.items():
        say(f"{name}: not imported: {reason}")
    for note in imported.notes:
        say(f"note: {note}")
    commit = imported.commit or "unknown: no git checkout"
    say(f"imported {len(written.tasks)} tasks into {place.name} ({imported.license}; {imported.source}; {commit})")
    say(f"next: akbench dataset validate {place.name} --sort-tests")


def _fetch(repository: GitRepository) -> Tree:
    """The tree of the commit, without the files of its submodules."""
    from akbench.dataset.git_source import read_commit

    flaw = url_flaw(repository.url)
    if flaw is not None:
        raise InputError(f"its repository {repository.url!r} {flaw}")
    return read_commit(repository.url, repository.commit, cache_folder(), submodules="leave_out").tree
