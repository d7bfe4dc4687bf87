"""What a plugin adapter implements: switch equipment of a runtime or an agent on, and show that it was at work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from akbench.spec.agent import AgentOutcome
from akbench.spec.measure import ConfigState, JsonValue, Reading
from akbench.spec.probe import Probe, ProbeContext
from akbench.spec.runtime import RuntimeState

__all__ = ["Plugin", "PluginEvidence", "PluginFinding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginEvidence:
    """What may tell of a plugin's work in one run.

    - `config`: the plugin's requested configuration.
    - `runtime`: what the runtime that it equips said of itself; None if it equips an agent.
    - `outcome`: what the agent's adapter could see; None if the agent did not run.
    """

    config: Mapping[str, JsonValue]
    runtime: RuntimeState | None
    outcome: AgentOutcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFinding:
    """What was found: each configuration key beside what was seen of it, and the plugin's metrics by id.

    `active` is True or False where a source other than the request shows it, None where nothing does; `source` names
    that source. That a plugin is configured is no sign that it works.
    """

    active: bool | None
    source: str | None = None
    config: tuple[ConfigState, ...] = ()
    metrics: Mapping[str, Reading] = field(default_factory=dict)


class Plugin(ABC):
    """Equipment of a runtime or an agent. Built without arguments, without state between calls."""

    @abstractmethod
    def probe(self, context: ProbeContext) -> Probe:
        """Find the plugin, its version and what keeps it from running here. Called before each experiment."""

    @abstractmethod
    def contribute(self, config: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        """The configuration keys of what it equips, with the values that switch it on as asked.

        Raises `InputError` for a configuration that it cannot use.
        """

    @abstractmethod
    def interpret(self, evidence: PluginEvidence) -> PluginFinding:
        """Say from the evidence of a run whether it worked, with what configuration, and how much it did."""
