"""What a run of Codex consumed and did, from its session files first and its printed events second. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import reduce
from operator import add

from akbench.spec import (
    AgentRequest,
    ConfigState,
    JsonValue,
    Reading,
    ToolCall,
    TraceEvent,
    Usage,
    VerificationStatus,
    unavailable,
)
from akbench_agent_codex.rollout import Rollout
from akbench_agent_codex.settings import Settings
from akbench_agent_codex.tokens import TokenCounts
from akbench_agent_codex.transcript import Item, Transcript

__all__ = ["Observation"]

ROLLOUT = "codex session files: token_usage_record of each answered request"
ROOT_TURN = "codex exec --json: turn.completed (without sub-agents)"
TOOLS = "codex session files and codex exec --json"
NO_COST = "Codex reports no cost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The printed events and the session files of one run.

    `left_out` names session files that could not be read; `printed_whole` says whether all printed events were.
    """

    transcript: Transcript
    rollouts: tuple[Rollout, ...]
    left_out: tuple[str, ...] = ()
    printed_whole: bool = True

    @property
    def root(self) -> Rollout | None:
        """The thread that got the task; sub-agents have a parent."""
        own = [each for each in self.rollouts if each.thread_id == self.transcript.thread_id and each.thread_id]
        roots = own or [each for each in self.rollouts if each.parent_thread_id is None]
        return roots[0] if roots else None

    @property
    def session_id(self) -> str | None:
        """The id of the session, which is that of its first thread."""
        return self.transcript.thread_id or (self.root.thread_id if self.root else None)

    def usage(self) -> Usage:
        """Tokens, requests and tool calls; a request that failed reports no tokens."""
        calls = Reading(value=len(self.tool_calls()), source=TOOLS) if self._seen() else unavailable("no session seen")
        counts, requests, source, reason = self._tokens()
        if counts is None:
            none = unavailable(reason)
            readings = {field.name: none for field in fields(TokenCounts)}
        else:
            readings = {
                field.name: Reading(value=getattr(counts, field.name), source=source) for field in fields(counts)
            }
        return Usage(**readings, model_requests=requests, tool_calls=calls, cost_usd=unavailable(NO_COST))

    def _tokens(self) -> tuple[TokenCounts | None, Reading, str, str]:
        """The counts, the number of requests, their source, and the reason where there are none."""
        if self.left_out:
            reason = f"a session file could not be read ({self.left_out[0]})"
            return None, unavailable(reason), "", reason
        # A record belongs to the thread whose file it is in; a fork could repeat its parent's.
        records = [each for rollout in self.rollouts for each in rollout.usages if each.thread_id == rollout.thread_id]
        if records:
            requests = Reading(value=len(records), source=ROLLOUT)
            return reduce(add, (each.tokens for each in records)), requests, ROLLOUT, ""
        reason = "no answered model request is recorded"
        return self.transcript.usage, unavailable(reason), ROOT_TURN, reason

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All tool calls of all threads; a call that was still running is told by the printed events alone."""
        if not self.rollouts:
            return _calls(self.transcript.items)
        recorded = (call for rollout in self.rollouts for call in rollout.calls if not _still_open(call))
        return (*recorded, *_calls(self._unfinished()))

    def trace(self) -> tuple[TraceEvent, ...]:
        """The steps with their times from the session files, then what only the printed events tell."""
        items = self.transcript.items
        if self.rollouts:
            unfinished = self._unfinished()
            items = tuple(item for item in items if item.kind == "error" or item in unfinished)
        return (
            *(event for rollout in self.rollouts for event in rollout.trace),
            *(item.event() for item in items),
            *(TraceEvent(kind="error", text=message) for message in self.transcript.errors),
            *self._gaps(),
        )

    def _unfinished(self) -> tuple[Item, ...]:
        """The printed items without an end that the root's session file does not tell either.

        When Codex is interrupted, the file may tell the end of a call that is not printed any more. The two have no ids
        in common, so the calls of each kind are counted.
        """
        recorded = Counter(call.name for call in self.root.calls) if self.root else Counter[str]()
        printed = Counter(item.kind for item in self.transcript.items if item.finished)
        left: list[Item] = []
        for item in self.transcript.items:
            if item.finished:
                continue
            if recorded[item.kind] > printed[item.kind]:
                printed[item.kind] += 1
            else:
                left.append(item)
        return tuple(left)

    def _gaps(self) -> tuple[TraceEvent, ...]:
        """Warnings about what could not be read."""
        lines = self.transcript.unreadable + sum(rollout.unreadable for rollout in self.rollouts)
        messages = [f"session file not read: {path}" for path in self.left_out]
        if lines:
            messages.append(f"{lines} lines of Codex's records could not be read")
        if not self.printed_whole:
            messages.append("Codex printed more events than are read")
        return tuple(TraceEvent(kind="warning", text=message) for message in messages)

    def config(self, request: AgentRequest) -> tuple[ConfigState, ...]:
        """Each value that was set. Codex only repeats model and effort as it was told: no confirmation."""
        settings = Settings.read(request.config)
        told = {"model": self.root.model, "reasoning_effort": self.root.effort} if self.root else {}
        return tuple(
            _state(key.name, request.config.get(key.name), getattr(settings, key.name), told.get(key.name))
            for key in fields(Settings)
        )

    def _seen(self) -> bool:
        return bool(self.rollouts) or self.transcript.thread_id is not None


def _calls(items: Iterable[Item]) -> tuple[ToolCall, ...]:
    return tuple(call for call in (item.call() for item in items) if call is not None)


def _still_open(call: ToolCall) -> bool:
    """Asked for, without output or end."""
    return call.finished_at is None and call.status is None


def _state(key: str, requested: JsonValue, configured: JsonValue, told: JsonValue) -> ConfigState:
    differs = told is not None and told != configured
    return ConfigState(
        key=key,
        requested=requested,
        configured=configured,
        effective=told,
        status=VerificationStatus.MISMATCH if differs else VerificationStatus.UNVERIFIED,
        source="config.toml; effective: turn_context of the session file" if told is not None else "config.toml",
    )
