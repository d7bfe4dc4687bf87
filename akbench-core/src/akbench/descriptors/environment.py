"""The environment kind: where runs take place and what bounds them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Count, Identifier, Number

__all__ = ["EnvironmentDescriptor", "EnvironmentPart"]

_LEAST_MEMORY = 32 << 20

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
    """Upper bounds of one process tree: of a run's agent, and again of its evaluation.

    What is left out has the bound that the sandbox sets itself, if any.
    """

    memory_bytes: Annotated[Count, Field(ge=_LEAST_MEMORY)] | None = None
    """Memory of all processes together, and of the files in temporary folders that lie in memory.

    At least 32 MiB: with less no interpreter starts.
    """
    cpus: Annotated[Number, Field(gt=0)] | None = None
    """Processors, fractions included."""
    processes: Count | None = None
    """Processes at once."""
    disk_bytes: Count | None = None
    """What the writable folders hold together on the disk; who exceeds it is ended."""
    files: Count | None = None
    """How many files are in them, folders and links counted; who exceeds it is ended."""
    file_bytes: Count | None = None
    """The size of any one file; writing beyond it fails."""
    output_bytes: Count | None = None
    """What is kept of stdout, and of stderr; the rest is dropped."""


class EnvironmentPart(Part):
    """An execution environment: the sandbox and its bounds.

    A plan that asks for something its sandbox cannot do is refused, or says so with requires.mode best_effort.
    """

    sandbox: Identifier
    """The id of the registered sandbox."""
    image: str | None = None
    """The image, for sandboxes that run one; the sandbox's own if left out. It is never fetched on the quiet."""
    network: NetworkAccess = NetworkAccess()
    """What a run can reach."""
    limits: ResourceLimits = ResourceLimits()
    """Upper bounds."""
    read_only_root: Literal[True] = True
    """Everything but the workspace, the home and the temporary folder is read-only; there is no other way."""


class EnvironmentDescriptor(Descriptor):
    """Where runs take place and what bounds them."""

    environment: EnvironmentPart
    """What it is."""
