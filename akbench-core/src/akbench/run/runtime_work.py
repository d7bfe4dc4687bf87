"""The runtime's and the plugins' part of a run: one instance started, verified, observed and stopped."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from akbench.experiment.plan import PluginChoice, RuntimeChoice
from akbench.run.adapter_call import bounded
from akbench.run.agent_host import write_state_file
from akbench.run.journal import RunFolder
from akbench.run.lifecycle import RunState
from akbench.sandbox.local import LocalSandbox
from akbench.sandbox.running import SandboxedProcess
from akbench.spec import (
    AgentOutcome,
    AkbenchError,
    ConfigState,
    Health,
    Host,
    HostError,
    Invocation,
    JsonValue,
    Limits,
    Plugin,
    PluginEvidence,
    PluginFinding,
    ProviderAccess,
    Reading,
    RunningProcess,
    Runtime,
    RuntimeRequest,
    RuntimeState,
    SandboxRequest,
    VerificationStatus,
    unavailable,
)

__all__ = [
    "ReadyPlugin",
    "ReadyRuntime",
    "RuntimeHost",
    "RuntimeWork",
    "plugin_findings",
    "running_runtime",
    "with_plugins",
]

_CALL_SECONDS = 60.0
_HEALTH_SECONDS = 0.2
_END_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyPlugin:
    """A variant's plugin, probed on this machine."""

    choice: PluginChoice
    plugin: Plugin


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyRuntime:
    """A variant's runtime, probed on this machine.

    `declared` are the host's variables that it is given; `call_seconds` is how long a call of its adapter may take,
    and `start_seconds` how long an instance may take to become well.
    """

    choice: RuntimeChoice
    runtime: Runtime[Any]
    declared: Mapping[str, str]
    call_seconds: float = _CALL_SECONDS
    start_seconds: float = 60.0


@dataclass(slots=True, kw_only=True)
class RuntimeWork:
    """A running instance. `state` is what was seen of it after the agent's end."""

    ready: ReadyRuntime
    instance: Any
    config: tuple[ConfigState, ...]
    state: RuntimeState | None = None
    faults: list[str] = field(default_factory=list)

    @property
    def model_url(self) -> str | None:
        """Where the agent's model requests go through it; None if it carries none."""
        return bounded(lambda: self.ready.runtime.model_url(self.instance), self.ready.call_seconds, "model_url")

    def launch(self, invocation: Invocation) -> Invocation:
        """The agent's invocation as the runtime carries it."""
        return bounded(lambda: self.ready.runtime.launch(self.instance, invocation), self.ready.call_seconds, "launch")

    def observe(self) -> None:
        """Ask for its health and for what it did, while it still runs."""
        runtime = self.ready.runtime
        health = bounded(lambda: runtime.healthcheck(self.instance), self.ready.call_seconds, "healthcheck")
        if not health.ok:
            self.faults.append(f"the runtime was not well after the agent's work: {health.detail}")
        self.state = bounded(
            lambda: runtime.collect_runtime_state(self.instance), self.ready.call_seconds, "collect_runtime_state"
        )


def with_plugins(
    config: Mapping[str, JsonValue], plugins: tuple[ReadyPlugin, ...], provider: str, folder: RunFolder
) -> dict[str, JsonValue]:
    """The configuration of `provider` with what its plugins add. Raises `HostError` where two of them disagree."""
    whole = dict(config)
    added: dict[str, str] = {}
    for ready in plugins:
        if ready.choice.provider != provider:
            continue
        choice, keys = ready.choice, _contribution(ready)
        for key, value in keys.items():
            if key in added and whole[key] != value:
                raise HostError(f"plugins {added[key]!r} and {choice.id!r} want different values of {provider}.{key}")
            whole[key] = value
            added[key] = choice.id
        folder.record("plugin_configured", f"plugin {choice.id} sets {', '.join(sorted(keys)) or 'nothing'}")
    return whole


def _contribution(ready: ReadyPlugin) -> Mapping[str, JsonValue]:
    return bounded(lambda: ready.plugin.contribute(ready.choice.config), _CALL_SECONDS, "contribute")


@contextmanager
def running_runtime(
    ready: ReadyRuntime,
    config: Mapping[str, JsonValue],
    provider: ProviderAccess | None,
    scratch: Path,
    folder: RunFolder,
    cancelled: threading.Event,
) -> Iterator[RuntimeWork]:
    """Start an instance of its own, wait until it is well, and verify its configuration; stop it in every case.

    Raises `HostError` if it does not become well in time.
    """
    folder.enter(RunState.CONFIGURING_RUNTIME)
    request = RuntimeRequest(
        config=config,
        port=_free_port(),
        provider=provider,
        declared=ready.declared,
        start_seconds=ready.start_seconds,
    )
    host = RuntimeHost(scratch, cancelled)
    try:
        instance = bounded(lambda: ready.runtime.start(request, host), ready.call_seconds, "start")
        try:
            _await_health(ready, instance, request, host)
            work = RuntimeWork(ready=ready, instance=instance, config=_verified(ready, instance, config))
            yield work
        finally:
            bounded(lambda: ready.runtime.stop(instance), ready.call_seconds, "stop")
    finally:
        host.end()
        _keep(folder, scratch)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _await_health(ready: ReadyRuntime, instance: Any, request: RuntimeRequest, host: RuntimeHost) -> None:
    give_up = time.monotonic() + request.start_seconds
    health = Health(ok=False, detail="not asked yet")
    while time.monotonic() < give_up:
        health = bounded(lambda: ready.runtime.healthcheck(instance), ready.call_seconds, "healthcheck")
        if health.ok:
            return
        if host.cancelled.wait(_HEALTH_SECONDS):
            raise HostError("cancelled while the runtime started")
        if ended := host.ended():
            raise HostError(f"the runtime ended at its start ({ended}): {health.detail}")
    raise HostError(f"the runtime was not well {request.start_seconds:g} s after its start: {health.detail}")


