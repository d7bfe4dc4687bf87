"""The universal result of an agent (``metadata.json``): the same fields for every agent, null where unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from akbench.audit.rules import AddedCode
from akbench.dataset.tree import LINK, Tree
from akbench.run.record import RunSpec
from akbench.run.session import SessionEnd
from akbench.spec import AgentOutcome, AgentStatus, JsonValue, Usage

__all__ = ["AgentResult", "WorkspaceChange", "added_code", "agent_result", "workspace_changes"]

_READABLE_BYTES = 1 << 20
_READABLE_FILES = 500
"""Bounds of the files whose new lines are read: reading costs time, and what is beyond is hardly anybody's writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceChange:
    """One file that differs from what the agent was given: `change` is added, removed or modified."""

    path: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """What is known of an agent's work, independent of any judgement.

    - `exit_code`: of its process; None for an agent that is none, and for one that ended by a signal.
    - `workspace_changes`: None when the workspace was not read.
    - `observations`: by name, each with its value and source, or with the reason why there is none.
    - `artifacts`: names of the agent's own files that were kept.
    """

    agent_id: str
    agent_version: str | None
    session_id: str | None
    status: AgentStatus | None
    started_at: datetime | None
    finished_at: datetime | None
    final_message: str | None
    exit_code: int | None
    workspace_changes: tuple[WorkspaceChange, ...] | None
    observations: Mapping[str, JsonValue]
    artifacts: tuple[str, ...]


def agent_result(spec: RunSpec, session: SessionEnd | None, changes: tuple[WorkspaceChange, ...] | None) -> AgentResult:
    """The result of the run's agent; `session` is None when none came about."""
    outcome = session.outcome if session else None
    process = session.process if session else None
    return AgentResult(
        agent_id=spec.variant.agent.id,
        agent_version=(outcome.agent_version if outcome else None) or spec.agent_version,
        session_id=outcome.session_id if outcome else None,
        status=outcome.status if outcome else None,
        started_at=session.started_at if session else None,
        finished_at=session.finished_at if session else None,
        final_message=outcome.final_message if outcome else None,
        exit_code=process.exit_code if process else None,
        workspace_changes=changes,
        observations=_observations(outcome) if outcome else {},
        artifacts=tuple(artifact.name for artifact in outcome.artifacts) if outcome else (),
    )


def _observations(outcome: AgentOutcome) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {field.name: asdict(getattr(outcome.usage, field.name)) for field in fields(Usage)}
    models: JsonValue = list(outcome.observed_models) or None
    return found | {"models": models, "trace_events": len(outcome.trace), "traced_tool_calls": len(outcome.tool_calls)}


def workspace_changes(given: Tree, final: Tree) -> tuple[WorkspaceChange, ...]:
    """The files that differ between two trees, by path."""
    before, after = given.entries, final.entries
    changes = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            change = "removed" if path not in after else "modified" if path in before else "added"
            changes.append(WorkspaceChange(path=_shown(path), change=change))
    return tuple(changes)


def added_code(given: Tree, final: Tree) -> dict[str, AddedCode]:
    """The changed text files with the lines that they did not have before, by path.

    Large files are left out, and of very many changed files those after the first; Python's come before all others.
    """
    changed = [path for path, entry in final.entries.items() if given.entries.get(path) != entry and entry.mode != LINK]
    found = {}
    for path in sorted(changed, key=lambda path: (not path.endswith(b".py"), path))[:_READABLE_FILES]:
        after = final.read(path)
        if len(after) <= _READABLE_BYTES and b"\0" not in after:
            known = set(given.read(path).splitlines()) if path in given.entries else set()
            lines = tuple(_shown(line) for line in after.splitlines() if line not in known)
            found[_shown(path)] = AddedCode(text=_shown(after), lines=lines)
    return found


def _shown(text: bytes) -> str:
    """As text, whatever its bytes are."""
    return text.decode("utf-8", "backslashreplace")
