"""Reading the store. Read-only: opening a store here never creates or changes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session

from akbench.audit.finding import Audit
from akbench.evaluate.judging import EvaluationRecord
from akbench.run.grading import GradingRecord
from akbench.run.record import Event
from akbench.spec import InputError, ToolCall
from akbench.store.assemble import experiment_view
from akbench.store.database import database_path, faults, has_current_schema, memory_engine, reading_engine
from akbench.store.folder import ExperimentFolder, experiment_folders, read_value
from akbench.store.gradings import read_gradings
from akbench.store.ingest import catch_up, is_current
from akbench.store.runfiles import read_lines
from akbench.store.view import EventView, ExperimentView, RunView, ToolCallView

__all__ = ["Store"]


class Store:
    """The stored experiments below a project's data folder (`data`, holding ``akbench.sqlite`` and ``artifacts/``).

    The files are the truth. Where the index is missing, of an older schema or behind the files (a coordinator was
    killed before it could index a result, or is about to), the experiment asked for is brought up to its files in a
    copy in memory, by the same code that keeps the index. So a reader sees every durable run, waits for no writer and
    writes nothing.
    """

    def __init__(self, data: Path) -> None:
        self.data = data

    def experiment_ids(self) -> tuple[str, ...]:
        """All experiments, oldest first."""
        return tuple(folder.id for folder in experiment_folders(self.data))

    def experiment(self, experiment_id: str) -> ExperimentView:
        """One experiment, whole. Raises `InputError` naming the known ones if there is none of that id.

        Raises `HostError` when the index is damaged, `InputError` when it, or the experiment's plan, is unreadable.
        """
        known = self.experiment_ids()
        if experiment_id not in known:
            listed = ", ".join(known) or "none yet"
            raise InputError(f"there is no experiment {experiment_id} in {self.data}; there are: {listed}")
        folder = ExperimentFolder(self.data, experiment_id)
        held = folder.is_held()
        with _current(folder) as session:
            # Asked before and after, so that a coordinator that comes or goes meanwhile interrupts nothing.
            return experiment_view(session, folder, held=held or folder.is_held())

    def events(self, run: RunView) -> tuple[EventView, ...]:
        """The run's events in order, from its events.jsonl."""
        events = read_lines(Event, self._folder(run) / "events.jsonl", [])
        return tuple(EventView(at=e.at, kind=e.kind, state=e.state, text=e.text, data=e.data) for e in events)

    def tool_calls(self, run: RunView) -> tuple[ToolCallView, ...]:
        """The run's tool calls in order, from its tool_calls.jsonl; empty where the agent reports none."""
        calls = read_lines(ToolCall, self._folder(run) / "tool_calls.jsonl", [])
        return tuple(
            ToolCallView(name=c.name, command=c.command, status=c.status, exit_code=c.exit_code, output=c.output)
            for c in calls
        )

    def diff(self, run: RunView, limit: int = 400_000) -> str | None:
        """The run's final diff as text, cut after `limit` characters; None when none was taken."""
        path = self._folder(run) / "diff.patch"
        if not path.is_file():
            return None
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return file.read(limit)

    def evaluation(self, run: RunView) -> EvaluationRecord | None:
        """The judgement of each of the run's evaluators; None where there is none, or it cannot be read."""
        try:
            return read_value(EvaluationRecord, self._folder(run) / "evaluation.json")
        except InputError:
            # `verify` names the damage; what is indexed of the judgement stands in the view.
            return None

    def audit(self, run: RunView) -> Audit | None:
        """What was noticed on the agent's way; None where it was not audited, or the file cannot be read."""
        try:
            return read_value(Audit, self._folder(run) / "audit.json")
        except InputError:
            # As with the evaluation: `verify` names the damage.
            return None

    def gradings(self, run: RunView) -> tuple[GradingRecord, ...]:
        """The run's later gradings, oldest first."""
        return read_gradings(self._folder(run), [])

    def _folder(self, run: RunView) -> Path:
        return ExperimentFolder(self.data, run.experiment_id).run_path(run.id)


@contextmanager
def _current(folder: ExperimentFolder) -> Iterator[Session]:
    """A session on an index that holds all that the experiment's files say."""
    path = database_path(folder.data)
    with faults(path):
        usable = False
        if path.exists():
            with _session(reading_engine(path)) as session:
                usable = has_current_schema(session.connection())
                if usable and is_current(session, folder):
                    yield session
                    return
        with _session(memory_engine(path if usable else None)) as session:
            catch_up(session, folder)
            yield session


@contextmanager
def _session(engine: Engine) -> Iterator[Session]:
    try:
        with Session(engine) as session:
            yield session
    finally:
        engine.dispose()
