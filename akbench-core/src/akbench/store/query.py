"""Reading the store. Read-only: opening a store here never creates or changes it."""

from __future__ import annotations

from pathlib import Path

from akbench.store.view import EventView, ExperimentView, RunView, ToolCallView

__all__ = ["Store"]


class Store:
    """The stored experiments below a project's data folder (`data`, holding ``akbench.sqlite`` and ``artifacts/``)."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def experiment_ids(self) -> tuple[str, ...]:
        """All experiments, oldest first."""
        raise NotImplementedError

    def experiment(self, experiment_id: str) -> ExperimentView:
        """One experiment, whole. Raises `InputError` naming the known ones if there is none of that id."""
        raise NotImplementedError

    def events(self, run: RunView) -> tuple[EventView, ...]:
        """The run's events in order, from its events.jsonl."""
        raise NotImplementedError

    def tool_calls(self, run: RunView) -> tuple[ToolCallView, ...]:
        """The run's tool calls in order, from its tool_calls.jsonl; empty where the agent reports none."""
        raise NotImplementedError

    def diff(self, run: RunView, limit: int = 400_000) -> str | None:
        """The run's final diff as text, cut after `limit` characters; None when none was taken."""
        raise NotImplementedError
