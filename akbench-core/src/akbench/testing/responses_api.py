"""The streaming Responses API as coding agents speak it: what a request asks, the events that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from akbench.testing.script import Action, Step, TokenUsage

__all__ = [
    "Conversation",
    "NoToolError",
    "Tool",
    "UnreadableRequestError",
    "error_body",
    "events",
    "tool_item",
]

type Json = Mapping[str, object]

YIELD_MS = 30_000
"""How long a command may run before its tool answers without a result; the longest that the tool allows."""

POLL_MS = 300_000

_STILL_RUNNING = re.compile(r"running with session ID (\d+)")
_PATCH_END = "END_OF_SCRIPTED_PATCH"


class UnreadableRequestError(ValueError):
    """A request that this server does not understand; the message goes back to the client."""


class NoToolError(ValueError):
    """The client offers no tool with which the step could be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that the client offers; newer models find theirs in a namespace."""

    name: str
    kind: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a request carries: the model and effort asked for, the items so far, the tools on offer."""

    model: str | None
    effort: str | None
    key: str | None
    items: tuple[Json, ...]
    tools: tuple[Tool, ...]

    @classmethod
    def parse(cls, raw: bytes) -> Conversation:
        """Read a request body. Raises `UnreadableRequestError` if it is none for a streamed response."""
        body = _object(raw)
        if body.get("stream") is not True:
            raise UnreadableRequestError('only streamed responses are scripted: send "stream": true')
        items = _objects(body.get("input"))
        reasoning = body.get("reasoning")
        offered = [*_objects(body.get("tools")), *_additional_tools(items)]
        return cls(
            model=_text(body.get("model")),
            effort=_text(reasoning.get("effort")) if isinstance(reasoning, dict) else None,
            key=_text(body.get("prompt_cache_key")),
            items=items,
            tools=tuple(_flatten(offered, namespace=None)),
        )

    def prompts(self) -> Iterator[tuple[int, str]]:
        """The user's messages, newest first, each with its position among the items."""
        for position in reversed(range(len(self.items))):
            item = self.items[position]
            if item.get("type", "message") == "message" and item.get("role") == "user":
                yield position, _content(item.get("content"))

    def steps_done(self, since: int) -> int:
        """How many scripted tool calls were answered after the item at position `since`."""
        outputs = {item.get("call_id") for item in self.items[since:] if _is_output(item)}
        return sum(1 for call in outputs if isinstance(call, str) and call.startswith("call_"))

    def running_session(self) -> int | None:
        """The session of a command that its tool has just reported as still running."""
        if not self.items or not _is_output(self.items[-1]):
            return None
        found = _STILL_RUNNING.search(_content(self.items[-1].get("output")))
        return int(found.group(1)) if found else None


def tool_item(step: Step, number: int, tools: Sequence[Tool]) -> dict[str, object]:
    """The call that does `step` with what the client offers. Raises `NoToolError` if nothing fits."""
    call = f"call_{number}"
    by_name = {(tool.kind, tool.name): tool for tool in tools}
    patch_tool = by_name.get(("custom", "apply_patch"))
    shell = by_name.get(("function", "exec_command"))
    code = by_name.get(("custom", "exec"))
    if step.action is Action.PATCH and patch_tool:
        return _custom_call(patch_tool, call, step.text)
    if shell:
        command = step.text if step.action is Action.RUN else _patch_command(step.text)
        return _function_call(shell, call, {"cmd": command, "yield_time_ms": YIELD_MS})
    if code:
        return _custom_call(code, call, _program(step))
    offered = ", ".join(tool.name for tool in tools) or "none"
    raise NoToolError(f"no tool for a {step.action.value!r} step among those the client offers: {offered}")


def poll_item(session: int, number: int, attempt: int) -> dict[str, object]:
    """The call that waits for a command which outlived its tool call."""
    tool = Tool(name="write_stdin", kind="function")
    arguments = {"session_id": session, "chars": "", "yield_time_ms": POLL_MS}
    return _function_call(tool, f"poll_{number}_{attempt}", arguments)


