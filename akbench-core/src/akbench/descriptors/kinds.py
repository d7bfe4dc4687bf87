"""The descriptor kinds as pydantic models. Field meanings are part of the model; unknown keys are errors."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from akbench.spec import CAPABILITIES, JsonValue, Support

__all__ = [
    "KINDS",
    "AgentDescriptor",
    "CategoryDescriptor",
    "Descriptor",
    "DimensionDescriptor",
    "EvaluatorDescriptor",
    "ExperimentDescriptor",
    "MetricDescriptor",
    "ModelEndpoint",
    "Part",
    "TaskDescriptor",
]

SCHEMA_VERSION = "1.0"
IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[^\s;=*]+")
VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")


def _identifier(value: str) -> str:
    if not IDENTIFIER.fullmatch(value):
        raise ValueError(f"{value!r} is no identifier: letters, digits, '.', '_' and '-', at most 100")
    return value


def _version(value: str) -> str:
    if not VERSION.fullmatch(value):
        raise ValueError(f"{value!r} is no version such as 1.0.0")
    return value


def _pinned(value: str) -> str:
    if not PINNED.fullmatch(value):
        raise ValueError(f"{value!r} is not pinned; write name==version, for the whole closure")
    return value


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or ":" in value:
        raise ValueError(f"{value!r} must be a relative path that stays inside, without ':'")
    return value


def _below(value: str) -> str:
    if not PurePosixPath(_inside(value)).parts:
        raise ValueError(f"{value!r} must be a relative path that stays inside")
    return value


def _glob(value: str) -> str:
    parts = value.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{value!r} matches nothing: write a relative path such as tests/**, without '.' and '..'")
    return value


def _base_url(value: str) -> str:
    try:
        url = urlsplit(value)
        good = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError as error:
        raise ValueError(f"{value!r} is no URL: {error}") from error
    if not good or any(char.isspace() or not char.isprintable() for char in value):
        raise ValueError(f"{value!r} is no URL such as https://api.example.com/v1")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise ValueError("a base URL has no user, password, query or fragment; name the key's variable in api_key_env")
    return value


Identifier = Annotated[str, AfterValidator(_identifier)]
Version = Annotated[str, AfterValidator(_version)]
Pinned = Annotated[str, AfterValidator(_pinned)]
Folder = Annotated[str, AfterValidator(_inside)]
"""A folder relative to some root, or the root itself (``.``)."""
RelativePath = Annotated[str, AfterValidator(_below)]
"""A path below some root."""
Glob = Annotated[str, AfterValidator(_glob)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
# Strict: what YAML tells apart (1, 1.0, true, "1") is never taken for one another.
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=1)]
Seconds = Annotated[float, Field(strict=True, gt=0, le=7 * 24 * 3600)]


class Part(BaseModel):
    """A section of a descriptor; unknown keys are errors and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Descriptor(Part):
    """What every descriptor says: the version of its schema, its id and its own version."""

    schema_version: Literal["1.0"]
    id: Identifier
    version: Version
    title: str = ""
    description: str = ""


class ConfigurationKey(Part):
    """One configuration value of an agent: its type, whether AK-Bench can set it, its default and allowed values."""

    type: Literal["string", "integer", "float", "boolean", "list", "mapping"]
    controllable: Flag = True
    required: Flag = False
    default: JsonValue = None
    allowed: tuple[JsonValue, ...] | None = None
    description: str = ""


class NamedVariable(Part):
    """A variable of the harness's environment that the adapter may read. Of a sensitive one only is_set is kept."""

    name: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]
    sensitive: Flag
    description: str = ""


def _support(value: Any) -> Any:
    return {True: Support.YES, False: Support.NO}.get(value, value) if isinstance(value, bool) else value


