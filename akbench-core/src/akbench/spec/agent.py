"""What an agent adapter implements.

`SessionAgent` is the whole contract: open a session, submit the task, wait, observe, close. Most agents are programs
that do one task and end; for them `ProcessAgent` carries the session out, and its author only describes an invocation
and interprets what it left behind. The core starts, watches and ends every process, inside the sandbox that the
experiment names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from akbench.spec.measure import ConfigState, JsonValue, Usage
from akbench.spec.probe import Probe, ProbeContext
from akbench.spec.process import Artifact, Host, Invocation, Mount, ProcessEvidence, RunningProcess

__all__ = [
    "AgentEvidence",
    "AgentOutcome",
    "AgentRequest",
    "AgentStatus",
    "ModelAccess",
    "ProcessAgent",
    "ProcessSession",
    "SessionAgent",
    "SessionStatus",
    "ToolCall",
    "TraceEvent",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """How the agent reaches its model from inside the sandbox.

    `base_url` is a plain http URL on the sandbox's own loopback. `token` stands in for the provider's key: it is
    worth something only at this run's endpoint, where the real key replaces it.
    """

    base_url: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """One task for one agent. All paths are paths as the agent sees them.

    - `workspace`: the task's repository, also the working directory.
    - `home`: an empty HOME; `state`: an empty directory for the agent's own files (outside `tmp`); `tmp`: TMPDIR.
    - `environ`: variables for the agent, from scratch (PATH with the task's prepared environment first, HOME, TMPDIR,
      LANG, and what the task declares). Nothing of the harness's environment is in it.
    - `declared`: the host's variables that the agent's descriptor names and that are set.
    - `program_root`: the directory under which `Invocation.mounts` may appear; None if paths cannot be moved.
    - `bounded`: whether the sandbox confines the agent; if not, an agent's own sandbox should be used.
    - `reference_patch`: the task's reference solution, only for agents whose descriptor declares
      ``receives_reference_solution``; never for a contestant.
    """

    prompt: str
    config: Mapping[str, JsonValue]
    workspace: str
    home: str
    state: str
    tmp: str
    environ: Mapping[str, str]
    declared: Mapping[str, str]
    model: ModelAccess | None
    bounded: bool
    program_root: str | None
    timeout_seconds: float
    reference_patch: bytes | None = None

    def place(self, host: Path, name: str) -> Mount:
        """The mount that makes the host directory `host` visible to the agent, under `name` where paths can move."""
        inside = str(host) if self.program_root is None else f"{self.program_root}/{name}"
        return Mount(host=host, inside=inside)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvidence:
    """Everything `ProcessAgent.interpret` may look at. Nothing in it can be trusted: the agent wrote it.

    `state` and `home` are the host paths of the directories the request named; read them with care (links!).
    """

    request: AgentRequest
    process: ProcessEvidence
    state: Path
    home: Path


class AgentStatus(StrEnum):
    """How an agent's work ended, and so whose fault a failure is.

    `COMPLETED`: it says it is done. `FAILED`: it broke or gave up. `PROVIDER_ERROR`: its model's provider failed.
    `CONFIGURATION_ERROR`: it was set up wrongly. `INFRASTRUCTURE_ERROR`: something around it failed.
    `UNCLASSIFIED`: the evidence does not tell. The core itself sets `TIMEOUT`, `CANCELLED`, and `EXCEEDED`: it broke a
    bound of its environment, such as that of its disk space.
    """

    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    EXCEEDED = "exceeded"
    PROVIDER_ERROR = "provider_error"
    CONFIGURATION_ERROR = "configuration_error"
    INFRASTRUCTURE_ERROR = "infrastructure_error"
    UNCLASSIFIED = "unclassified"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One step of the agent's own trace. `at` is None where the agent gives no time.

    `kind` is one of ``message``, ``reasoning``, ``command``, ``file_change``, ``tool``, ``model_request``, ``error``,
    ``warning``, ``other``; `text` is for people, `data` is the normalised detail.
    """

    kind: str
    text: str
    at: datetime | None = None
    data: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call of the agent; `command` is set for shell commands. `exit_code` None means: not reported."""

    name: str
    command: str | None = None
    status: str | None = None
    exit_code: int | None = None
    output: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutcome:
    """The universal result of an agent: what could be observed, None or a reason where nothing could.

    `reason` says in a sentence why the status is not `COMPLETED`; `error_class` is the agent's own structured class
    of error, where there is one. `observed_models` are models that something other than the request confirmed.
    """

    status: AgentStatus
    reason: str | None = None
    error_class: str | None = None
    session_id: str | None = None
    agent_version: str | None = None
    final_message: str | None = None
    usage: Usage = field(default_factory=Usage)
    config: tuple[ConfigState, ...] = ()
    observed_models: tuple[str, ...] = ()
    trace: tuple[TraceEvent, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    artifacts: tuple[Artifact, ...] = ()


class SessionStatus(StrEnum):
    """What a session is doing, as far as the agent tells. `UNKNOWN`: it does not say."""

    WORKING = "working"
    FINISHED = "finished"
    UNKNOWN = "unknown"


class SessionAgent[Session](ABC):
    """An agent that is talked to: a service, an API, or a program that does more than one task and end.

    `Session` is a type of the adapter's own. An adapter is built without arguments and keeps nothing between calls but
    in its sessions; several may be open at once. The core calls, in this order: `start_session`, `submit_task`,
    `wait_for_completion` until it says True or the time is over, then `cancel` if it did not, `collect_observations`,
    and `close_session` in every case. Each call is bounded; one that hangs ends the run as an infrastructure error.
    """

    @abstractmethod
    def probe(self, context: ProbeContext) -> Probe:
        """Find the agent, its version and what keeps it from running here. Called before each experiment."""

    @abstractmethod
    def start_session(self, request: AgentRequest, host: Host) -> Session:
        """Open a session that knows nothing of any other. Raises `InputError` for a configuration it cannot use."""

    @abstractmethod
    def submit_task(self, session: Session, prompt: str) -> None:
        """Hand the task over and return at once. `prompt` is the request's."""

    @abstractmethod
    def wait_for_completion(self, session: Session, seconds: float) -> bool:
        """Wait at most `seconds`; True once the agent has ended its work, well or not."""

    def get_status(self, session: Session) -> SessionStatus:
        """What the session is doing."""
        del session
        return SessionStatus.UNKNOWN

    def cancel(self, session: Session) -> None:
        """Ask the agent to stop and return at once. Only for agents with the capability ``cancellation``."""
        raise NotImplementedError

    @abstractmethod
    def collect_observations(self, session: Session) -> AgentOutcome:
        """Say what happened, as far as can be seen; also for work that was stopped."""

    @abstractmethod
    def close_session(self, session: Session) -> None:
        """Give back what the session holds. Nothing of it may go on afterwards."""


