"""``akbench import``: results of another format as an experiment of the store."""

from __future__ import annotations

from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.export import list_formats
from akbench.cli.output import json_option, print_json, project_option
from akbench.project import Project
from akbench.spec import InputError

__all__ = ["import_results"]


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--format", "name", metavar="NAME", help="The format of SOURCE; see --formats.")
@click.option("--formats", is_flag=True, help="List the formats that installed extensions read, and stop.")
@project_option
@json_option
def import_results(source: Path | None, name: str | None, project_dir: Path, *, formats: bool, as_json: bool) -> None:
    """Read the results at SOURCE as an experiment and print its id.

    The experiment is labelled as imported wherever it is shown; what the source does not say is unavailable.
    """
    if formats:
        list_formats(Catalogue.load().importers(), as_json=as_json)
        return
    if source is None or name is None:
        raise InputError("say what to read and in which format: akbench import SOURCE --format NAME")
    catalogue = Catalogue.load()
    report_failures(catalogue)
    project = Project.at(project_dir)
    project.require_writable()
    experiment_id = catalogue.import_function(name)(source, project.data)
    print_json({"experiment": experiment_id}) if as_json else click.echo(experiment_id)
