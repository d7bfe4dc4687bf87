"""The agent's part of a run: its rooms, its environment, its process, and what its adapter makes of the traces."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from akbench.dataset.environment import PreparedEnvironment
from akbench.run.record import RunSpec
from akbench.sandbox.endpoint import ModelEndpoint
from akbench.sandbox.prepared import environment_binds
from akbench.spec import (
    AgentEvidence,
    AgentOutcome,
    AgentRequest,
    AgentStatus,
    Bind,
    InputError,
    Invocation,
    Limits,
    ModelAccess,
    ProcessAgent,
    ProcessEvidence,
    Sandbox,
    SandboxRequest,
)
from akbench.workspace.worktree import Worktree

__all__ = ["AgentWork", "Rooms", "agent_request", "interpret", "make_rooms", "run_agent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """The agent's private folders on the host."""

    home: Path
    state: Path
    tmp: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    """What is needed to run the agent of one run."""

    spec: RunSpec
    agent: ProcessAgent
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
        config=work.spec.variant.agent.config,
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
    return {
        "PATH": f"{work.environment.root}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": work.sandbox.inside("home", work.rooms.home),
        "TMPDIR": work.sandbox.inside("tmp", work.rooms.tmp),
        "LANG": "C.UTF-8",
        "PYTHONPATH": ":".join(os.path.normpath(f"{workspace}/{folder}") for folder in work.python_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _access(work: AgentWork) -> ModelAccess | None:
    if work.endpoint is None:
        return None
    port = work.sandbox.model_port()
    return ModelAccess(base_url=f"http://127.0.0.1:{port}{work.endpoint.base_path}", token=work.endpoint.token)


def run_agent(
    work: AgentWork, request: AgentRequest, invocation: Invocation, folder: Path, cancelled: threading.Event
) -> ProcessEvidence:
    """Run the agent to its end, its deadline or its cancellation; its output lands in `folder`."""
    for name, content in invocation.files.items():
        _write_state_file(work.rooms.state, name, content)
    for path in (work.worktree.workspace, work.worktree.repository, work.rooms.home, work.rooms.state, work.rooms.tmp):
        work.sandbox.own(path)
    return work.sandbox.run(
        SandboxRequest(
            argv=invocation.argv,
            environ={**request.environ, **invocation.environ},
            cwd=request.workspace,
            binds=_binds(work, invocation),
            stdin=invocation.stdin,
            stdout=folder / "stdout.log",
            stderr=folder / "stderr.log",
            limits=Limits(timeout_seconds=work.spec.timeout_seconds),
            cancelled=cancelled,
            interrupt=invocation.interrupt,
            grace_seconds=invocation.grace_seconds,
            model_socket=work.endpoint.socket if work.endpoint else None,
            model_port=_port(request),
        )
    )


def _port(request: AgentRequest) -> int | None:
    if request.model is None:
        return None
    return int(request.model.base_url.split("/")[2].rpartition(":")[2])


def _write_state_file(state: Path, name: str, content: bytes) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"the agent's adapter wants to write {name!r}, outside the agent's own folder")
    target = state / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _binds(work: AgentWork, invocation: Invocation) -> tuple[Bind, ...]:
    places = {
        "workspace": work.worktree.workspace,
        "repository": work.worktree.repository,
        "home": work.rooms.home,
        "state": work.rooms.state,
    }
    return (
        *(Bind(host=path, inside=work.sandbox.inside(name, path), writable=True) for name, path in places.items()),
        *environment_binds(work.environment),
        *(Bind(host=mount.host, inside=mount.inside, writable=False) for mount in invocation.mounts),
    )


def interpret(work: AgentWork, request: AgentRequest, process: ProcessEvidence) -> AgentOutcome:
    """The adapter's reading of what is left, with what only the harness can know laid over it."""
    evidence = AgentEvidence(request=request, process=process, state=work.rooms.state, home=work.rooms.home)
    outcome = work.agent.interpret(evidence)
    if process.start_error is not None:
        reason = f"the agent could not be started: {process.start_error}"
        return replace(outcome, status=AgentStatus.INFRASTRUCTURE_ERROR, reason=reason)
    if process.cancelled:
        return replace(outcome, status=AgentStatus.CANCELLED, reason="cancelled")
    if process.timed_out:
        reason = f"the agent was stopped after {work.spec.timeout_seconds:g} s"
        return replace(outcome, status=AgentStatus.TIMEOUT, reason=reason)
    return outcome
