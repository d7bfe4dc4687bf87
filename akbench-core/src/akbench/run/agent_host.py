"""What a run lends to its agent's adapter: its folders, and one process in the run's sandbox."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from akbench.run.agent_work import AgentWork
from akbench.sandbox.prepared import environment_binds
from akbench.sandbox.running import SandboxedProcess
from akbench.spec import (
    AgentRequest,
    Bind,
    Host,
    HostError,
    InputError,
    Invocation,
    Limits,
    ProcessEvidence,
    RunningProcess,
    SandboxRequest,
)

__all__ = ["AgentHost"]

_END_SECONDS = 60.0


class AgentHost(Host):
    """The host of one run. `launch` is what a runtime makes of the agent's invocation before it starts."""

    def __init__(
        self,
        work: AgentWork,
        request: AgentRequest,
        folder: Path,
        cancelled: threading.Event,
        launch: Callable[[Invocation], Invocation],
    ) -> None:
        self.workspace, self.home, self.state = work.worktree.workspace, work.rooms.home, work.rooms.state
        self._work, self._request, self._folder = work, request, folder
        self._cancelled, self._launch = cancelled, launch
        self._process: RunningProcess | None = None
        self.grace_seconds = 0.0

    @property
    def supervises(self) -> bool:
        """Whether the run has a process whose deadline the sandbox keeps."""
        return self._process is not None

    def start(self, invocation: Invocation) -> RunningProcess:
        """Start the agent's process in the sandbox. Raises `HostError` for a second one, or where none is expected."""
        if self._work.spec.variant.agent.execution_type != "process":
            raise HostError("only an agent with execution_type process may start one; correct its descriptor")
        if self._process is not None:
            raise HostError("the adapter started a second process; a run has one, which may start others")
        invocation = self._launch(invocation)
        self.grace_seconds = invocation.grace_seconds
        for name, content in invocation.files.items():
            write_state_file(self.state, name, content)
        for path in (self.workspace, self._work.worktree.repository, self.home, self.state, self._work.rooms.tmp):
            self._work.sandbox.own(path)
        self._process = SandboxedProcess(self._work.sandbox, self._sandboxed(invocation))
        return self._process

    def end(self) -> ProcessEvidence | None:
        """See to the end of the process, if there was one. Raises `HostError` if it cannot be ended."""
        if self._process is None:
            return None
        self._process.stop()
        evidence = self._process.wait(self.grace_seconds + _END_SECONDS)
        if evidence is None:
            raise HostError("the agent's process cannot be ended")
        return evidence

    def _sandboxed(self, invocation: Invocation) -> SandboxRequest:
        request, endpoint = self._request, self._work.endpoint
        return SandboxRequest(
            argv=invocation.argv,
            environ={**request.environ, **invocation.environ},
            cwd=request.workspace,
            binds=_binds(self._work, invocation),
            stdin=invocation.stdin,
            stdout=self._folder / "stdout.log",
            stderr=self._folder / "stderr.log",
            limits=Limits(timeout_seconds=request.timeout_seconds),
            cancelled=self._cancelled,
            interrupt=invocation.interrupt,
            grace_seconds=invocation.grace_seconds,
            model_socket=endpoint.socket if endpoint else None,
            model_port=_port(request),
        )


def _port(request: AgentRequest) -> int | None:
    if request.model is None:
        return None
    return int(request.model.base_url.split("/")[2].rpartition(":")[2])


def write_state_file(state: Path, name: str, content: bytes) -> None:
    """Write one of an invocation's files. Raises `InputError` for a name that leads out of `state`."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"the adapter wants to write {name!r}, outside the folder it has for that")
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
