"""Codex's session files (``rollout-*.jsonl``): bytes in, values out. Pure.

Their format is Codex's own affair and may change; what is not understood is counted, never guessed.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from akbench.spec import ToolCall, TraceEvent
from akbench_agent_codex.foreign_text import count, exit_code, json_lines, mapping, moment, shortened, text
from akbench_agent_codex.tokens import TokenCounts

__all__ = ["RequestUsage", "Rollout", "TurnError", "read_rollout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestUsage:
    """The tokens of one answered model request."""

    thread_id: str | None
    response_id: str | None
    tokens: TokenCounts
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnError:
    """Why a turn failed: Codex's message, its class (``codex_error_info``) and the HTTP status in it, if any."""

    message: str
    name: str | None = None
    http_status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One thread of a session. `model` and `effort` are what Codex was told, not what a provider used.

    `usages` holds one entry for each answered request, also of turns that failed or were killed. `aborted` means that
    Codex noted its interruption. `unreadable` counts lines that are no records.
    """

    thread_id: str | None = None
    parent_thread_id: str | None = None
    cli_version: str | None = None
    model: str | None = None
    effort: str | None = None
    usages: tuple[RequestUsage, ...] = ()
    trace: tuple[TraceEvent, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    error: TurnError | None = None
    completed: bool = False
    aborted: bool = False
    unreadable: int = 0


def read_rollout(content: bytes) -> Rollout:
    """The thread recorded in a session file, however broken the file is."""
    reader = _Reader()
    for record in json_lines(content):
        if record is None:
            reader.unreadable += 1
        else:
            reader.take(record)
    return reader.rollout()


@dataclass(slots=True)
class _Reader:
    """Collects what the lines say, in their order.

    A tool call is told twice: as the model asked for it (`asked`, by call id) and as Codex carried it out (`done`, by
    item id, mostly the same). Newer models ask for programs (``exec``) whose nested calls have ids of their own;
    `covered` holds the programs that are told by such items.
    """

    meta: Mapping[str, object] | None = None
    model: str | None = None
    effort: str | None = None
    error: TurnError | None = None
    completed: bool = False
    aborted: bool = False
    unreadable: int = 0
    usages: list[RequestUsage] = field(default_factory=list)
    trace: list[TraceEvent] = field(default_factory=list)
    asked: dict[str, ToolCall] = field(default_factory=dict)
    done: dict[str, ToolCall] = field(default_factory=dict)
    covered: set[str] = field(default_factory=set)

    def rollout(self) -> Rollout:
        """Everything collected, in the order of time."""
        meta = self.meta or {}
        alone = [call for key, call in self.asked.items() if key not in self.done and key not in self.covered]
        return Rollout(
            thread_id=text(meta.get("id")),
            parent_thread_id=text(meta.get("parent_thread_id")),
            cli_version=text(meta.get("cli_version")),
            model=self.model,
            effort=self.effort,
            usages=tuple(self.usages),
            trace=tuple(sorted([*self.trace, *map(_call_event, alone)], key=lambda event: event.at or NEVER)),
            calls=tuple(sorted([*self.done.values(), *alone], key=lambda call: call.started_at or NEVER)),
            error=self.error,
            completed=self.completed,
            aborted=self.aborted,
            unreadable=self.unreadable,
        )

    def take(self, record: Mapping[str, object]) -> None:
        """One line."""
        payload, at = mapping(record.get("payload")), moment(record.get("timestamp"))
        match record.get("type"):
            case "session_meta" if self.meta is None:  # a forked thread repeats its parent's after its own
                self.meta = payload
            case "turn_context":
                self.model, self.effort = text(payload.get("model")), text(payload.get("effort"))
            case "token_usage_record":
                self._usage(payload, at)
            case "response_item":
                self._response_item(payload, at)
            case "event_msg":
                self._message(payload, at)

    def _usage(self, payload: Mapping[str, object], at: datetime | None) -> None:
        tokens = TokenCounts.read(payload.get("usage"))
        if tokens is None:
            self.unreadable += 1
            return
        thread, response = text(payload.get("thread_id")), text(payload.get("response_id"))
        self.usages.append(RequestUsage(thread_id=thread, response_id=response, tokens=tokens, at=at))
        said = f"{tokens.input_tokens} tokens in, {tokens.output_tokens} out"
        self.trace.append(TraceEvent(kind="model_request", text=said, at=at, data={"response_id": response}))

    def _response_item(self, payload: Mapping[str, object], at: datetime | None) -> None:
        kind, call_id = text(payload.get("type")) or "", text(payload.get("call_id"))
        if call_id is None:
            return
        if kind in {"function_call", "custom_tool_call"}:
            self.asked[call_id] = ToolCall(name=text(payload.get("name")) or kind, started_at=at)
        elif kind.endswith("_call_output") and call_id in self.asked:
            output = shortened(_joined(payload.get("output"))) or ""
            if output.endswith(ABORTED):
                return  # an answer made up at the interruption: the call itself never ended
            self.asked[call_id] = replace(self.asked[call_id], output=output, finished_at=at)

    def _message(self, payload: Mapping[str, object], at: datetime | None) -> None:
        match payload.get("type"):
            case "item_completed":
                self._item(payload, at)
            case "task_complete":
                self._end(payload, at)
            case "turn_aborted":
                self.aborted = True
                self.trace.append(TraceEvent(kind="other", text="interrupted", at=at))

    def _item(self, payload: Mapping[str, object], at: datetime | None) -> None:
        item = mapping(payload.get("item"))
        match text(item.get("type")):
            case "UserMessage" | None:
                return
            case "AgentMessage":
                self.trace.append(TraceEvent(kind="message", text=shortened(_joined(item.get("content"))) or "", at=at))
            case "Reasoning":
                said = "\n".join(text(part) or "" for part in _list(item.get("summary_text")))
                self.trace.append(TraceEvent(kind="reasoning", text=shortened(said) or "", at=at))
            case kind:
                self._carried_out(kind, item, moment(payload.get("started_at_ms")), at)

    def _carried_out(
        self, kind: str, item: Mapping[str, object], started: datetime | None, finished: datetime | None
    ) -> None:
        key = text(item.get("id")) or f"item-{len(self.done)}"
        call = ToolCall(
            name=NAMES.get(kind, kind),
            command=_command(item.get("command")),
            status=text(item.get("status")),
            exit_code=exit_code(item.get("exit_code")),
            output=shortened(item.get("aggregated_output")),
            started_at=started,
            finished_at=finished,
        )
        self.done[key] = call
        self.trace.append(_item_event(kind, call, item))
        if key not in self.asked:
            self._cover()

    def _cover(self) -> None:
        """A nested call belongs to the programs that still run, or to the last one if none does."""
        programs = [key for key, call in self.asked.items() if call.name == "exec"]
        running = [key for key in programs if self.asked[key].finished_at is None]
        self.covered.update(running or programs[-1:])

    def _end(self, payload: Mapping[str, object], at: datetime | None) -> None:
        if payload.get("error") is None:
            self.completed, self.error = True, None
            return
        error = mapping(payload.get("error"))
        name, status = _error_info(error.get("codex_error_info"))
        message = shortened(error.get("message")) or "no message"
        self.completed, self.error = False, TurnError(message=message, name=name, http_status=status)
        self.trace.append(TraceEvent(kind="error", text=message, at=at, data={"class": name, "http_status": status}))


ABORTED = "aborted by user"
NEVER = datetime.max.replace(tzinfo=UTC)
NAMES = {
    "CommandExecution": "command_execution",
    "FileChange": "file_change",
    "CollabAgentToolCall": "collab_tool_call",
}
"""Items of the session file -> their names among the printed events; others keep their own."""
TRACE_KINDS = {"CommandExecution": "command", "FileChange": "file_change"}


def _item_event(kind: str, call: ToolCall, item: Mapping[str, object]) -> TraceEvent:
    paths = [path for path in map(text, mapping(item.get("changes"))) if path is not None]
    return TraceEvent(
        kind=TRACE_KINDS.get(kind, "tool"),
        text=call.command or ", ".join(paths) or call.name,
        at=call.started_at or call.finished_at,
        data={"status": call.status, "exit_code": call.exit_code},
    )


def _call_event(call: ToolCall) -> TraceEvent:
    return TraceEvent(kind="tool", text=call.name, at=call.started_at, data={"output": call.output})


def _error_info(info: object) -> tuple[str | None, int | None]:
    """The class is a word, or an object of one key that may hold an HTTP status."""
    if isinstance(info, dict) and len(info) == 1:
        name, detail = next(iter(info.items()))
        return text(name), count(mapping(detail).get("http_status_code"))
    return text(info), None


def _command(value: object) -> str | None:
    words = [word for word in map(text, _list(value)) if word is not None]
    return shortened(shlex.join(words)) if words else None


def _joined(value: object) -> str | None:
    """The text of a message or an output, which may come as a string or in parts."""
    if isinstance(value, str):
        return value
    parts = [text(mapping(part).get("text")) for part in _list(value)]
    return "".join(part for part in parts if part is not None) or None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
