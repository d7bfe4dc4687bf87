"""What an agent adapter implements: describe an invocation, interpret what it left behind.

An adapter never starts, kills or watches the agent itself. The core does that once, for every agent, inside the
sandbox the experiment names.
"""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from akbench.spec.measure import Capability, ConfigState, JsonValue, Support, Usage

__all__ = [
    "AgentArtifact",
    "AgentEvidence",
    "AgentOutcome",
    "AgentRequest",
    "AgentStatus",
    "Invocation",
    "ModelAccess",
    "Mount",
    "Probe",
    "ProbeContext",
    "Problem",
    "ProcessAgent",
    "ProcessEvidence",
    "ToolCall",
    "TraceEvent",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A directory or file of the host that the agent needs to see, read-only, at the path `inside`.

    In a sandbox that cannot move paths `inside` equals `host`; use `AgentRequest.place` to ask for it.
    """

    host: Path
    inside: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """How the agent reaches its model from inside the sandbox.

    `base_url` is a plain http URL on the sandbox's own loopback. `token` stands in for the provider's key: it is
    worth something only at this run's endpoint, where the real key replaces it.
    """

    base_url: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that keeps an agent from running here, and the mend (a command or a sentence)."""

    message: str
    mend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeContext:
    """What `ProcessAgent.probe` is given.

    `config` is the agent's requested configuration; `environ` holds only the variables that the agent's descriptor
    names; `bounded` says whether the sandbox itself confines the agent.
    """

    config: Mapping[str, JsonValue]
    environ: Mapping[str, str]
    bounded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is really installed here. `capabilities` overrides the descriptor where something was found out.

    `facts` are further findings worth recording with each run, such as the path kind of the binary found.
    """

    version: str | None
    problems: tuple[Problem, ...] = ()
    capabilities: Mapping[Capability, Support] = field(default_factory=dict)
    facts: Mapping[str, JsonValue] = field(default_factory=dict)


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
class Invocation:
    """How to start an agent. The core starts it, with the request's environment plus `environ`.

    - `files`: relative path -> content, written into the request's `state` directory before the start.
    - `interrupt`: the signal sent first when the run is cancelled or out of time; after `grace_seconds` everything
      in the sandbox is killed.
    """

    argv: tuple[str, ...]
    stdin: bytes = b""
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    interrupt: signal.Signals = signal.SIGINT
    grace_seconds: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEvidence:
    """What the core saw of a process it ran in a sandbox. Times are timezone-aware UTC.

    `exit_code` is None when the process ended by a signal or never started; `signal` is that signal's number.
    `start_error` says why it never started. `stdout` and `stderr` are files on the host.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    started_at: datetime
    finished_at: datetime
    duration_seconds: float
    stdout: Path
    stderr: Path
    start_error: str | None = None


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
    `UNCLASSIFIED`: the evidence does not tell. The core itself sets `TIMEOUT` and `CANCELLED`.
    """

    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
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
class AgentArtifact:
    """A file of the agent worth keeping: path relative to the `state` directory, and its name as an artifact."""

    path: str
    name: str
    media_type: str


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
    artifacts: tuple[AgentArtifact, ...] = ()


class ProcessAgent(ABC):
    """An agent that runs as one process per task.

    An adapter is built without arguments and keeps no state between calls. `prepare` and `interpret` do not start
    anything; `probe` may run the agent's program to ask for its version.
    """

    @abstractmethod
    def probe(self, context: ProbeContext) -> Probe:
        """Find the program, its version and what keeps it from running here. Called before each experiment."""

    @abstractmethod
    def prepare(self, request: AgentRequest) -> Invocation:
        """Say how to start the agent on `request`. Raises `InputError` if the configuration cannot be used."""

    @abstractmethod
    def interpret(self, evidence: AgentEvidence) -> AgentOutcome:
        """Say what happened, from what the agent left behind; also for runs that timed out or were cancelled."""