class AgentPart(Part):
    """An agent: which adapter carries it out, what it can do, how it is configured and observed.

    `role` control marks agents that check the benchmark itself (they are shown apart from contestants);
    `receives_reference_solution` hands the task's solution to the adapter and is only allowed for controls.
    """

    adapter: Identifier
    execution_type: Literal["process"]
    role: Literal["contestant", "control"] = "contestant"
    receives_reference_solution: Flag = False
    needs_model: Flag = False
    capabilities: dict[str, Support]
    configuration_schema: dict[Identifier, ConfigurationKey] = {}
    observability: dict[str, Literal["supported", "unsupported", "unverified"]] = {}
    environment: tuple[NamedVariable, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_capabilities(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("capabilities"), dict):
            return data | {"capabilities": {key: _support(value) for key, value in data["capabilities"].items()}}
        return data

    @model_validator(mode="after")
    def _check(self) -> AgentPart:
        missing = [name for name in CAPABILITIES if name not in self.capabilities]
        if missing:
            raise ValueError(f"capabilities: say true, false or unknown for {', '.join(missing)}")
        if self.receives_reference_solution and self.role != "control":
            raise ValueError("receives_reference_solution: only an agent of role control may be given the solution")
        return self


class AgentDescriptor(Descriptor):
    """The agent kind."""

    agent: AgentPart


class CategoryPart(Part):
    """A category of tasks; `judged_by` says in words what a solution must show."""

    judged_by: str = ""


class CategoryDescriptor(Descriptor):
    """The category kind."""

    category: CategoryPart = CategoryPart()


class TaskEnvironment(Part):
    """The prepared environment of a task: a Python version, the whole pinned closure, import folders."""

    python: Annotated[str, Field(pattern=r"^3\.\d+$")] = "3.12"
    requirements: tuple[Pinned, ...] = ()
    python_path: tuple[Folder, ...] = (".",)


class TaskLimits(Part):
    """Upper bounds of a task, in seconds."""

    timeout_seconds: Seconds | None = None


class TaskPart(Part):
    """A task: category, difficulty, tags, environment, protected paths (globs), limits."""

    category: Identifier
    difficulty: Literal["easy", "medium", "hard", "expert"]
    tags: tuple[str, ...] = ()
    environment: TaskEnvironment = TaskEnvironment()
    protected: tuple[Glob, ...] = ()
    limits: TaskLimits = TaskLimits()


class TaskDescriptor(Descriptor):
    """The task kind: ``task.yaml``."""

    task: TaskPart


class EvaluatorPart(Part):
    """An evaluator: the adapter and its configuration; a task's ``evaluator.yaml`` overrides registered defaults."""

    adapter: Identifier
    config: dict[str, JsonValue] = {}
    configuration_schema: dict[Identifier, ConfigurationKey] = {}


class EvaluatorDescriptor(Descriptor):
    """The evaluator kind."""

    evaluator: EvaluatorPart


class Configure(Part):
    """Where a dimension's value is put: ``agent`` chooses the agent, ``agent.config`` sets `key` of its config."""

    target: Literal["agent", "agent.config"]
    key: Identifier | None = None

    @model_validator(mode="after")
    def _check(self) -> Configure:
        if (self.target == "agent.config") != (self.key is not None):
            raise ValueError("key: needed for target agent.config, and only there")
        return self


class DimensionPart(Part):
    """A factor of experiments: its type, allowed values, whether and how it is set, and how it would be verified."""

    type: Literal["boolean", "categorical", "integer", "float", "string", "agent_reference"]
    values: tuple[JsonValue, ...] | None = None
    controllable: Flag
    source: str = ""
    configure: Configure | None = None
    verify: dict[str, JsonValue] = {}

    @model_validator(mode="after")
    def _check(self) -> DimensionPart:
        if self.controllable and self.configure is None:
            raise ValueError("configure: a controllable dimension must say where its value is put")
        return self


class DimensionDescriptor(Descriptor):
    """The dimension kind."""

    dimension: DimensionPart


class MetricPart(Part):
    """A metric: its unit, which direction is better (or neither), and the adapter that derives it."""

    adapter: Identifier
    unit: str
    better: Literal["higher", "lower", "neither"]


class MetricDescriptor(Descriptor):
    """The metric kind."""

    metric: MetricPart


class AgentReference(Part):
    """An agent with the configuration asked for."""

    id: Identifier
    version: Version | None = None
    config: dict[Identifier, JsonValue] = {}


class ModelEndpoint(Part):
    """What answers model requests: a provider (base URL and the variable that holds its key) or a scripted model."""

    base_url: BaseUrl | None = None
    api_key_env: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] | None = None
    scripted: RelativePath | None = None

    @model_validator(mode="after")
    def _check(self) -> ModelEndpoint:
        if (self.base_url is None) == (self.scripted is None):
            raise ValueError("give either base_url (with api_key_env if the provider wants a key) or scripted")
        if self.scripted is not None and self.api_key_env is not None:
            raise ValueError("api_key_env: a scripted model takes no key")
        return self


