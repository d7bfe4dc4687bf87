"""A run's trace as an ATIF transcript: what was recorded and nothing else; what is missing is said in `notes`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from akbench.run.lifecycle import RunState
from akbench.spec import Reading, ToolCall, TraceEvent
from akbench_abv3.exchange.form import EXTRA_KEY
from akbench_abv3.exchange.source import StoredRun
from akbench_abv3.results.atif import atif_faults

__all__ = ["ATIF_VERSION", "transcript"]

ATIF_VERSION = "ATIF-v1.7"
CALLS = frozenset({"command", "file_change", "tool"})
"""Kinds of trace events that are tool calls."""

type Step = dict[str, object]


def transcript(run: StoredRun, session: str, config_sha256: str | None) -> dict[str, object] | None:
    """The transcript of the run in `session` (``experiment/run``); None where nothing of it was recorded.

    A run that ended badly before the agent acted has one step that says so: that much is known of it.
    """
    steps = _steps(run)
    if not steps:
        return None
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]
    experiment, _, name = session.partition("/")
    own = {"experiment": experiment, "run": name, "config_sha256": config_sha256}
    document: dict[str, object] = {
        "schema_version": ATIF_VERSION,
        "session_id": session,
        "agent": _agent(run),
        "steps": numbered,
        "notes": " ".join(_notes(run)),
        **_final_metrics(run.view.metrics, len(numbered)),
        "extra": {
            "abv3": {key: value for key, value in own.items() if value is not None},
            EXTRA_KEY: {"state": run.view.state.value, "model_requests": _model_requests(run)},
        },
    }
    _, faults = atif_faults(document)
    assert not faults, faults
    return document


def _steps(run: StoredRun) -> list[Step]:
    acted = bool(run.trace or run.calls)
    started = any(event.state is RunState.EXECUTING for event in run.files.events)
    ending = _ending(run)
    if not acted and (ending is None or (started and not _reports_trace(run))):
        return []
    # Without a trace nothing proves that the task ever reached the agent.
    steps = [*_task(run)] if acted else []
    steps += _conversation(run)
    return [*steps, *([ending] if ending else [])]


def _reports_trace(run: StoredRun) -> bool:
    manifest = run.files.manifest
    return manifest is not None and manifest.agent_capabilities.get("tool_trace") == "yes"


def _task(run: StoredRun) -> Iterator[Step]:
    if run.files.manifest is not None:
        yield {"source": "user", "message": run.files.manifest.prompt}


def _ending(run: StoredRun) -> Step | None:
    """How a run ended that did not complete. An evaluation's reasons may quote hidden tests and stay out."""
    state = run.view.state
    if not run.view.is_final or state is RunState.COMPLETED:
        return None
    if state is RunState.EVALUATION_ERROR:
        return {"source": "system", "message": "The agent's work could not be evaluated."}
    outcome = run.view.outcome
    reason = run.view.reason if outcome is None or state is RunState.TIMEOUT else None
    return {"source": "system", "message": f"The run ended as {state.value}{f': {reason}' if reason else '.'}"}


@dataclass(slots=True)
class _OpenCalls:
    """Tool calls that no event has told yet. Events name no call, so they are matched by text and time."""

    calls: list[ToolCall] = field(default_factory=list)

    def take(self, event: TraceEvent) -> ToolCall | None:
        fitting = [call for call in self.calls if _fits(event, call)]
        at_once = [call for call in fitting if event.at in {call.started_at, call.finished_at}]
        found = next(iter(at_once or fitting), None)
        if found is not None:
            self.calls.remove(found)
        return found


def _fits(event: TraceEvent, call: ToolCall) -> bool:
    return event.text in {call.command, call.name} or event.kind == call.name


def _conversation(run: StoredRun) -> list[Step]:
    waiting = _OpenCalls(list(run.calls))
    steps = []
    for number, event in enumerate(run.trace, start=1):
        if event.kind in CALLS:
            steps.append(_timed(_call_step(waiting.take(event) or _bare(event), f"call-{number}", event.kind), event))
        elif event.kind != "model_request":
            steps.append(_timed(_said(event), event))
    for number, call in enumerate(waiting.calls, start=len(run.trace) + 1):
        steps.append(
            _timed(_call_step(call, f"call-{number}", "tool"), TraceEvent(kind="tool", text="", at=call.started_at))
        )
    return steps


def _bare(event: TraceEvent) -> ToolCall:
    """A call that only the trace tells."""
    return ToolCall(name=event.kind, command=event.text if event.kind == "command" else None)


def _timed(step: Step, event: TraceEvent) -> Step:
    return {**step, "timestamp": event.at.isoformat()} if event.at else step


def _said(event: TraceEvent) -> Step:
    match event.kind:
        case "message":
            return {"source": "agent", "message": event.text}
        case "reasoning":
            return {"source": "agent", "message": "", "reasoning_content": event.text}
        case kind:
            return {"source": "system", "message": f"{kind}: {event.text}", "extra": {"kind": kind}}


def _call_step(call: ToolCall, call_id: str, kind: str) -> Step:
    ended = {"status": call.status, "exit_code": call.exit_code}
    told = {name: value for name, value in ended.items() if value is not None}
    asked: dict[str, object] = {
        "tool_call_id": call_id,
        "function_name": call.name,
        "arguments": {"command": call.command} if call.command is not None else {},
        **({"extra": told} if told else {}),
    }
    step: Step = {"source": "agent", "message": "", "tool_calls": [asked], "extra": {"kind": kind}}
    if call.output is not None:
        step["observation"] = {"results": [{"source_call_id": call_id, "content": call.output}]}
    return step


def _agent(run: StoredRun) -> dict[str, object]:
    result = run.files.result
    observed = result.observed_models if result else ()
    named = {"model_name": observed[0]} if len(observed) == 1 else {}
    return {"name": run.variant.agent.id, "version": run.view.agent_version or "unknown", **named}


def _notes(run: StoredRun) -> Iterator[str]:
    yield "Written by AK-Bench from the steps that the agent's adapter recorded; long texts may have been shortened."
    yield "Tokens and cost of single steps are not recorded."
    if any(call.command is None for call in run.calls):
        yield "The arguments of tool calls other than shell commands are not recorded."
    if any(event.at is None for event in run.trace):
        yield "Steps without a timestamp have no recorded time."
    result = run.files.result
    if result is None or not result.observed_models:
        yield "The model that answered was not observed."


def _model_requests(run: StoredRun) -> list[dict[str, object]]:
    requests = (event for event in run.trace if event.kind == "model_request")
    return [{"at": event.at.isoformat() if event.at else None, "text": event.text} for event in requests]


def _final_metrics(metrics: Mapping[str, Reading], steps: int) -> dict[str, object]:
    totals = {
        "total_prompt_tokens": metrics.get("input_tokens"),
        "total_completion_tokens": metrics.get("output_tokens"),
        "total_cached_tokens": metrics.get("cached_input_tokens"),
        "total_cost_usd": metrics.get("total_cost"),
    }
    known = {name: reading.value for name, reading in totals.items() if reading and _is_number(reading.value)}
    return {"final_metrics": {**known, "total_steps": steps}}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
