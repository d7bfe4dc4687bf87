"""The model kind: what answers an agent's requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from akbench.descriptors.configuration import ConfigurationKey
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Count, Flag, Identifier

__all__ = ["ModelDescriptor", "ModelPart"]


class ModelPart(Part):
    """A model: what it is called in requests and in answers, and what it can be asked with."""

    provider: Identifier
    """Who serves it."""
    name: Annotated[str, Field(min_length=1)]
    """The name that a request carries."""
    answers_as: tuple[str, ...] = ()
    """Names under which the provider reports it, when they differ from the one asked for."""
    dynamic: Flag = False
    """Whether the name stands for a choice made per request, so that asking for it says nothing about what answers."""
    context_window_tokens: Count | None = None
    """The longest input, in tokens; not known if left out."""
    parameters: dict[Identifier, ConfigurationKey] = Field(default_factory=dict)
    """The request parameters it takes."""


class ModelDescriptor(Descriptor):
    """What answers an agent's requests."""

    model: ModelPart
    """What it is."""
