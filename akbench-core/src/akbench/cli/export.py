"""``akbench export``: a stored experiment in a format that an extension writes."""

from __future__ import annotations

from pathlib import Path

import click

from akbench.catalogue import Adapter, Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.output import json_option, print_json, print_table, project_option
from akbench.project import Project
from akbench.spec import InputError

__all__ = ["export", "list_formats"]


@click.command()
@click.argument("experiment_id", required=False)
@click.option("--format", "name", metavar="NAME", help="The format to write; see --formats.")
@click.option("--formats", is_flag=True, help="List the formats that installed extensions write, and stop.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    show_default="PROJECT/exports/EXPERIMENT_ID-NAME",
    help="Folder to write.",
)
@project_option
@json_option
def export(
    experiment_id: str | None, name: str | None, output: Path | None, project_dir: Path, *, formats: bool, as_json: bool
) -> None:
    """Write the stored experiment EXPERIMENT_ID in another format and print the path of what was written."""
    if formats:
        list_formats(Catalogue.load().exporters(), as_json=as_json)
        return
    if experiment_id is None or name is None:
        raise InputError("say which experiment and in which format: akbench export EXPERIMENT_ID --format NAME")
    catalogue = Catalogue.load()
    report_failures(catalogue)
    project = Project.at(project_dir)
    target = output or project.root / "exports" / f"{experiment_id}-{name}"
    written = catalogue.export_function(name)(project.data, target, (experiment_id,))
    print_json({"written": str(written)}) if as_json else click.echo(str(written))


def list_formats(adapters: tuple[Adapter, ...], *, as_json: bool) -> None:
    """Print what there is: format, what it is, which distribution brings it."""
    rows = [(each.record.id, each.record.summary, f"{each.distribution} {each.version}") for each in adapters]
    if as_json:
        print_json([{"format": row[0], "summary": row[1], "extension": row[2]} for row in rows])
        return
    print_table(("format", "what it is", "from"), rows)
