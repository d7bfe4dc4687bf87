"""``akbench category``: the sorts of work that tasks ask for."""

from __future__ import annotations

from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.output import json_option, print_json, print_table, project_option
from akbench.descriptors.kinds import CategoryDescriptor

__all__ = ["category"]


@click.group()
def category() -> None:
    """List the categories of tasks."""


@category.command("list")
@project_option
@json_option
def list_categories(project_dir: Path, *, as_json: bool) -> None:
    """List the categories that a task can name, and what a solution must show in each."""
    catalogue = Catalogue.load(project_dir)
    found = [(each.model, each.origin) for each in catalogue.descriptors("category")]
    rows = [
        {
            "id": model.id,
            "version": model.version,
            "title": model.title,
            "description": model.description,
            "judged_by": model.category.judged_by,
            "origin": origin,
        }
        for model, origin in found
        if isinstance(model, CategoryDescriptor)
    ]
    if as_json:
        print_json({"categories": rows, "failures": [str(failure) for failure in catalogue.failures]})
        return
    shown = [(row["id"], row["version"], row["title"], row["judged_by"], row["origin"]) for row in rows]
    print_table(("category", "version", "title", "judged by", "from"), shown)
    report_failures(catalogue)
