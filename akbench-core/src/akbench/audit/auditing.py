"""From what was observed of an agent to its audit. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from akbench.audit.finding import Audit, Finding, RuleOutcome, Severity
from akbench.audit.rules import CHANGE_RULES, CODE_RULES, COMMAND_RULES, REQUEST_RULES, AddedCode
from akbench.audit.shell import Reading, read_command
from akbench.sandbox.relay import ModelRequest
from akbench.spec import ToolCall, TraceEvent

__all__ = ["Observed", "audit", "unavailable_audit"]

KEPT = 20
"""Findings of one rule that are kept; how many more there were is told."""
_EVIDENCE_CHARACTERS = 300
_TRACED = frozenset(("command", "tool"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is known of an agent's way.

    - `tool_calls`, `trace`: as its adapter reported them; `redacted` takes secrets out of a text.
    - `reports_calls`: whether the adapter says that it reports tool calls; without, no calls mean nothing.
    - `changes`: path -> added, removed or modified; None if the workspace was not read.
    - `added`: path -> what is new in it; None if the workspace was not read.
    - `model_requests`: what its model endpoint was asked for; None if it had none.
    """

    tool_calls: Sequence[ToolCall]
    trace: Sequence[TraceEvent]
    reports_calls: bool
    changes: Mapping[str, str] | None
    added: Mapping[str, AddedCode] | None
    model_requests: Sequence[ModelRequest] | None
    redacted: Callable[[str], str] = str


def audit(observed: Observed) -> Audit:
    """Apply every rule."""
    readings = tuple(_readings(observed))
    no_commands = None if readings or observed.reports_calls else "the agent's adapter reports no tool calls"
    found: list[Finding] = []
    outcomes: list[RuleOutcome] = []
    for rule in COMMAND_RULES:
        finds = (
            _finding(rule.id, place, hit.severity, hit.evidence)
            for place, reading in readings
            for hit in rule.find(reading)
        )
        _conclude(rule.id, rule.title, finds, no_commands, found, outcomes)
    no_changes = "the workspace was not read" if observed.changes is None else None
    for change_rule in CHANGE_RULES:
        changed = (
            _finding(change_rule.id, path, severity, f"{path} was {change}")
            for path, change in (observed.changes or {}).items()
            if (severity := change_rule.find(path, change)) is not None
        )
        _conclude(change_rule.id, change_rule.title, changed, no_changes, found, outcomes)
    for code_rule in CODE_RULES:
        reaching = (
            _finding(code_rule.id, path, hit.severity, observed.redacted(hit.evidence))
            for path, code in (observed.added or {}).items()
            for hit in code_rule.find(path, code)
        )
        _conclude(code_rule.id, code_rule.title, reaching, no_changes, found, outcomes)
    no_requests = "the agent had no model endpoint" if observed.model_requests is None else None
    for request_rule in REQUEST_RULES:
        refused = (
            _finding(request_rule.id, f"model request {number}", hit.severity, hit.evidence)
            for number, request in enumerate(observed.model_requests or (), start=1)
            for hit in request_rule.find(request)
        )
        _conclude(request_rule.id, request_rule.title, refused, no_requests, found, outcomes)
    return Audit(findings=tuple(found), rules=tuple(outcomes))


def unavailable_audit(reason: str) -> Audit:
    """The audit where none of the rules could be applied."""
    rules = (*COMMAND_RULES, *CHANGE_RULES, *CODE_RULES, *REQUEST_RULES)
    outcomes = (RuleOutcome(id=rule.id, title=rule.title, unavailable=reason) for rule in rules)
    return Audit(findings=(), rules=tuple(outcomes))


def _readings(observed: Observed) -> Iterator[tuple[str, Reading]]:
    """What the tool calls did; of an agent that reports none, the commands that its trace tells."""
    for number, call in enumerate(observed.tool_calls, start=1):
        reading = Reading(tool=call.name) if call.command is None else read_command(observed.redacted(call.command))
        yield f"tool call {number}", reading
    for number, event in enumerate(observed.trace if not observed.tool_calls else (), start=1):
        if event.kind in _TRACED:
            command = event.data.get("command")
            text = command if isinstance(command, str) else event.text
            yield f"step {number} of the trace", read_command(observed.redacted(text))


def _finding(rule: str, place: str, severity: Severity, evidence: str) -> Finding:
    line = " ".join(evidence.split())
    short = line if len(line) <= _EVIDENCE_CHARACTERS else f"{line[:_EVIDENCE_CHARACTERS]}…"
    return Finding(rule=rule, severity=severity, place=place, evidence=short)


def _conclude(
    rule: str,
    title: str,
    finds: Iterable[Finding],
    unavailable: str | None,
    found: list[Finding],
    outcomes: list[RuleOutcome],
) -> None:
    """Count equal findings as one, keep the first few, and say how the rule fared."""
    times: dict[tuple[Severity, str], int] = {}
    first: dict[tuple[Severity, str], Finding] = {}
    for find in finds:
        key = find.severity, find.evidence
        times[key] = times.get(key, 0) + 1
        first.setdefault(key, find)
    kept = [replace(first[key], times=times[key]) for key in list(first)[:KEPT]]
    found += kept
    outcomes.append(
        RuleOutcome(id=rule, title=title, findings=len(kept), left_out=len(first) - len(kept), unavailable=unavailable)
    )
