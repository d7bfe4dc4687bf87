"""What commands print: JSON for programs, tables for people. Control characters of foreign text never get through."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

__all__ = ["json_option", "plain", "print_findings", "print_json", "print_table", "project_option", "say"]


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
    """A table; folded to the width of a terminal, without wrapping where the output is none."""
    cells = [[plain(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _print_folded(headings, cells)
        return
    columns = list(zip(headings, *([cell.replace("\n", " ") for cell in row] for row in cells), strict=True))
    widths = [max(map(_width, column)) for column in columns]
    lines = [_line(row, widths) for row in zip(*columns, strict=True)]
    lines.insert(1, "─" * (sum(widths) + 3 * len(widths) - 1))
    click.echo("\n".join(["", *lines, ""]))


_PAGE = 100
"""Columns of what is printed where there is no terminal whose width is known."""
_NARROWEST = 30


def print_findings(findings: Iterable[tuple[str, str, str, str]]) -> None:
    """Findings as (state, what, detail, mend), the long texts wrapped to a terminal or to a page of 100 columns."""
    rows = [tuple(" ".join(plain(cell).split()) for cell in finding) for finding in findings]
    widths = [max((_width(row[column]) for row in rows), default=0) for column in (0, 1)]
    indent = " " * (sum(widths) + 7)
    page = shutil.get_terminal_size((_PAGE, 1)).columns if sys.stdout.isatty() else _PAGE
    width = max(_NARROWEST, page - len(indent))
    click.echo()
    for row in rows:
        begin = _line(row[:2], widths)
        lines = [*_wrapped(row[2], width), *(_wrapped(f"mend: {row[3]}", width) if row[3] else [])]
        click.echo(f"{begin}{' ' * (len(indent) - _width(begin))}{f'\n{indent}'.join(lines)}".rstrip())
    click.echo()


def _wrapped(text: str, width: int) -> list[str]:
    """No word is broken, so that paths and commands can be copied."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
    return f" {'   '.join(padded)}".rstrip()


def _width(text: str) -> int:
    """Columns that a terminal gives to `text`."""
    if text.isascii():
        return len(text)
    return sum((unicodedata.east_asian_width(char) in "WF") + (not unicodedata.combining(char)) for char in text)


def _print_folded(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def plain(text: str) -> str:
    """`text` with control characters made visible, so that it cannot steer a terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)
