"""The environment kind: where runs take place and what bounds them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Count, Flag, Identifier, Number

__all__ = ["EnvironmentDescriptor", "EnvironmentPart"]

type Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:\d{1,5})?$")]


class NetworkAccess(Part):
    """What a run can reach besides its model endpoint."""

    access: Literal["none", "allow_list"] = "none"
    """Nothing, or the hosts of the list."""
    allow: tuple[Host, ...] = ()
    """Hosts, each name or name:port."""

    @model_validator(mode="after")
    def _check(self) -> NetworkAccess:
        if (self.access == "allow_list") != bool(self.allow):
            raise ValueError("allow: needed for access allow_list, and only there")
        return self


class ResourceLimits(Part):
    """Upper bounds of one run's sandbox; none if left out."""

    memory_bytes: Count | None = None
    """Memory of all processes together."""
    cpus: Annotated[Number, Field(gt=0)] | None = None
    """Processors, fractions included."""
    processes: Count | None = None
    """Processes at once."""


class EnvironmentPart(Part):
    """An execution environment: the sandbox and its bounds."""

    sandbox: Identifier
    """The id of the registered sandbox."""
    image: str | None = None
    """The image, for sandboxes that run one."""
    network: NetworkAccess = NetworkAccess()
    """What a run can reach."""
    limits: ResourceLimits = ResourceLimits()
    """Upper bounds."""
    read_only_root: Flag = True
    """Whether everything but the workspace, the home and the temporary folder is read-only."""


class EnvironmentDescriptor(Descriptor):
    """Where runs take place and what bounds them."""

    environment: EnvironmentPart
    """What it is."""