class Execution(Part):
    """How the agent is run and what answers its model requests."""

    mode: Literal["direct", "runtime", "router"] = "direct"
    model_endpoint: ModelEndpoint | None = None


class Filters(Part):
    """Which tasks of the dataset take part; an empty list means all."""

    categories: tuple[Identifier, ...] = ()
    difficulties: tuple[Literal["easy", "medium", "hard", "expert"], ...] = ()
    tags: tuple[str, ...] = ()
    task_ids: tuple[Identifier, ...] = ()


class DatasetReference(Part):
    """The dataset and the tasks of it."""

    id: Identifier
    version: Version
    filters: Filters = Filters()


class FactorDimension(Part):
    """A dimension and the values it takes here."""

    id: Identifier
    values: Annotated[tuple[JsonValue, ...], Field(min_length=1)]


class Factors(Part):
    """The factors and how they are combined; `baseline` picks the variant that the others are compared with."""

    strategy: Literal["full_factorial"] = "full_factorial"
    dimensions: tuple[FactorDimension, ...] = ()
    baseline: dict[Identifier, JsonValue] = {}


class ExecutionPolicy(Part):
    """Repetitions (count), concurrency (runs at once), wall clock of the agent (seconds), most runs allowed."""

    repetitions: Annotated[Count, Field(le=1000)] = 1
    concurrency: Annotated[Count, Field(le=64)] = 1
    timeout_seconds: Seconds = 1800
    max_runs: Count = 10_000


class Isolation(Part):
    """How runs are kept apart; ``auto`` takes the strongest sandbox that works on this host."""

    sandbox: Identifier = "auto"
    workspace_per_run: Literal[True] = True
    fresh_agent_session: Literal[True] = True
    clean_agent_context: Literal[True] = True


class Evaluation(Part):
    """The evaluators that may judge; every task's evaluator must be among them."""

    evaluators: Annotated[tuple[Identifier, ...], Field(min_length=1)]


class Requirements(Part):
    """Capabilities that every compared agent must have; ``best_effort`` marks a missing one instead of refusing."""

    capabilities: tuple[str, ...] = ()
    mode: Literal["strict", "best_effort"] = "strict"

    @model_validator(mode="after")
    def _check(self) -> Requirements:
        unknown = [name for name in self.capabilities if name not in CAPABILITIES]
        if unknown:
            raise ValueError(f"capabilities: unknown {', '.join(unknown)}; known: {', '.join(CAPABILITIES)}")
        return self


class Reporting(Part):
    """What is written when the experiment ends."""

    generate_html: Flag = True


class ExperimentPart(Part):
    """An experiment: agents, dataset, factors, policy, isolation, evaluators, metrics.

    `agents` names configured agents; a dimension of type agent_reference takes its values from these names.
    `agent` is the one used where no such dimension varies it.
    """

    type: Literal["configuration"]
    agent: AgentReference | None = None
    agents: dict[Identifier, AgentReference] = {}
    execution: Execution = Execution()
    dataset: DatasetReference
    factors: Factors = Factors()
    requires: Requirements = Requirements()
    execution_policy: ExecutionPolicy = ExecutionPolicy()
    isolation: Isolation = Isolation()
    evaluation: Evaluation
    metrics: tuple[Identifier, ...] = ()
    reporting: Reporting = Reporting()

    @model_validator(mode="after")
    def _check(self) -> ExperimentPart:
        if self.agent is None and not self.agents:
            raise ValueError("agent: name the agent to test (or several under agents, with an agent dimension)")
        return self


class ExperimentDescriptor(Descriptor):
    """The experiment kind."""

    experiment: ExperimentPart


KINDS: dict[str, type[Descriptor]] = {
    "agent": AgentDescriptor,
    "category": CategoryDescriptor,
    "dimension": DimensionDescriptor,
    "evaluator": EvaluatorDescriptor,
    "experiment": ExperimentDescriptor,
    "metric": MetricDescriptor,
    "task": TaskDescriptor,
}
"""Kind -> model. A descriptor's kind is the name of its one section beside the header."""
