"""What commands print: JSON for programs, tables for people. Control characters of foreign text never get through."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

__all__ = ["json_option", "plain", "print_json", "print_table", "project_option", "say"]


def project_option[F: Callable[..., Any]](function: F) -> F:
    """``--project DIR``: the project folder."""
    option = click.option(
        "--project",
        "project_dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(),
        show_default="the current folder",
        help="The project folder.",
    )
    return option(function)


def json_option[F: Callable[..., Any]](function: F) -> F:
    """``--json``: print JSON instead of a table."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    click.echo("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


def say(text: str, *, err: bool = False) -> None:
    """`text` for people, on standard output or on standard error."""
    click.echo(plain(text), err=err)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table without wrapping where the output is not a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    console = Console()
    if not sys.stdout.isatty():
        console.width = 200
    console.print(table)


def plain(text: str) -> str:
    """`text` with control characters made visible, so that it cannot steer a terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)
