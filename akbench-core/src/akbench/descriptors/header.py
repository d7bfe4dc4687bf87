"""What every descriptor has in common: the header, and the strictness of its sections."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from akbench.descriptors.scalars import Identifier, Version

__all__ = ["SCHEMA_VERSION", "Descriptor", "Part"]

SCHEMA_VERSION = "1.0"
"""The version of all models here. Older descriptors are brought to it by `akbench.descriptors.migration`."""


class Part(BaseModel):
    """A section of a descriptor; unknown keys are errors and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Descriptor(Part):
    """What every descriptor says, beside the section that is named after its kind."""

    schema_version: Literal["1.0"]
    """The version of this format, in quotes."""
    id: Identifier
    """The name by which other files refer to it; unique within its kind."""
    version: Version
    """The descriptor's own version; raise it with every change of meaning."""
    title: str = ""
    """One line for listings and reports."""
    description: str = ""
    """What a reader should know about it."""
