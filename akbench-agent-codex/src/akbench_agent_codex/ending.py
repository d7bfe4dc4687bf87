"""How a run of Codex ended and whose fault a failure is, from its structured error. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from akbench.spec import AgentStatus, ProcessEvidence
from akbench_agent_codex.foreign_text import mapping, text
from akbench_agent_codex.rollout import Rollout, TurnError
from akbench_agent_codex.transcript import Transcript

__all__ = ["Ending", "judge_ending", "judge_error"]

CLASSES = {
    "context_window_exceeded": AgentStatus.FAILED,
    "session_budget_exceeded": AgentStatus.FAILED,
    "cyber_policy": AgentStatus.FAILED,
    "bio_policy": AgentStatus.FAILED,
    "misalignment_policy_violation": AgentStatus.FAILED,
    "too_many_denials": AgentStatus.FAILED,
    "usage_limit_exceeded": AgentStatus.PROVIDER_ERROR,
    "rate_limit_exceeded": AgentStatus.PROVIDER_ERROR,
    "flex_unavailable": AgentStatus.PROVIDER_ERROR,
    "server_overloaded": AgentStatus.PROVIDER_ERROR,
    "policy_capacity_unavailable": AgentStatus.PROVIDER_ERROR,
    "internal_server_error": AgentStatus.PROVIDER_ERROR,
    "http_connection_failed": AgentStatus.PROVIDER_ERROR,
    "response_stream_connection_failed": AgentStatus.PROVIDER_ERROR,
    "response_stream_disconnected": AgentStatus.PROVIDER_ERROR,
    "response_too_many_failed_attempts": AgentStatus.PROVIDER_ERROR,
    "model_not_found": AgentStatus.CONFIGURATION_ERROR,
    "unauthorized": AgentStatus.CONFIGURATION_ERROR,
    "bad_request": AgentStatus.CONFIGURATION_ERROR,
    "inference_hook_denied": AgentStatus.CONFIGURATION_ERROR,
    "sandbox_error": AgentStatus.INFRASTRUCTURE_ERROR,
}
"""Codex's classes of error (``codex_error_info``) and who answers for them. ``other`` is judged by its message."""

CONFIGURATION_STATUSES = frozenset({400, 401, 403, 404, 422})
"""HTTP statuses that say: asked wrongly (key, model, address, parameter), and asking again will not help."""

MESSAGES = (
    ("stream disconnected before completion", "stream_disconnected", AgentStatus.PROVIDER_ERROR),
    ("Incomplete response returned", "incomplete_response", AgentStatus.FAILED),
    ("Missing environment variable", "missing_environment_variable", AgentStatus.CONFIGURATION_ERROR),
)
"""How Codex's own messages begin where it gives no better class than ``other``: (beginning, our class, whose)."""

START_CODES = {1: "configuration", 2: "command_line"}
"""Exit codes with which Codex ends before it prints its first event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Status, the sentence that says why, and the class of error."""

    status: AgentStatus
    reason: str | None = None
    error_class: str | None = None


def judge_ending(process: ProcessEvidence, transcript: Transcript, root: Rollout | None, stderr: str) -> Ending:
    """The ending, from what the process and the two records say; `stderr` only explains."""
    if process.start_error is not None:
        return Ending(status=AgentStatus.INFRASTRUCTURE_ERROR, reason=process.start_error, error_class="not_started")
    if process.cancelled:
        return Ending(status=AgentStatus.CANCELLED, reason="Codex was interrupted")
    if process.timed_out:
        return Ending(status=AgentStatus.TIMEOUT, reason="Codex was still working when its time was up")
    if transcript.completed and process.exit_code == 0:
        return Ending(status=AgentStatus.COMPLETED)
    error = _turn_error(transcript, root)
    return judge_error(error) if error else _without_error(process, transcript, stderr)


def judge_error(error: TurnError) -> Ending:
    """Whose fault the error of a turn is."""
    if error.http_status in CONFIGURATION_STATUSES:
        return _ending(AgentStatus.CONFIGURATION_ERROR, error, f"{error.name}/{error.http_status}")
    if error.name in CLASSES:
        status = f"/{error.http_status}" if error.http_status else ""
        return _ending(CLASSES[error.name], error, f"{error.name}{status}")
    return _by_message(error)


def _by_message(error: TurnError) -> Ending:
    for beginning, name, status in MESSAGES:
        if error.message.startswith(beginning):
            return _ending(status, error, name)
    refusal = _refusal(error.message)
    if refusal is not None:
        return _ending(AgentStatus.CONFIGURATION_ERROR, error, refusal)
    return _ending(AgentStatus.UNCLASSIFIED, error, error.name or "unknown")


def _refusal(message: str) -> str | None:
    """The class of a request that the provider refused as invalid: Codex passes on the body of its answer."""
    try:
        error = mapping(mapping(json.loads(message)).get("error"))
    except (ValueError, RecursionError):
        return None
    if error.get("type") != "invalid_request_error":
        return None
    return f"invalid_request/{text(error.get('code')) or 'unspecified'}"


def _turn_error(transcript: Transcript, root: Rollout | None) -> TurnError | None:
    if root is not None and root.error is not None:
        return root.error
    return TurnError(message=transcript.failure) if transcript.failure is not None else None


def _without_error(process: ProcessEvidence, transcript: Transcript, stderr: str) -> Ending:
    how = f"signal {process.signal}" if process.signal is not None else f"exit code {process.exit_code}"
    said = f": {stderr}" if stderr else ""
    if transcript.thread_id is None and process.exit_code in START_CODES:
        reason = f"Codex did not start a session ({how}){said}"
        name = START_CODES[process.exit_code]
        return Ending(status=AgentStatus.CONFIGURATION_ERROR, reason=reason, error_class=name)
    what = "after its turn completed" if transcript.completed else "without the end of its turn"
    return Ending(status=AgentStatus.UNCLASSIFIED, reason=f"Codex ended with {how} {what}{said}", error_class="no_end")


def _ending(status: AgentStatus, error: TurnError, name: str) -> Ending:
    return Ending(status=status, reason=error.message, error_class=name)