def _verified(ready: ReadyRuntime, instance: Any, config: Mapping[str, JsonValue]) -> tuple[ConfigState, ...]:
    states = bounded(
        lambda: ready.runtime.verify_configuration(instance, config), ready.call_seconds, "verify_configuration"
    )
    return tuple(replace(state, component=f"runtime {ready.choice.id}") for state in states)


class RuntimeHost(Host):
    """Runs a runtime's processes outside the agent's sandbox, from an empty environment, ended with the run."""

    def __init__(self, scratch: Path, cancelled: threading.Event) -> None:
        self.workspace, self.home, self.state = scratch / "work", scratch / "home", scratch / "state"
        self._tmp, self._logs = scratch / "tmp", scratch / "logs"
        for path in (self.workspace, self.home, self.state, self._tmp, self._logs):
            path.mkdir(parents=True)
        self.cancelled = cancelled
        self._processes: list[RunningProcess] = []

    def start(self, invocation: Invocation) -> RunningProcess:
        """Start a process of the runtime; there may be several."""
        for name, content in invocation.files.items():
            write_state_file(self.state, name, content)
        number = len(self._processes) + 1
        request = SandboxRequest(
            argv=invocation.argv,
            environ={**self._environ(), **invocation.environ},
            cwd=str(self.workspace),
            binds=(),
            stdin=invocation.stdin,
            stdout=self._logs / f"{number}-stdout.log",
            stderr=self._logs / f"{number}-stderr.log",
            limits=Limits(timeout_seconds=float("inf")),
            cancelled=threading.Event(),  # a cancelled run still observes its runtime; `end` stops it
            interrupt=invocation.interrupt,
            grace_seconds=invocation.grace_seconds,
        )
        self._processes.append(SandboxedProcess(LocalSandbox(), request))
        return self._processes[-1]

    def _environ(self) -> dict[str, str]:
        places = {"HOME": str(self.home), "TMPDIR": str(self._tmp)}
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **places}

    def ended(self) -> str | None:
        """How the first process that is over ended; None while all live."""
        for process in self._processes:
            if evidence := process.wait(0.0):
                return evidence.start_error or f"exit code {evidence.exit_code}, signal {evidence.signal}"
        return None

    def end(self) -> None:
        """Stop all processes. Raises `HostError` if one cannot be ended."""
        for process in self._processes:
            process.stop()
        for process in self._processes:
            if process.wait(_END_SECONDS) is None:
                raise HostError("a process of the runtime cannot be ended")


def _keep(folder: RunFolder, scratch: Path) -> None:
    for log in sorted((scratch / "logs").glob("*.log")):
        folder.write(f"runtime/{log.name}", log.read_bytes(), "text/plain")


def plugin_findings(
    plugins: tuple[ReadyPlugin, ...], state: RuntimeState | None, outcome: AgentOutcome | None, folder: RunFolder
) -> tuple[tuple[ConfigState, ...], dict[str, Reading]]:
    """What is known of the plugins after a run: their configuration along its way, and their metrics by id."""
    states: list[ConfigState] = []
    metrics: dict[str, Reading] = {}
    for ready in plugins:
        finding = _finding(ready, state, outcome, folder)
        component = f"plugin {ready.choice.id}"
        states.append(_activity(finding, component))
        states += [replace(each, component=component) for each in finding.config]
        for name in ready.choice.metrics:
            metrics[name] = finding.metrics.get(name, unavailable(f"plugin {ready.choice.id!r} reports none"))
    return tuple(states), metrics


def _finding(
    ready: ReadyPlugin, state: RuntimeState | None, outcome: AgentOutcome | None, folder: RunFolder
) -> PluginFinding:
    evidence = PluginEvidence(config=ready.choice.config, runtime=state, outcome=outcome)
    try:
        found: object = bounded(lambda: ready.plugin.interpret(evidence), _CALL_SECONDS, "interpret")
    except AkbenchError as error:
        folder.record("adapter_fault", f"plugin {ready.choice.id}: {error}")
        return PluginFinding(active=None, source=str(error))
    if isinstance(found, PluginFinding):
        return found
    folder.record("adapter_fault", f"plugin {ready.choice.id}: interpret returned {type(found).__name__}")
    return PluginFinding(active=None, source="the adapter's account cannot be used")


def _activity(finding: PluginFinding, component: str) -> ConfigState:
    status = {
        True: VerificationStatus.VERIFIED,
        False: VerificationStatus.MISMATCH,
        None: VerificationStatus.UNVERIFIED,
    }[finding.active]
    return ConfigState(
        key="active",
        requested=True,
        configured=True,
        observed=finding.active,
        status=status,
        source=finding.source,
        component=component,
    )
