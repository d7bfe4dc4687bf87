"""The runtime kind: an optional layer that carries an agent or its model requests; a router is one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from akbench.descriptors.configuration import ConfigurationKey, DeclaredSupport, NamedVariable, Observability
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Identifier
from akbench.descriptors.trial import RuntimeTrial

__all__ = ["RuntimeDescriptor", "RuntimePart"]

type Lifecycle = Literal["managed", "external"]


class RuntimePart(Part):
    """A runtime: which adapter manages it, what it carries and offers, how it is configured and observed."""

    adapter: Identifier
    """The id of the registered runtime adapter."""
    type: Literal["runtime", "router"]
    """A runtime runs the agent; a router stands between the agent and the models."""
    lifecycles: Annotated[tuple[Lifecycle, ...], Field(min_length=1)] = ("managed",)
    """managed: AK-Bench runs an instance of its own; external: it uses one that is there."""
    capabilities: dict[Identifier, DeclaredSupport] = Field(default_factory=dict)
    """What it can do, each true, false or unknown."""
    configuration_schema: dict[Identifier, ConfigurationKey] = Field(default_factory=dict)
    """The configuration keys it takes."""
    observability: Observability = Field(default_factory=dict)
    """What can be seen of its work: supported, unsupported or unverified."""
    environment: tuple[NamedVariable, ...] = ()
    """The only variables of the harness's environment that the adapter is given."""
    trial: RuntimeTrial | None = None
    """How the contract tests try it; they can say little about an adapter without."""


class RuntimeDescriptor(Descriptor):
    """A layer that carries an agent or its model requests."""

    runtime: RuntimePart
    """What it is."""
