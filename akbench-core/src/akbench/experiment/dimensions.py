"""The dimensions that an experiment varies: whether they can be set as asked, and to which variants they apply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import cast

from akbench.catalogue import Catalogue
from akbench.descriptors.kinds import AgentDescriptor, DimensionDescriptor, ModelDescriptor
from akbench.experiment.factors import Combination
from akbench.experiment.rejection import ExperimentSnapshot, Location, rejected
from akbench.spec import InputError, JsonValue

__all__ = ["Factor", "agent_name", "applying", "check_factors", "settings"]


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
    def key(self) -> str | None:
        """The agent's configuration key that it sets, or None if it sets none."""
        configure = self.descriptor.dimension.configure
        return configure.key if configure else None

    def place(self, value: JsonValue) -> Location:
        """Where one of its values stands."""
        return (*self.location, "values", self.values.index(value))


def check_factors(
    experiment: ExperimentSnapshot, catalogue: Catalogue, agents: Mapping[str, AgentDescriptor]
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
        _check_can_be_set(experiment, factor, agents)
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
        key = factors[name].key
        if key is not None and key not in agent.agent.configuration_schema:
            return False
        requires = factors[name].descriptor.dimension.requires
        return all(applies(other) and combination[other] in values for other, values in requires.items())

    return {name: value if applies(name) else None for name, value in combination.items()}


def settings(values: Combination, factors: Mapping[str, Factor]) -> dict[str, tuple[JsonValue, Location]]:
    """Agent's configuration key -> the value that the applying dimensions give it, and where that stands."""
    found: dict[str, tuple[JsonValue, Location]] = {}
    for name, value in values.items():
        factor = factors[name]
        if factor.key is not None and value is not None:
            found[factor.key] = factor.models.get(str(value), value), factor.place(value)
    return found


def _check_can_be_set(experiment: ExperimentSnapshot, factor: Factor, agents: Mapping[str, AgentDescriptor]) -> None:
    name, configure = factor.descriptor.id, factor.descriptor.dimension.configure
    message = None
    if configure is None:
        message = f"dimension {name!r} is not controllable; it can be observed, not varied"
    elif configure.target in {"runtime.config", "plugin.config"}:
        layer = configure.target.removesuffix(".config")
        message = (
            f"dimension {name!r} sets the configuration of a {layer}, and this version carries no {layer} out; "
            "vary a configuration key of the agent instead"
        )
    elif factor.key and not any(factor.key in agent.agent.configuration_schema for agent in agents.values()):
        message = f"none of the experiment's agents has the configuration key {factor.key!r} that {name!r} sets"
    if message:
        raise rejected(experiment, message, (*factor.location, "id"))


def _check_sets_alone(experiment: ExperimentSnapshot, factor: Factor, others: Mapping[str, Factor]) -> None:
    for name, other in others.items():
        if factor.descriptor.dimension.configure == other.descriptor.dimension.configure:
            what = f"the agent's configuration key {factor.key!r}" if factor.key else "the agent"
            message = f"dimensions {name!r} and {factor.descriptor.id!r} both set {what}; keep one of them"
            raise rejected(experiment, message, (*factor.location, "id"))


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
