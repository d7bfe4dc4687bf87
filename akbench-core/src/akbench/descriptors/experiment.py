"""The experiment kind: who does which tasks, with what varied, and how it is judged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from akbench.descriptors.agent import AgentReference
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import (
    BaseUrl,
    Count,
    Difficulty,
    Flag,
    Identifier,
    RelativePath,
    Seconds,
    VariableName,
    Version,
)
from akbench.spec import CAPABILITIES, JsonValue

__all__ = [
    "ExperimentDescriptor",
    "ExperimentPart",
    "FactorDimension",
    "Filters",
    "ModelEndpoint",
    "PluginReference",
    "RuntimeReference",
]


class ModelEndpoint(Part):
    """What answers model requests: a provider, or a scripted model."""

    base_url: BaseUrl | None = None
    """The provider's base URL."""
    api_key_env: VariableName | None = None
    """The variable of the harness's environment that holds the provider's key."""
    scripted: RelativePath | None = None
    """The file of a scripted model, relative to the project."""

    @model_validator(mode="after")
    def _check(self) -> ModelEndpoint:
        if (self.base_url is None) == (self.scripted is None):
            raise ValueError("give either base_url (with api_key_env if the provider wants a key) or scripted")
        if self.scripted is not None and self.api_key_env is not None:
            raise ValueError("api_key_env: a scripted model takes no key")
        return self


class RuntimeReference(Part):
    """A runtime with the configuration asked for."""

    id: Identifier
    """The runtime descriptor."""
    version: Version | None = None
    """The version of the descriptor that is meant; any if left out."""
    config: dict[Identifier, JsonValue] = Field(default_factory=dict)
    """Values for the runtime's configuration keys."""


class PluginReference(Part):
    """A plugin with the configuration asked for."""

    id: Identifier
    """The plugin descriptor."""
    version: Version | None = None
    """The version of the descriptor that is meant; any if left out."""
    config: dict[Identifier, JsonValue] = Field(default_factory=dict)
    """Values for the plugin's configuration keys."""


class Execution(Part):
    """How the agent is run and what answers its model requests."""

    mode: Literal["direct", "runtime", "router"] = "direct"
    """Whether the agent runs by itself, is run by a runtime, or sends its model requests through a router."""
    runtime: RuntimeReference | None = None
    """The runtime or router, for these two modes. Each run has an instance of its own; controls run without it."""
    plugins: tuple[PluginReference, ...] = ()
    """The plugins of the runtime or of the agents that are switched on; controls run without them."""
    model_endpoint: ModelEndpoint | None = None
    """What answers its model requests."""

    @model_validator(mode="after")
    def _check(self) -> Execution:
        if (self.mode == "direct") != (self.runtime is None):
            raise ValueError("runtime: needed for the modes runtime and router, and only there")
        if len({plugin.id for plugin in self.plugins}) < len(self.plugins):
            raise ValueError("plugins: the same plugin stands here twice")
        return self


class Filters(Part):
    """Which tasks of the dataset take part; an empty list means all."""

    categories: tuple[Identifier, ...] = ()
    """Only these categories."""
    difficulties: tuple[Difficulty, ...] = ()
    """Only these difficulties."""
    tags: tuple[str, ...] = ()
    """Only tasks with at least one of these tags."""
    task_ids: tuple[Identifier, ...] = ()
    """Only these tasks."""
    relations: tuple[Literal["same", "related", "misleading"], ...] = ()
    """Only tasks that stand in such a relation to another one, whichever of the two says so."""
    related_to: tuple[Identifier, ...] = ()
    """Only these tasks and those that stand in a relation to one of them (of the kinds in relations, if given)."""


