"""The agent kind: the tested system that does a task."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from akbench.descriptors.configuration import ConfigurationKey, DeclaredSupport, NamedVariable
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Flag, Identifier, Version
from akbench.descriptors.trial import AgentTrial
from akbench.spec import CAPABILITIES, JsonValue

__all__ = ["AgentDescriptor", "AgentPart", "AgentReference"]

_SUPPORT: dict[str, Any] = {"enum": [True, False, "unknown", "yes", "no"]}

type Capabilities = Annotated[
    dict[str, DeclaredSupport],
    WithJsonSchema(
        {
            "type": "object",
            "properties": dict.fromkeys(CAPABILITIES, _SUPPORT),
            "additionalProperties": _SUPPORT,
            "required": list(CAPABILITIES),
        }
    ),
]


class AgentPart(Part):
    """An agent: which adapter carries it out, what it can do, how it is configured and observed."""

    adapter: Identifier
    """The id of the registered agent adapter."""
    execution_type: Literal["process", "http", "service"]
    """process: AK-Bench starts it in the sandbox; http: an API takes tasks and gives back results; service: it runs
    already and works on the folder it is told. The last two work outside the sandbox."""
    role: Literal["contestant", "control"] = "contestant"
    """A control checks the benchmark itself and is shown apart from contestants."""
    receives_reference_solution: Flag = False
    """Hands the task's solution to the adapter; only for controls."""
    needs_model: Flag = False
    """Whether it cannot work without a model endpoint."""
    capabilities: Capabilities
    """true, false or unknown for each of the fourteen capabilities, and for any further one."""
    configuration_schema: dict[Identifier, ConfigurationKey] = Field(default_factory=dict)
    """The configuration keys it takes."""
    observability: dict[str, Literal["supported", "unsupported", "unverified"]] = Field(default_factory=dict)
    """What can be seen of its work: supported, unsupported or unverified."""
    environment: tuple[NamedVariable, ...] = ()
    """The only variables of the harness's environment that the adapter is given."""
    trial: AgentTrial | None = None
    """How the contract tests try it; they can say little about an adapter without."""

    @field_validator("capabilities")
    @classmethod
    def _check_capabilities(cls, given: Capabilities) -> Capabilities:
        missing = [name for name in CAPABILITIES if name not in given]
        if missing:
            raise ValueError(f"say true, false or unknown for {', '.join(missing)}")
        return given

    @model_validator(mode="after")
    def _check(self) -> AgentPart:
        if self.needs_model and self.execution_type != "process":
            raise ValueError("needs_model: only an agent of execution_type process can be given a model endpoint")
        if self.receives_reference_solution and self.role != "control":
            raise ValueError("receives_reference_solution: only an agent of role control may be given the solution")
        return self


class AgentDescriptor(Descriptor):
    """The tested system that does a task."""

    agent: AgentPart
    """What it is."""


class AgentReference(Part):
    """An agent with the configuration asked for."""

    id: Identifier
    """The agent descriptor."""
    version: Version | None = None
    """The version of the descriptor that is meant; any if left out."""
    config: dict[Identifier, JsonValue] = Field(default_factory=dict)
    """Values for the agent's configuration keys."""
