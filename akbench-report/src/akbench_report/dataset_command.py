"""`akbench dataset report`."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["report"]


@click.command()
@click.argument("dataset_id")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Folder.  [default: PROJECT/reports/datasets/DATASET_ID]"
)
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Project folder.  [default: the current one]",
)
@click.option("as_json", "--json", is_flag=True, help="Print the result as JSON.")
def report(dataset_id: str, *, output: Path | None, project: Path, as_json: bool) -> None:
    """Write DATASET_ID as a static HTML page (tasks, sizes, validation) and print its path."""
    # The page brings in jinja2, which `akbench dataset --help` need not wait for.
    from akbench_report.dataset_page import write_dataset

    page = write_dataset(project, dataset_id, output or project / "reports" / "datasets" / dataset_id)
    click.echo(json.dumps({"report": str(page)}) if as_json else str(page))
