"""The plugin kind: equipment of a runtime or an agent whose effect is measured."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from akbench.descriptors.configuration import ConfigurationKey
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Flag, Identifier, VariableName
from akbench.descriptors.trial import PluginTrial

__all__ = ["ObservedVariable", "PluginBenchmark", "PluginDescriptor", "PluginPart"]


class PluginPart(Part):
    """A plugin: whose equipment it is, what it can do, what it needs and how it is configured."""

    provider: Identifier
    """The runtime or agent that it equips."""
    type: Identifier
    """What it is for, in one word, such as knowledge or routing."""
    adapter: Identifier | None = None
    """The id of the registered plugin adapter; without one it can be described, not carried out."""
    capabilities: tuple[Identifier, ...] = ()
    """What it can do."""
    dependencies: tuple[Identifier, ...] = ()
    """The plugins that must be active with it."""
    configuration_schema: dict[Identifier, ConfigurationKey] = Field(default_factory=dict)
    """The configuration keys it takes."""
    trial: PluginTrial | None = None
    """How the contract tests try it; they can say little about an adapter without."""


class Activation(Part):
    """How a plugin is switched on."""

    method: Identifier
    """The way that the adapter takes, such as router_configuration."""


class Verification(Part):
    """How it is shown that a plugin was active. Its configuration alone proves nothing."""

    required: Flag = True
    """Whether a run counts only when its activity was confirmed."""
    methods: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    """The sources that can confirm it."""


class ObservedVariable(Part):
    """A variable of the plugin's environment, named in the plugin's own documentation or code."""

    name: VariableName
    """The variable's name."""
    type: Literal["boolean", "integer", "float", "string"]
    """How its text is read."""
    role: Identifier
    """What it decides, such as feature_toggle or infrastructure."""
    observed: Flag
    """Whether its state is recorded with each run."""
    dimension: Flag
    """Whether it may be a factor of experiments."""
    controllable: Flag
    """Whether AK-Bench can safely change it."""
    sensitive: Flag
    """Whether its value must never be stored; then only whether it is set is recorded."""
    description: str = ""
    """Where the name and meaning come from."""

    @model_validator(mode="after")
    def _check(self) -> ObservedVariable:
        if self.sensitive and self.dimension:
            raise ValueError("dimension: the value of a sensitive variable is never stored, so it cannot be a factor")
        return self


class PluginBenchmark(Part):
    """How a plugin takes part in experiments."""

    enabled: Flag = True
    """Whether experiments may use it."""
    activation: Activation
    """How it is switched on."""
    verification: Verification
    """How its activity is confirmed."""
    observed_env: tuple[ObservedVariable, ...] = ()
    """The only variables of its environment that are looked at."""
    metrics: tuple[Identifier, ...] = ()
    """The metrics that its adapter reports."""
    dimensions: tuple[Identifier, ...] = ()
    """The dimensions that vary it."""


class PluginDescriptor(Descriptor):
    """Equipment of a runtime or an agent whose effect is measured."""

    plugin: PluginPart
    """What it is."""
    benchmark: PluginBenchmark
    """How it takes part in experiments."""
