"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

from akbench_abv3.completed import STORE_VARIABLE

__all__ = ["allow_unknown_option", "directory_option", "store_option"]

directory_option = click.option(
    "-C",
    "--directory",
    "root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="Root of the repository (default: the current folder).",
)
allow_unknown_option = click.option(
    "--allow-unknown-dependencies",
    "allow_unknown",
    is_flag=True,
    help="Only warn about dependencies that are not recognised.",
)
store_option = click.option(
    "--store",
    type=click.Choice(["file", "keyring"]),
    default="file",
    envvar=STORE_VARIABLE,
    show_envvar=True,
    help="Where credentials are kept (default: file).",
)
