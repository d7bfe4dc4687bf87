"""The agent's part of a run: its rooms, its environment, and the task as its adapter is told of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akbench.dataset.environment import PreparedEnvironment
from akbench.run.record import RunSpec
from akbench.sandbox.endpoint import ModelEndpoint
from akbench.spec import AgentRequest, JsonValue, ModelAccess, Sandbox, SessionAgent
from akbench.workspace.worktree import Worktree

__all__ = ["AgentWork", "Rooms", "agent_request", "make_rooms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """The agent's private folders on the host."""

    home: Path
    state: Path
    tmp: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    """What is needed to run the agent of one run. `config` is the requested one with what plugins add to it."""

    spec: RunSpec
    agent: SessionAgent[Any]
    config: Mapping[str, JsonValue]
    sandbox: Sandbox
    environment: PreparedEnvironment
    worktree: Worktree
    rooms: Rooms
    endpoint: ModelEndpoint | None
    python_path: tuple[str, ...]
    declared: Mapping[str, str]
    reference_patch: bytes | None


def make_rooms(scratch: Path) -> Rooms:
    """Empty folders for one agent."""
    rooms = Rooms(home=scratch / "home", state=scratch / "state", tmp=scratch / "tmp")
    for path in (rooms.home, rooms.state, rooms.tmp):
        path.mkdir()
    return rooms


def agent_request(work: AgentWork) -> AgentRequest:
    """The task as the agent's adapter is told of it."""
    sandbox, rooms = work.sandbox, work.rooms
    workspace = sandbox.inside("workspace", work.worktree.workspace)
    return AgentRequest(
        prompt=work.spec.prompt,
        config=work.config,
        workspace=workspace,
        home=sandbox.inside("home", rooms.home),
        state=sandbox.inside("state", rooms.state),
        tmp=sandbox.inside("tmp", rooms.tmp),
        environ=_environ(work, workspace),
        declared=work.declared,
        model=_access(work),
        bounded=sandbox.bounded,
        program_root=sandbox.program_root(),
        timeout_seconds=work.spec.timeout_seconds,
        reference_patch=work.reference_patch,
    )


def _environ(work: AgentWork, workspace: str) -> dict[str, str]:
    environ = work.environment.environ(
        home=work.sandbox.inside("home", work.rooms.home),
        tmp=work.sandbox.inside("tmp", work.rooms.tmp),
        import_path=(os.path.normpath(f"{workspace}/{folder}") for folder in work.python_path),
    )
    return {**environ, "PYTHONDONTWRITEBYTECODE": "1"}


def _access(work: AgentWork) -> ModelAccess | None:
    if work.endpoint is None:
        return None
    port = work.sandbox.model_port()
    return ModelAccess(base_url=f"http://127.0.0.1:{port}{work.endpoint.base_path}", token=work.endpoint.token)
