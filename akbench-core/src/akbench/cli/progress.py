"""Live display of an experiment on a terminal; silent where the output is not one."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from akbench.cli.output import plain
from akbench.experiment.plan import Plan, PlannedRun
from akbench.run.record import Event, RunResult

__all__ = ["LiveProgress"]


class LiveProgress:
    """An observer that shows finished runs as lines, running ones as a table, and one bar for all."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._shown = self._console.is_terminal
        self._lock = threading.Lock()
        self._states: dict[str, tuple[PlannedRun, str]] = {}
        self._names: dict[str, str] = {}
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._task: TaskID | None = None
        self._live = Live(console=self._console, refresh_per_second=4, transient=True, get_renderable=self._render)

    def __enter__(self) -> Self:
        if self._shown:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._live.stop()

    def preparing(self, text: str) -> None:
        """Something slow begins before the first run."""
        if self._shown:
            self._console.print(Text(f"preparing {plain(text)}", style="dim"))

    def planned(self, experiment_id: str, plan: Plan) -> None:
        """The experiment is durable and its runs begin."""
        self._names = {variant.id: variant.name for variant in plan.variants}
        self._task = self._bar.add_task(experiment_id, total=len(plan.runs))

    def event(self, run: PlannedRun, event: Event) -> None:
        """A run's event is durable."""
        if event.state is not None:
            with self._lock:
                self._states[run.id] = (run, event.state.value)

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run's result is durable."""
        with self._lock:
            self._states.pop(run.id, None)
        if self._task is not None:
            self._bar.advance(self._task)
        if self._shown:
            self._console.print(self._line(run, result), no_wrap=True, overflow="ellipsis")

    def _line(self, run: PlannedRun, result: RunResult) -> Text:
        word = {True: "solved", False: "not solved", None: "no verdict"}[result.solved]
        style = {True: "green", False: "yellow", None: "red"}[result.solved]
        name = self._names.get(run.variant_id, run.variant_id)
        text = Text(f"{run.id}  {run.task_id} #{run.repetition}  {name}  ")
        text.append(f"{result.state.value.lower()}: {word}", style=style)
        if result.reason and result.reason != result.state.value.lower():
            text.append(f"  {plain(result.reason)}", style="dim")
        return text

    def _render(self) -> Group:
        table = Table.grid(padding=(0, 2))
        with self._lock:
            for run, state in self._states.values():
                table.add_row(run.id, run.task_id, self._names.get(run.variant_id, ""), state.lower())
        return Group(table, self._bar)
