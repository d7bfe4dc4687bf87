"""The evaluator kind: how a final tree is judged."""

from __future__ import annotations

from pydantic import Field

from akbench.descriptors.configuration import ConfigurationKey
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Identifier
from akbench.descriptors.trial import EvaluatorTrial
from akbench.spec import JsonValue

__all__ = ["EvaluatorDescriptor", "EvaluatorPart"]


class EvaluatorPart(Part):
    """An evaluator: the adapter and its configuration; a task's ``evaluator.yaml`` overrides registered defaults."""

    adapter: Identifier
    """The id of the registered evaluator adapter."""
    config: dict[str, JsonValue] = Field(default_factory=dict)
    """Values for the adapter's configuration keys."""
    configuration_schema: dict[Identifier, ConfigurationKey] = Field(default_factory=dict)
    """The configuration keys that the adapter takes."""
    trial: EvaluatorTrial | None = None
    """How the contract tests try it; they can say little about an adapter without."""


class EvaluatorDescriptor(Descriptor):
    """How a final tree is judged: registered with an adapter, and each task's ``evaluator.yaml``."""

    evaluator: EvaluatorPart
    """What it is."""
