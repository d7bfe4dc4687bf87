"""What a runtime adapter implements: run an instance of a layer that carries an agent or its model requests.

AK-Bench runs an instance of its own for every run, with its own folder and port, and never changes its configuration
while it runs: a configuration is applied by starting, read back and verified before the agent begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from akbench.spec.measure import ConfigState, JsonValue, VerificationStatus
from akbench.spec.probe import Probe, ProbeContext
from akbench.spec.process import Artifact, Host, Invocation

__all__ = ["Health", "ProviderAccess", "Runtime", "RuntimeEvent", "RuntimeRequest", "RuntimeState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccess:
    """Where a runtime sends model requests. `key` is the provider's own: keep it in memory and in the environment."""

    base_url: str
    key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeRequest:
    """One instance to start.

    - `config`: the requested configuration, with the defaults of the descriptor and what plugins add to it.
    - `port`: a port of 127.0.0.1 that was free just now, for the instance alone.
    - `provider`: what answers the model requests that pass through; None where the experiment names nothing.
    - `declared`: the host's variables that the runtime's descriptor names and that are set.
    - `start_seconds`: how long the start may take.
    """

    config: Mapping[str, JsonValue]
    port: int
    provider: ProviderAccess | None
    declared: Mapping[str, str]
    start_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether an instance can work, and what was found."""

    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeEvent:
    """One thing that an instance did, normalised from its own log or answers. `at` is None where it gives no time."""

    kind: str
    text: str
    at: datetime | None = None
    data: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeState:
    """What could be seen of an instance after its work.

    `models` are the models that it says it asked; `artifacts` are files of its `state` folder worth keeping.
    """

    version: str | None = None
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    events: tuple[RuntimeEvent, ...] = ()
    models: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()


class Runtime[Instance](ABC):
    """A layer that carries an agent (`launch`) or its model requests (`model_url`).

    `Instance` is a type of the adapter's own. An adapter is built without arguments and keeps nothing between calls but
    in its instances; several may run at once.
    """

    @abstractmethod
    def probe(self, context: ProbeContext) -> Probe:
        """Find the runtime, its version and what keeps it from running here. Called before each experiment."""

    @abstractmethod
    def start(self, request: RuntimeRequest, host: Host) -> Instance:
        """Start an instance with this configuration and return; `healthcheck` tells when it is ready.

        Raises `InputError` for a configuration that it cannot use.
        """

    @abstractmethod
    def healthcheck(self, instance: Instance) -> Health:
        """Ask the instance itself. Called until it is well or the start took too long, and once after the run."""

    @abstractmethod
    def read_configuration(self, instance: Instance) -> Mapping[str, JsonValue]:
        """What the running instance says of its configuration, by key; a key that it does not tell is left out."""

    def verify_configuration(self, instance: Instance, expected: Mapping[str, JsonValue]) -> tuple[ConfigState, ...]:
        """Each key of `expected` beside what the instance says of it."""
        found = self.read_configuration(instance)
        return tuple(_compared(key, value, found) for key, value in sorted(expected.items()))

    @abstractmethod
    def collect_runtime_state(self, instance: Instance) -> RuntimeState:
        """What the instance did. Called after the agent ended, while it still runs."""

    @abstractmethod
    def stop(self, instance: Instance) -> None:
        """Stop it and give back what it holds. Nothing of it may go on afterwards."""

    def model_url(self, instance: Instance) -> str | None:
        """Where it takes model requests (an http URL on loopback); None if they do not pass through it."""
        del instance
        return None

    def launch(self, instance: Instance, invocation: Invocation) -> Invocation:
        """The agent's invocation as carried by the runtime; unchanged where it carries model requests alone."""
        del instance
        return invocation


def _compared(key: str, expected: JsonValue, found: Mapping[str, JsonValue]) -> ConfigState:
    if key not in found:
        return ConfigState(key=key, requested=expected, configured=expected, source="the runtime does not tell")
    same = found[key] == expected
    return ConfigState(
        key=key,
        requested=expected,
        configured=expected,
        effective=found[key],
        status=VerificationStatus.VERIFIED if same else VerificationStatus.MISMATCH,
        source="the running instance",
    )
