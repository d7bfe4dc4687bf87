"""``akbench clean``: removes what harnesses left that were killed."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from akbench.catalogue import Catalogue
from akbench.cleaning import clean as remove_all
from akbench.cleaning import left_alone, remnants
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.project import Project

__all__ = ["clean"]


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@project_option
@json_option
@click.pass_context
def clean(ctx: click.Context, project_dir: Path, *, dry_run: bool, as_json: bool) -> None:
    """Remove what AK-Bench left when it was killed: scratch folders, containers, networks.

    Looked at are the project's workspaces (if the folder is one), the system's temporary folder, and all sandboxes.

    Only what carries AK-Bench's mark is removed, and only when the process that made it is gone: nothing of a run that
    is still going on, and nothing that belongs to anybody else; what is marked, but not so that its owner could be
    told, is left alone and named. `akbench experiment run` and `akbench dataset validate` do the same at their start.
    Exit code 3 if something could not be removed, or a sandbox does not tell what it left.
    """
    asked_for = ctx.get_parameter_source("project_dir") is not ParameterSource.DEFAULT
    workspaces = Project.at(project_dir).workspaces if asked_for or Project.is_at(project_dir) else None
    catalogue = Catalogue.load()
    sandboxes = [(name, catalogue.sandbox(name)[1]) for name in catalogue.sandbox_names()]
    found = tuple(remnants(workspaces, sandboxes))
    done = [(each, None) for each in found] if dry_run else list(remove_all(found))
    verb = "to remove" if dry_run else "removed"
    rows = [(reason or verb, each.kind, each.name, each.where) for each, reason in done]
    for path, reason in left_alone(workspaces):
        rows.append((f"left alone: {reason}", "folder", path.name, str(path.parent)))
    if as_json:
        print_json([dict(zip(("state", "kind", "name", "where"), row, strict=True)) for row in rows])
    elif rows:
        print_table(("", "kind", "name", "of"), rows)
    else:
        say("nothing is left of earlier runs")
    ctx.exit(3 if any(reason for _, reason in done) else 0)
