"""`akbench report`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from akbench.spec import InputError

__all__ = ["report"]


@click.command()
@click.option("experiments", "--experiment", metavar="ID", multiple=True, help="Report this experiment; repeatable.")
@click.option("every", "--all", is_flag=True, help="Report all stored experiments (what happens without a choice).")
@click.option("--output", type=click.Path(path_type=Path), help="Folder of the report.  [default: PROJECT/reports]")
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Project folder.  [default: the current one]",
)
@click.option("as_json", "--json", is_flag=True, help="Print the result as JSON.")
def report(
    experiments: tuple[str, ...],
    *,
    every: bool,
    output: Path | None,
    project: Path,
    as_json: bool,
) -> None:
    """Write the stored experiments as a static HTML report and print its path."""
    # The pages bring in jinja2 and scipy, which `akbench report --help` need not wait for.
    from akbench_report.site import write_site

    if every and experiments:
        raise InputError("--all and --experiment exclude each other")
    page = write_site(_data(project), output or project / "reports", experiments or None)
    click.echo(json.dumps({"report": str(page)}) if as_json else str(page))


def _data(project: Path) -> Path:
    data = project / "data"
    if not data.is_dir():
        raise InputError(
            "no data folder here, so no experiment was run; name the project's folder with --project",
            place=str(project.resolve()),
        )
    return data