class DatasetReference(Part):
    """The dataset and the tasks of it."""

    id: Identifier
    """The dataset."""
    version: Version
    """Its version."""
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The hash that `akbench dataset freeze` printed; with it the dataset must be frozen and exactly that one."""
    filters: Filters = Filters()
    """Which of its tasks."""


class FactorDimension(Part):
    """A dimension and the values it takes here."""

    id: Identifier
    """The dimension descriptor."""
    values: Annotated[tuple[JsonValue, ...], Field(min_length=1)]
    """The values, each of the dimension's type."""


class Factors(Part):
    """The factors and how they are combined."""

    strategy: Literal["full_factorial"] = "full_factorial"
    """Every combination of all values."""
    dimensions: tuple[FactorDimension, ...] = ()
    """What is varied; the first varies slowest."""
    baseline: dict[Identifier, JsonValue] = Field(default_factory=dict)
    """Dimension values that pick the one variant with which the others are compared."""


class ExecutionPolicy(Part):
    """How often, how many at once, how long, how many at most."""

    repetitions: Annotated[Count, Field(le=1000)] = 1
    """How often each variant does each task."""
    concurrency: Annotated[Count, Field(le=64)] = 1
    """Runs at once."""
    timeout_seconds: Seconds = 1800
    """Wall clock of the agent, in seconds."""
    max_runs: Count = 10_000
    """A plan with more runs is refused."""


class Isolation(Part):
    """How runs are kept apart."""

    environment: Identifier = "auto"
    """The environment descriptor: sandbox, image and bounds. Each sandbox brings one with its own id (bubblewrap,
    docker, local); auto takes the first of those that works here: bubblewrap, docker, then local.
    """
    workspace_per_run: Literal[True] = True
    """Each run has a workspace of its own; there is no other way."""
    fresh_agent_session: Literal[True] = True
    """Each run has a session of its own; there is no other way."""
    clean_agent_context: Literal[True] = True
    """Each run begins without memory of others; there is no other way."""


class Evaluation(Part):
    """Who may judge."""

    evaluators: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    """The evaluators; every task's evaluator must be among them."""


class Requirements(Part):
    """What every compared agent must be able to do."""

    capabilities: tuple[str, ...] = ()
    """The capabilities."""
    mode: Literal["strict", "best_effort"] = "strict"
    """Whether a missing one refuses the plan or is marked."""

    @model_validator(mode="after")
    def _check(self) -> Requirements:
        unknown = [name for name in self.capabilities if name not in CAPABILITIES]
        if unknown:
            raise ValueError(f"capabilities: unknown {', '.join(unknown)}; known: {', '.join(CAPABILITIES)}")
        return self


class Reporting(Part):
    """What is written when the experiment ends."""

    generate_html: Flag = True
    """Whether a report is written."""


class ExperimentPart(Part):
    """An experiment. ``agent`` is the one used where no dimension of type agent_reference varies it."""

    type: Literal["configuration"]
    """Configurations are compared."""
    agent: AgentReference | None = None
    """The agent to test."""
    agents: dict[Identifier, AgentReference] = Field(default_factory=dict)
    """Agents by name, for a dimension of type agent_reference."""
    execution: Execution = Execution()
    """How agents are run."""
    dataset: DatasetReference
    """The tasks."""
    factors: Factors = Factors()
    """What is varied."""
    requires: Requirements = Requirements()
    """What the agents must be able to do."""
    execution_policy: ExecutionPolicy = ExecutionPolicy()
    """Repetitions and bounds."""
    isolation: Isolation = Isolation()
    """How runs are kept apart."""
    evaluation: Evaluation
    """Who may judge."""
    metrics: tuple[Identifier, ...] = ()
    """The metrics to derive; all registered ones if empty."""
    reporting: Reporting = Reporting()
    """What is written at the end."""

    @model_validator(mode="after")
    def _check(self) -> ExperimentPart:
        if self.agent is None and not self.agents:
            raise ValueError("agent: name the agent to test (or several under agents, with an agent dimension)")
        return self


class ExperimentDescriptor(Descriptor):
    """Who does which tasks, with what varied, and how it is judged."""

    experiment: ExperimentPart
    """What it is."""
