"""`abv3 index`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from akbench_abv3.check import check_repository
from akbench_abv3.cli.options import store_option
from akbench_abv3.cli.refusal import Refusal
from akbench_abv3.completed import ExitCode
from akbench_abv3.dependencies.installed import read_installed
from akbench_abv3.dependencies.provided import provide_all
from akbench_abv3.dependencies.store import CredentialStore, StoreError, open_store
from akbench_abv3.index import Entry, Wanted, entry_of, repositories_below
from akbench_abv3.stated import ROLES
from akbench_abv3.terminal import visible
from akbench_abv3.writing import json_document

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADINGS = ("NAME", "ROLE", "VERSION", "TAGS", "NEEDS", "CAN RUN", "PATH")


@click.command("index")
@click.argument(
    "folders",
    metavar="DIR...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option("--role", type=click.Choice(ROLES), help="Only repositories with this role.")
@click.option("--tag", "tags", multiple=True, help="Only those with this tag (may be repeated).")
@click.option("--search", "text", help="Only those with this text in name, author or tags.")
@click.option("--ready", is_flag=True, help="Only those that can run with what is here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def command(
    *,
    folders: tuple[Path, ...],
    role: str | None,
    tags: tuple[str, ...],
    text: str | None,
    ready: bool,
    as_json: bool,
    store: str,
) -> None:
    """List the repositories in and below the given folders.

    Says of each what it needs and whether it can run here: NEEDS are its required dependencies, CAN
    RUN says yes or what is lacking (a dependency, the installation, or the codes of check errors).
    """
    wanted = Wanted(role=role, tags=tags, text=text, ready=ready)
    try:
        opened = open_store(store)
        every = [_entry(root, opened) for root in repositories_below(folders)]
    except StoreError as error:
        raise Refusal(str(error), ExitCode.USAGE) from error
    entries = [entry for entry in every if wanted.takes(entry)]
    if as_json:
        documents = [{**asdict(entry), "ready": entry.is_ready} for entry in entries]
        click.echo(json_document({"repositories": documents}), nl=False)
        return
    for line in _table([_HEADINGS, *map(_cells, entries)]):
        click.echo(line)
    click.echo(f"{len(entries)} of {len(every)} repositories", err=True)


def _entry(root: Path, store: CredentialStore) -> Entry:
    checked = check_repository(root)
    installed = read_installed(checked.root)
    steps = installed.steps_done(checked.dependencies)
    provisions = provide_all(checked.dependencies, os.environ, store.get, steps)
    install = checked.manifest.install if checked.manifest else None
    return entry_of(checked, provisions, is_installed=installed.has_installed(install.command if install else None))


def _cells(entry: Entry) -> tuple[str, ...]:
    cells = (
        entry.name or "?",
        entry.role or "?",
        entry.version or "?",
        ",".join(entry.tags),
        ",".join(entry.needs),
        "yes" if entry.is_ready else f"no: {','.join(entry.lacks)}",
        entry.path,
    )
    return tuple(visible(cell) or "-" for cell in cells)


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
