"""The events that ``codex exec --json`` prints: bytes in, values out. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from akbench.spec import ToolCall, TraceEvent
from akbench_agent_codex.foreign_text import exit_code, json_lines, mapping, shortened, text
from akbench_agent_codex.tokens import TokenCounts

__all__ = ["Item", "Transcript", "read_transcript"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of the turn as last reported; `finished` tells whether its end was."""

    id: str
    kind: str
    finished: bool
    fields: Mapping[str, object]

    def call(self) -> ToolCall | None:
        """The tool call that this item is, if it is one."""
        if self.kind in NO_CALLS:
            return None
        return ToolCall(
            name=self.kind,
            command=text(self.fields.get("command")),
            status=text(self.fields.get("status")),
            exit_code=exit_code(self.fields.get("exit_code")),
            output=shortened(self.fields.get("aggregated_output")),
        )

    def event(self) -> TraceEvent:
        """This item as a step of the trace; Codex prints no times."""
        said = self.fields.get("text") or self.fields.get("message") or self.fields.get("command") or self.kind
        return TraceEvent(kind=KINDS.get(self.kind, "tool"), text=shortened(said) or "", data={"item": self.kind})


KINDS = {
    "agent_message": "message",
    "reasoning": "reasoning",
    "command_execution": "command",
    "file_change": "file_change",
    "error": "warning",
    "todo_list": "other",
}
NO_CALLS = frozenset({"agent_message", "reasoning", "error", "todo_list"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was printed. Whether the turn ended is told by `completed` and `failure` alone.

    `errors` are messages of tries that Codex may have repeated with success; `usage` is that of the root thread, only
    there when the turn completed; `unreadable` counts lines that are no events.
    """

    thread_id: str | None = None
    items: tuple[Item, ...] = ()
    errors: tuple[str, ...] = ()
    completed: bool = False
    failure: str | None = None
    usage: TokenCounts | None = None
    unreadable: int = 0

    @property
    def final_message(self) -> str | None:
        """The last message of a turn that completed."""
        said = [item for item in self.items if item.kind == "agent_message" and item.finished]
        return text(said[-1].fields.get("text")) if said and self.completed else None


def read_transcript(content: bytes) -> Transcript:
    """The transcript in what Codex printed on standard output, however broken."""
    items: dict[str, Item] = {}
    errors: list[str] = []
    thread_id: str | None = None
    completed, failure, usage, unreadable = False, None, None, 0
    for event in json_lines(content):
        match text(event.get("type")) if event is not None else None:
            case "thread.started":
                thread_id = thread_id or text(mapping(event).get("thread_id"))
            case "item.started" | "item.updated" | "item.completed" as name:
                _keep(items, mapping(mapping(event).get("item")), finished=name == "item.completed")
            case "turn.completed":
                completed, usage = True, TokenCounts.read(mapping(event).get("usage"))
            case "turn.failed":
                failure = text(mapping(mapping(event).get("error")).get("message")) or "no message"
            case "error":
                errors.append(shortened(mapping(event).get("message")) or "no message")
            case None:
                unreadable += 1
    return Transcript(
        thread_id=thread_id,
        items=tuple(items.values()),
        errors=tuple(errors),
        completed=completed and failure is None,
        failure=failure,
        usage=usage,
        unreadable=unreadable,
    )


def _keep(items: dict[str, Item], fields: Mapping[str, object], *, finished: bool) -> None:
    key, kind = text(fields.get("id")), text(fields.get("type"))
    if key is not None and kind is not None:
        items[key] = Item(id=key, kind=kind, finished=finished, fields=fields)
