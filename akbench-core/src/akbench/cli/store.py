"""``akbench store``: the index of results and the integrity of the stored files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.project import Project

__all__ = ["store"]


@click.group()
def store() -> None:
    """Rebuild the index of results and verify stored files."""


@store.command()
@project_option
@json_option
def rebuild(project_dir: Path, *, as_json: bool) -> None:
    """Make the index (data/akbench.sqlite) again from the files below data/artifacts.

    Nothing is lost by it: the files are the truth. It is refused while an experiment runs.
    """
    from akbench.store.index import Index

    rebuilt = Index.rebuild(Project.at(project_dir).data)
    if as_json:
        print_json(asdict(rebuilt))
        return
    beside = f"; {rebuilt.gradings} later gradings lie beside them" if rebuilt.gradings else ""
    say(f"indexed {rebuilt.experiments} experiments with {rebuilt.runs} runs{beside}")
    for message in rebuilt.unreadable:
        say(f"left out: {message}", err=True)


@store.command()
@project_option
@json_option
@click.pass_context
def verify(ctx: click.Context, project_dir: Path, *, as_json: bool) -> None:
    """Check every stored file of a finished run against its recorded size and SHA-256.

    Exit code 1 if one is missing, damaged or changed.
    """
    from akbench.store.verify import verify as check

    found = check(Project.at(project_dir).data)
    if as_json:
        print_json(asdict(found))
    else:
        say(
            f"checked {found.files} files ({found.size} bytes) of {found.finished} finished runs and their "
            f"{found.gradings} later gradings in {found.experiments} experiments; "
            f"{found.unfinished} unfinished runs have nothing to check yet"
        )
        if found.faults:
            print_table(
                ("experiment", "run", "file", "fault"),
                [(each.experiment_id, each.run_id or "-", each.file, each.message) for each in found.faults],
            )
    if found.faults:
        ctx.exit(1)
