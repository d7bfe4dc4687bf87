"""An agent's session from its opening to its end: the one place that keeps time over every kind of agent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from akbench.run.adapter_call import AdapterHangError, bounded
from akbench.run.agent_host import AgentHost
from akbench.run.agent_work import AgentWork
from akbench.run.journal import RunFolder
from akbench.run.lifecycle import RunState
from akbench.run.outcome_check import outcome_faults
from akbench.spec import AgentOutcome, AgentRequest, AgentStatus, ExtensionError, ProcessEvidence, Support

__all__ = ["Patience", "SessionEnd", "carry_out"]

_SLICE_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an adapter may take (seconds).

    - `call`: for a call, beside any time it was told to wait.
    - `cancel`: for an agent that is no process of ours to stop when asked.
    """

    call: float = 60.0
    cancel: float = 10.0


_PATIENCE = Patience()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd:
    """How a session ended. `process` is None for an agent that AK-Bench does not start.

    `stopped` is False when the agent may still be at work, because it did not end when asked to.
    """

    outcome: AgentOutcome
    process: ProcessEvidence | None
    started_at: datetime
    finished_at: datetime
    seconds: float | None
    stopped: bool


def carry_out(
    work: AgentWork,
    request: AgentRequest,
    host: AgentHost,
    cancelled: threading.Event,
    folder: RunFolder,
    patience: Patience = _PATIENCE,
) -> SessionEnd:
    """Open a session, submit the task, wait, observe and close. When it returns no process of the run is left.

    Raises what the adapter raises, and `AdapterHangError` for a call that does not return.
    """
    agent: Any = work.agent
    folder.enter(RunState.STARTING_AGENT)
    session = bounded(lambda: agent.start_session(request, host), patience.call, "start_session")
    try:
        return _Session(work, request, host, session, folder, patience).run(cancelled)
    finally:
        try:
            _close(agent, session, folder, patience)
        finally:
            host.end()


def _close(agent: Any, session: Any, folder: RunFolder, patience: Patience) -> None:
    """An adapter that cannot close spoils no finished work; the fault is part of the run's story."""
    try:
        bounded(lambda: agent.close_session(session), patience.call, "close_session")
    except AdapterHangError as error:
        folder.record("adapter_fault", str(error))
    except Exception as error:  # noqa: BLE001 - an adapter's bug
        folder.record("adapter_fault", f"close_session failed: {type(error).__name__}: {error}")


class _Session:
    """One opened session at work."""

    def __init__(
        self,
        work: AgentWork,
        request: AgentRequest,
        host: AgentHost,
        session: Any,
        folder: RunFolder,
        patience: Patience,
    ) -> None:
        self._work, self._request, self._host, self._session = work, request, host, session
        self._folder, self._patience = folder, patience
        self._agent: Any = work.agent

    def run(self, cancelled: threading.Event) -> SessionEnd:
        """From the submission to the observations."""
        begun, started_at = time.monotonic(), datetime.now(UTC)
        self._folder.enter(RunState.EXECUTING)
        self._call("submit_task", lambda: self._agent.submit_task(self._session, self._request.prompt))
        finished = self._wait(begun, cancelled)
        stopped = finished or self._cancel()
        process = self._host.end()
        if process is not None and not finished:  # the adapter has to see the end that it did not wait for
            self._wait_once(0.0)
        seconds, finished_at = time.monotonic() - begun, datetime.now(UTC)
        outcome = self._call("collect_observations", lambda: self._agent.collect_observations(self._session))
        if faults := outcome_faults(outcome):
            raise ExtensionError(f"the adapter's account of the run cannot be used: {'; '.join(faults)}")
        outcome = self._corrected(outcome, process, finished=finished, was_cancelled=cancelled.is_set())
        if process is None:
            return SessionEnd(
                outcome=outcome,
                process=None,
                started_at=started_at,
                finished_at=finished_at,
                seconds=seconds,
                stopped=stopped,
            )
        return SessionEnd(
            outcome=outcome,
            process=process,
            started_at=process.started_at,
            finished_at=process.finished_at,
            seconds=process.duration_seconds if process.start_error is None else None,
            stopped=True,
        )

    def _call[T](self, name: str, call: Callable[[], T]) -> T:
        return bounded(call, self._patience.call, name)

    def _wait(self, begun: float, cancelled: threading.Event) -> bool:
        """Whether the agent ended by itself, or by the sandbox's hand, in time."""
        while True:
            limit = self._request.timeout_seconds
            if self._host.supervises:  # the sandbox keeps the deadline; this one only catches an adapter's mistake
                limit += self._host.grace_seconds + self._patience.call
            left = begun + limit - time.monotonic()
            if left <= 0 or (cancelled.is_set() and not self._host.supervises):
                return False
            if self._wait_once(min(left, _SLICE_SECONDS)):
                return True

    def _wait_once(self, seconds: float) -> bool:
        found: object = bounded(
            lambda: self._agent.wait_for_completion(self._session, seconds),
            seconds + self._patience.call,
            "wait_for_completion",
        )
        return found is True

    def _cancel(self) -> bool:
        """Ask the agent to stop; whether it did."""
        if self._work.spec.agent_capabilities.get("cancellation") == Support.NO:
            self._folder.record("not_cancelled", "the agent cannot be cancelled; it may still be at work")
            return False
        try:
            self._call("cancel", lambda: self._agent.cancel(self._session))
        except NotImplementedError:
            self._folder.record("adapter_fault", "the adapter offers no cancel, though its descriptor does not say so")
            return False
        give_up = time.monotonic() + self._patience.cancel
        while time.monotonic() < give_up:
            if self._wait_once(_SLICE_SECONDS):
                return True
        self._folder.record(
            "adapter_fault", f"the agent did not stop within {self._patience.cancel:g} s of being cancelled"
        )
        return False

    def _corrected(
        self, outcome: AgentOutcome, process: ProcessEvidence | None, *, finished: bool, was_cancelled: bool
    ) -> AgentOutcome:
        """The adapter's account, with what only the harness can know laid over it."""
        if process is not None and process.start_error is not None and not process.cancelled:
            reason = f"the agent could not be started: {process.start_error}"
            return replace(outcome, status=AgentStatus.INFRASTRUCTURE_ERROR, reason=reason)
        if was_cancelled and (process.cancelled if process else not finished):
            return replace(outcome, status=AgentStatus.CANCELLED, reason="cancelled")
        if process is not None and process.exceeded is not None:
            return replace(outcome, status=AgentStatus.EXCEEDED, reason=f"the agent broke a bound: {process.exceeded}")
        if not finished or (process is not None and process.timed_out):
            reason = f"the agent was stopped after {self._request.timeout_seconds:g} s"
            return replace(outcome, status=AgentStatus.TIMEOUT, reason=reason)
        return outcome