def message_item(text: str, number: int) -> dict[str, object]:
    """The assistant's message `text`."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def events(*, response: str, model: str | None, item: Json, usage: TokenUsage) -> Iterator[bytes]:
    """The server-sent events of one complete response holding one item."""
    base = _response(response, model, "in_progress")
    yield created(response=response, model=model)
    yield _event("response.output_item.added", output_index=0, item=_started(item))
    if item.get("type") == "message":
        yield from _deltas(item)
    yield _event("response.output_item.done", output_index=0, item=item)
    done = {**base, "status": "completed", "output": [item], "usage": _usage(usage)}
    yield _event("response.completed", response=done)


def created(*, response: str, model: str | None) -> bytes:
    """The first event of a response."""
    return _event("response.created", response=_response(response, model, "in_progress"))


def failed(*, response: str, model: str | None, code: str, message: str) -> bytes:
    """The event that ends a response in failure."""
    error = {"code": code, "message": message}
    return _event("response.failed", response={**_response(response, model, "failed"), "error": error})


def incomplete(*, response: str, model: str | None, reason: str) -> bytes:
    """The event that ends a response before it is whole."""
    base = _response(response, model, "incomplete")
    return _event("response.incomplete", response={**base, "incomplete_details": {"reason": reason}})


def error_body(message: str, *, kind: str, code: str | None) -> bytes:
    """The body of an HTTP error."""
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}}).encode()


def _event(name: str, **fields: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


def _response(response: str, model: str | None, status: str) -> dict[str, object]:
    return {"id": response, "object": "response", "model": model, "status": status, "output": []}


def _started(item: Json) -> dict[str, object]:
    empty: Json = {"content": []} if item.get("type") == "message" else {}
    return {**item, "status": "in_progress", **empty}


def _deltas(item: Json) -> Iterator[bytes]:
    for word in re.findall(r"\S+\s*|\s+", _content(item.get("content"))):
        yield _event("response.output_text.delta", item_id=item["id"], output_index=0, content_index=0, delta=word)


def _usage(usage: TokenUsage) -> dict[str, object]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_input_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_output_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _function_call(tool: Tool, call: str, arguments: Json) -> dict[str, object]:
    fields = {"arguments": json.dumps(arguments), "status": "completed"}
    return {"type": "function_call", "id": f"fc_{call}", **_addressed(tool, call), **fields}


def _custom_call(tool: Tool, call: str, text: str) -> dict[str, object]:
    fields = {"input": text, "status": "completed"}
    return {"type": "custom_tool_call", "id": f"ctc_{call}", **_addressed(tool, call), **fields}


def _addressed(tool: Tool, call: str) -> dict[str, object]:
    namespace = {"namespace": tool.namespace} if tool.namespace else {}
    return {"call_id": call, "name": tool.name, **namespace}


def _patch_command(patch: str) -> str:
    return f"apply_patch <<'{_PATCH_END}'\n{patch.rstrip()}\n{_PATCH_END}\n"


def _program(step: Step) -> str:
    """The program for a client whose only tool runs JavaScript that calls the other tools."""
    pragma = f'// @exec: {{"yield_time_ms": {POLL_MS}}}\n'
    if step.action is Action.PATCH:
        return f"{pragma}text(await tools.apply_patch({json.dumps(step.text)}));\n"
    arguments = json.dumps({"cmd": step.text, "yield_time_ms": YIELD_MS})
    return (
        f"{pragma}let result = await tools.exec_command({arguments});\n"
        "while (result.session_id !== undefined && result.exit_code === undefined)\n"
        f"  result = await tools.write_stdin({{session_id: result.session_id, yield_time_ms: {POLL_MS}}});\n"
        "text(result);\n"
    )


def _additional_tools(items: Sequence[Json]) -> list[Json]:
    return [tool for item in items if item.get("type") == "additional_tools" for tool in _objects(item.get("tools"))]


def _flatten(tools: Sequence[Json], namespace: str | None) -> Iterator[Tool]:
    for tool in tools:
        name, kind = _text(tool.get("name")), _text(tool.get("type"))
        if kind == "namespace":
            yield from _flatten(_objects(tool.get("tools")), name)
        elif name and kind:
            yield Tool(name=name, kind=kind, namespace=namespace)


def _is_output(item: Json) -> bool:
    return str(item.get("type", "")).endswith("_call_output")


def _content(content: object) -> str:
    """The text of a message's content or of a tool's output, which may be a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(_text(part.get("text")) or "" for part in _objects(content))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _objects(value: object) -> tuple[Json, ...]:
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _object(raw: bytes) -> Json:
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise UnreadableRequestError(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise UnreadableRequestError("the body is not a JSON object")
    return body
