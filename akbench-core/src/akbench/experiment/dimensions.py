"""The dimensions that an experiment varies: whether they can be set as asked, and to which variants they apply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import cast

from akbench.catalogue import Catalogue
from akbench.descriptors.kinds import AgentDescriptor, DimensionDescriptor, ModelDescriptor
from akbench.experiment.configuration import Placed
from akbench.experiment.factors import Combination
from akbench.experiment.layers import Layers
from akbench.experiment.rejection import ExperimentSnapshot, Location, rejected
from akbench.spec import InputError, JsonValue

__all__ = ["Factor", "Settings", "agent_name", "applying", "check_factors", "settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A dimension with the values it takes here and where it stands in the experiment's file.

    `models` holds, for a model_reference, the name that is sent to the provider for each value.
    """

    descriptor: DimensionDescriptor
    values: tuple[JsonValue, ...]
    location: Location
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def chooses_agent(self) -> bool:
        """Whether its values are agents."""
        return self.descriptor.dimension.type == "agent_reference"

    @property
    def target(self) -> str | None:
        """What it sets (see `TARGETS`), or None if it is not controllable."""
        configure = self.descriptor.dimension.configure
        return configure.target if configure else None

    @property
    def key(self) -> str | None:
        """The configuration key of the target that it sets, or None if it sets none or all of them."""
        configure = self.descriptor.dimension.configure
        return configure.key if configure else None

    @property
    def plugin(self) -> str | None:
        """The plugin that it configures, if it does."""
        configure = self.descriptor.dimension.configure
        return configure.plugin if configure else None

    def place(self, value: JsonValue) -> Location:
        """Where one of its values stands."""
        return (*self.location, "values", self.values.index(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the factors of one variant set, by configuration key: of its agent, of its runtime, of each plugin."""

    agent: Placed = field(default_factory=dict)
    runtime: Placed = field(default_factory=dict)
    plugins: Mapping[str, Placed] = field(default_factory=dict)


def check_factors(
    experiment: ExperimentSnapshot, catalogue: Catalogue, agents: Mapping[str, AgentDescriptor], layers: Layers
) -> dict[str, Factor]:
    """The factors by dimension id. `agents` are the experiment's, by name.

    Raises `PlanRejectedError` with the place of the first value or dimension that cannot be carried out.
    """
    found: dict[str, Factor] = {}
    for index, asked in enumerate(experiment.model.experiment.factors.dimensions):
        location: Location = ("experiment", "factors", "dimensions", index)
        try:
            descriptor = catalogue.dimension(asked.id).model
        except InputError as error:
            raise rejected(experiment, error.message, (*location, "id")) from error
        if asked.id in found:
            raise rejected(experiment, f"dimension {asked.id!r} stands here twice", (*location, "id"))
        factor = Factor(descriptor=descriptor, values=asked.values, location=location)
        _check_can_be_set(experiment, factor, agents, layers)
        _check_sets_alone(experiment, factor, found)
        _check_values(experiment, factor, agents)
        found[asked.id] = _with_models(experiment, factor, catalogue)
    _check_agent_is_chosen(experiment, found)
    _check_requirements(experiment, found)
    return found


def agent_name(combination: Combination, factors: Mapping[str, Factor]) -> str:
    """The name of the agent that a combination chooses; '' where none is varied."""
    return next((str(value) for name, value in combination.items() if factors[name].chooses_agent), "")


def applying(combination: Combination, factors: Mapping[str, Factor], agent: AgentDescriptor) -> Combination:
    """The combination with None for each dimension that has no meaning beside the others, or for the agent."""

    def applies(name: str) -> bool:
        factor = factors[name]
        if factor.target == "agent.config" and factor.key not in agent.agent.configuration_schema:
            return False
        if factor.target in {"runtime.config", "plugin.config"} and agent.agent.role == "control":
            return False
        requires = factor.descriptor.dimension.requires
        return all(applies(other) and combination[other] in values for other, values in requires.items())

    return {name: value if applies(name) else None for name, value in combination.items()}


def settings(values: Combination, factors: Mapping[str, Factor]) -> Settings:
    """What the applying dimensions set, and where each value stands."""
    agent: dict[str, tuple[JsonValue, Location]] = {}
    runtime: dict[str, tuple[JsonValue, Location]] = {}
    plugins: dict[str, dict[str, tuple[JsonValue, Location]]] = {}
    for name, value in values.items():
        factor = factors[name]
        if value is None or factor.chooses_agent:
            continue
        place = factor.place(value)
        chosen: dict[str, tuple[JsonValue, Location]]
        if factor.key is not None:
            chosen = {factor.key: (factor.models.get(str(value), value), place)}
        else:
            chosen = {key: (each, place) for key, each in cast("dict[str, JsonValue]", value).items()}
        targets = {"agent.config": agent, "runtime.config": runtime}
        target = targets.get(str(factor.target))
        (plugins.setdefault(str(factor.plugin), {}) if target is None else target).update(chosen)
    return Settings(agent=agent, runtime=runtime, plugins=plugins)


def _check_can_be_set(
    experiment: ExperimentSnapshot, factor: Factor, agents: Mapping[str, AgentDescriptor], layers: Layers
) -> None:
    name, configure = factor.descriptor.id, factor.descriptor.dimension.configure
    message = None
    if configure is None:
        message = f"dimension {name!r} is not controllable; it can be observed, not varied"
    elif configure.target == "runtime.config":
        message = _runtime_fault(factor, layers)
    elif configure.target == "plugin.config":
        message = _plugin_fault(factor, layers)
    elif factor.key and not any(factor.key in agent.agent.configuration_schema for agent in agents.values()):
        message = f"none of the experiment's agents has the configuration key {factor.key!r} that {name!r} sets"
    if message:
        raise rejected(experiment, message, (*factor.location, "id"))


def _runtime_fault(factor: Factor, layers: Layers) -> str | None:
    name = factor.descriptor.id
    if layers.runtime is None:
        return f"dimension {name!r} sets the configuration of a runtime, and none takes part; add execution.runtime"
    if factor.key and factor.key not in layers.runtime.runtime.configuration_schema:
        return f"runtime {layers.runtime.id!r} has no configuration key {factor.key!r}, which {name!r} sets"
    return None


def _plugin_fault(factor: Factor, layers: Layers) -> str | None:
    name, plugin = factor.descriptor.id, str(factor.plugin)
    if plugin not in layers.plugins:
        return f"dimension {name!r} configures the plugin {plugin!r}, which takes no part; add it to execution.plugins"
    if factor.key and factor.key not in layers.plugins[plugin].plugin.configuration_schema:
        return f"plugin {plugin!r} has no configuration key {factor.key!r}, which {name!r} sets"
    return None


def _check_sets_alone(experiment: ExperimentSnapshot, factor: Factor, others: Mapping[str, Factor]) -> None:
    for name, other in others.items():
        if factor.descriptor.dimension.configure == other.descriptor.dimension.configure:
            what = _what_is_set(factor)
            message = f"dimensions {name!r} and {factor.descriptor.id!r} both set {what}; keep one of them"
            raise rejected(experiment, message, (*factor.location, "id"))


def _what_is_set(factor: Factor) -> str:
    if factor.chooses_agent:
        return "the agent"
    owner = {"agent.config": "the agent", "runtime.config": "the runtime"}.get(str(factor.target), f"{factor.plugin!r}")
    return f"the configuration key {factor.key!r} of {owner}" if factor.key else f"the configuration of {owner}"


def _check_values(experiment: ExperimentSnapshot, factor: Factor, agents: Mapping[str, AgentDescriptor]) -> None:
    for index, value in enumerate(factor.values):
        place = (*factor.location, "values", index)
        if fault := factor.descriptor.dimension.fault(value):
            raise rejected(experiment, f"{value!r} is no value of {factor.descriptor.id!r}: {fault}", place)
        if value in factor.values[:index]:
            raise rejected(experiment, f"{value!r} stands here twice", place)
        if factor.chooses_agent and not (value and value in agents):
            known = ", ".join(sorted(name for name in agents if name))
            raise rejected(experiment, f"no agent {value!r} under experiment.agents; named there: {known}", place)


def _with_models(experiment: ExperimentSnapshot, factor: Factor, catalogue: Catalogue) -> Factor:
    if factor.descriptor.dimension.type != "model_reference":
        return factor
    models: dict[str, str] = {}
    for value in factor.values:
        try:
            models[str(value)] = cast("ModelDescriptor", catalogue.find("model", str(value)).model).model.name
        except InputError as error:
            raise rejected(experiment, error.message, factor.place(value)) from error
    return replace(factor, models=models)


def _check_agent_is_chosen(experiment: ExperimentSnapshot, factors: Mapping[str, Factor]) -> None:
    if not any(factor.chooses_agent for factor in factors.values()) and experiment.model.experiment.agent is None:
        message = "agents are named but no factor chooses among them; add the dimension agent, or use agent instead"
        raise rejected(experiment, message, ("experiment", "agents"))


def _check_requirements(experiment: ExperimentSnapshot, factors: Mapping[str, Factor]) -> None:
    for name, factor in factors.items():
        for other, values in factor.descriptor.dimension.requires.items():
            if message := _requirement_fault(other, values, factors):
                place = (*factor.location, "id")
                raise rejected(experiment, f"dimension {name!r} depends on {other!r}, {message}", place)
    try:
        TopologicalSorter({name: factor.descriptor.dimension.requires for name, factor in factors.items()}).prepare()
    except CycleError as error:
        message = f"dimensions depend on each other in a circle: {' -> '.join(error.args[1])}"
        raise rejected(experiment, message, ("experiment", "factors", "dimensions")) from error


def _requirement_fault(name: str, values: tuple[JsonValue, ...], factors: Mapping[str, Factor]) -> str | None:
    wanted = " or ".join(map(str, values))
    if name not in factors:
        return f"which is not varied here; add it with the value {wanted}"
    for value in values:
        if fault := factors[name].descriptor.dimension.fault(value):
            return f"but {value!r} is no value of that: {fault}"
    if not any(value in factors[name].values for value in values):
        return f"which never has the value {wanted} here, so it would never apply"
    return None
