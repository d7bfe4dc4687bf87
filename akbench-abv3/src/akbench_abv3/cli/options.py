"""Options that several commands share."""

from __future__ import annotations

import math
from pathlib import Path

import click

from akbench_abv3.completed import STORE_VARIABLE

__all__ = ["Seconds", "allow_unknown_option", "directory_option", "store_option"]


class Seconds(click.FloatRange):
    """A positive, finite number of seconds."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number; neither `nan` nor `inf` is a time."""
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return seconds


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
