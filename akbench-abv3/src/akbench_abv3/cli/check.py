"""`abv3 check`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from akbench_abv3.check import Checked, check_repository
from akbench_abv3.cli.options import allow_unknown_option, directory_option
from akbench_abv3.completed import ExitCode
from akbench_abv3.finding import errors_of
from akbench_abv3.report import Row, check_document, check_rows, check_summary, check_title, passes_check
from akbench_abv3.terminal import visible
from akbench_abv3.writing import json_document

if TYPE_CHECKING:
    from pathlib import Path

_COLOURS = {"PASS": "green", "FAIL": "red", "WARN": "yellow"}
_WIDEST_PLACE = 60
"""A foreign name may be a megabyte long; a column as wide as that would multiply it by the lines."""


@click.command("check")
@click.option(
    "-l",
    "--level",
    type=click.Choice(["1", "1+t"]),
    default="1",
    help="Level to check: -l1 (default), or -l1+t for results with transcripts.",
)
@directory_option
@click.option("--results", is_flag=True, help="Also judge the results that are there.")
@allow_unknown_option
@click.option("--strict", is_flag=True, help="Let warnings fail the check.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    context: click.Context,
    *,
    level: str,
    root: Path,
    results: bool,
    allow_unknown: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Check a repository against ABV3-L1.

    Reads files only: it runs nothing and opens no network. All findings come in one pass, each with
    a stable code; `abv3 explain CODE` says how to mend it. Exit code 0: passed; 1: failed.
    """
    checked = check_repository(
        root,
        level=level,
        results=results,
        allow_unknown_dependencies=allow_unknown,
        environment=os.environ,
    )
    if as_json:
        click.echo(json_document(check_document(checked, strict=strict)), nl=False)
    else:
        print_check(checked, strict=strict)
    context.exit(ExitCode.OK if passes_check(checked, strict=strict) else ExitCode.FAILED)


def print_check(checked: Checked, *, strict: bool = False, err: bool = False) -> None:
    """Print the whole report."""
    click.echo(check_title(checked), err=err)
    rows = tuple(check_rows(checked))
    width = min(max(len(visible(row.place)) for row in rows), _WIDEST_PLACE)
    for row in rows:
        click.echo(_coloured(row, width), err=err)
    click.echo(check_summary(checked, strict=strict), err=err)
    if checked.findings:
        click.echo(f"How to mend a finding: abv3 explain {_worst(checked)}", err=True)


def _worst(checked: Checked) -> str:
    return (errors_of(checked.findings) or checked.findings)[0].code


def _coloured(row: Row, width: int) -> str:
    text = row.line(width)
    return click.style(text[:4], fg=_COLOURS[row.verdict]) + text[4:]