@dataclass(slots=True, kw_only=True)
class ProcessSession:
    """The session of a `ProcessAgent`: one process for one task."""

    request: AgentRequest
    host: Host
    invocation: Invocation
    process: RunningProcess | None = None
    evidence: ProcessEvidence | None = None


class ProcessAgent(SessionAgent[ProcessSession]):
    """An agent that runs as one process per task.

    `prepare` and `interpret` do not start anything; `probe` may run the agent's program to ask for its version.
    """

    @abstractmethod
    def prepare(self, request: AgentRequest) -> Invocation:
        """Say how to start the agent on `request`. Raises `InputError` if the configuration cannot be used."""

    @abstractmethod
    def interpret(self, evidence: AgentEvidence) -> AgentOutcome:
        """Say what happened, from what the agent left behind; also for runs that timed out or were cancelled."""

    def start_session(self, request: AgentRequest, host: Host) -> ProcessSession:
        """Prepare the invocation; nothing runs yet."""
        return ProcessSession(request=request, host=host, invocation=self.prepare(request))

    def submit_task(self, session: ProcessSession, prompt: str) -> None:
        """Start the process; the prompt is in its invocation."""
        del prompt
        session.process = session.host.start(session.invocation)

    def wait_for_completion(self, session: ProcessSession, seconds: float) -> bool:
        """Wait for the end of the process and all it started."""
        session.evidence = session.process.wait(seconds) if session.process else None
        return session.evidence is not None

    def get_status(self, session: ProcessSession) -> SessionStatus:
        """Working for as long as the process lives."""
        return SessionStatus.WORKING if session.evidence is None else SessionStatus.FINISHED

    def cancel(self, session: ProcessSession) -> None:
        """Stop the process."""
        if session.process is not None:
            session.process.stop()

    def collect_observations(self, session: ProcessSession) -> AgentOutcome:
        """Interpret what the process left. Raises `RuntimeError` before its end."""
        if session.evidence is None:
            raise RuntimeError("the process has not ended")
        return self.interpret(
            AgentEvidence(
                request=session.request,
                process=session.evidence,
                state=session.host.state,
                home=session.host.home,
            )
        )

    def close_session(self, session: ProcessSession) -> None:
        """Stop a process that is still there; the core sees to its end."""
        if session.evidence is None:
            self.cancel(session)
