"""What is shown while an experiment runs: plain lines, and a progress bar on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from akbench_abv3.completed import RunStatus
from akbench_abv3.execution.masking import masked
from akbench_abv3.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from akbench_abv3.execution.experiment import Live, RunOutcome

__all__ = ["run_line", "showing"]


def run_line(outcome: RunOutcome, secrets: Iterable[str] = ()) -> str:
    """Return what is said of a run that has ended; a metric's name is foreign text and may hold a secret."""
    result = outcome.result
    value = f", {masked(result.main_metric, secrets)} {result.main_value:g}" if result else ""
    time = f" ({outcome.duration_seconds:.1f} s)" if outcome.duration_seconds is not None else ""
    note = f": {outcome.note}" if outcome.note else ""
    return visible(f"{outcome.name}: {outcome.status}{value}{note}{time}")


@contextmanager
def showing(total: int, *, quiet: bool, secrets: Iterable[str] = ()) -> Iterator[Live]:
    """Show to standard error: with a bar on a terminal, as plain lines elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield _Lines(_echo, secrets, quiet=quiet)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=total)
        lines = _Lines(lambda text: console.print(Text(text), soft_wrap=True), secrets, quiet=quiet)
        yield _WithBar(
            lines,
            on_start=lambda name: progress.update(task, description=visible(name)),
            on_end=lambda: progress.advance(task),
        )


class _Lines:
    def __init__(self, echo: Callable[[str], None], secrets: Iterable[str], *, quiet: bool) -> None:
        self._echo, self._secrets, self._quiet = echo, tuple(secrets), quiet

    def run_started(self, name: str, number: int, total: int) -> None:
        if not self._quiet:
            self._echo(visible(f"[{number}/{total}] {name}"))

    def line(self, name: str, text: str) -> None:
        if not self._quiet:
            self._echo(f"[{visible(name)}] {text}")

    def run_ended(self, outcome: RunOutcome) -> None:
        if not self._quiet or outcome.status is not RunStatus.FINISHED:
            self._echo(run_line(outcome, self._secrets))
        for finding in outcome.findings:
            self._echo(visible(f"  {finding}"))


class _WithBar:
    def __init__(self, lines: _Lines, *, on_start: Callable[[str], None], on_end: Callable[[], None]) -> None:
        self._lines, self._on_start, self._on_end = lines, on_start, on_end

    def run_started(self, name: str, number: int, total: int) -> None:
        self._on_start(name)
        self._lines.run_started(name, number, total)

    def line(self, name: str, text: str) -> None:
        self._lines.line(name, text)

    def run_ended(self, outcome: RunOutcome) -> None:
        self._lines.run_ended(outcome)
        self._on_end()


def _echo(text: str) -> None:
    click.echo(text, err=True)
