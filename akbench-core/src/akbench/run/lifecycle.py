"""The states of a run and which of them are final."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["TERMINAL", "RunState"]


class RunState(StrEnum):
    """The lifecycle of a run, in order, and its other endings."""

    PENDING = "PENDING"
    PREPARING = "PREPARING"
    VALIDATING = "VALIDATING"
    CONFIGURING_RUNTIME = "CONFIGURING_RUNTIME"
    CREATING_WORKSPACE = "CREATING_WORKSPACE"
    STARTING_AGENT = "STARTING_AGENT"
    EXECUTING = "EXECUTING"
    COLLECTING = "COLLECTING"
    EVALUATING = "EVALUATING"
    FINALIZING = "FINALIZING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    CANCELLED = "CANCELLED"
    INFRASTRUCTURE_ERROR = "INFRASTRUCTURE_ERROR"
    INVALID_CONFIGURATION = "INVALID_CONFIGURATION"
    EVALUATION_ERROR = "EVALUATION_ERROR"


TERMINAL = frozenset(
    {
        RunState.COMPLETED,
        RunState.FAILED,
        RunState.TIMEOUT,
        RunState.CANCELLED,
        RunState.INFRASTRUCTURE_ERROR,
        RunState.INVALID_CONFIGURATION,
        RunState.EVALUATION_ERROR,
    }
)
"""The states that end a run. `FAILED` is the agent's own breakdown; a wrong solution is `COMPLETED` and unsolved."""
