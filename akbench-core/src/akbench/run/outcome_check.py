"""What an adapter's account of a run must be to be used at all. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import datetime

from akbench.spec import AgentOutcome, Reading, Usage

__all__ = ["outcome_faults"]


def outcome_faults(outcome: object) -> tuple[str, ...]:
    """What is wrong with it, one sentence each; empty for a usable `AgentOutcome`."""
    if not isinstance(outcome, AgentOutcome):
        return (f"collect_observations returned {type(outcome).__name__}, expected AgentOutcome",)
    return tuple(_faults(outcome))


def _faults(outcome: AgentOutcome) -> Iterator[str]:
    times = [("trace event", event.at) for event in outcome.trace]
    times += [("tool call", at) for call in outcome.tool_calls for at in (call.started_at, call.finished_at)]
    for what, at in times:
        if at is not None and not _aware(at):
            yield f"the time {at!r} of a {what} has no time zone"
            break
    for field in fields(Usage):
        reading: Reading = getattr(outcome.usage, field.name)
        if isinstance(reading.value, int | float) and reading.value < 0:
            yield f"{field.name} is {reading.value}, below zero"


def _aware(at: object) -> bool:
    return isinstance(at, datetime) and at.utcoffset() is not None
