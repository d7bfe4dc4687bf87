"""The evaluator kind: how a final tree is judged."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from akbench.descriptors.configuration import ConfigurationKey
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Flag, Identifier
from akbench.descriptors.trial import EvaluatorTrial
from akbench.spec import JsonValue

__all__ = ["CombinedPart", "EvaluatorDescriptor", "EvaluatorPart"]


class CombinedPart(Part):
    """One of several evaluators that judge a task together."""

    id: Identifier
    """Its name within the task: artifacts and reports carry it."""
    adapter: Identifier
    """The id of the registered evaluator adapter."""
    config: dict[str, JsonValue] = Field(default_factory=dict)
    """Values for the adapter's configuration keys."""
    weight: float = Field(default=1.0, strict=True, ge=0, le=1_000_000, allow_inf_nan=False)
    """Its share in the score; 0 for a part that has none."""
    required: Flag = True
    """Whether the whole can be a success only if this part is one."""


class EvaluatorPart(Part):
    """An evaluator: the adapter and its configuration; a task's ``evaluator.yaml`` overrides registered defaults."""

    adapter: Identifier | None = None
    """The id of the registered evaluator adapter; stands alone, or `combine` in its place."""
    config: dict[str, JsonValue] = Field(default_factory=dict)
    """Values for the adapter's configuration keys."""
    combine: tuple[CombinedPart, ...] = ()
    """Several evaluators that judge together; only in a task's ``evaluator.yaml``."""
    configuration_schema: dict[Identifier, ConfigurationKey] = Field(default_factory=dict)
    """The configuration keys that the adapter takes."""
    trial: EvaluatorTrial | None = None
    """How the contract tests try it; they can say little about an adapter without."""

    @model_validator(mode="after")
    def _is_one_or_several(self) -> Self:
        if not self.combine:
            if self.adapter is None:
                raise ValueError("names no evaluator; give 'adapter', or 'combine' with a list of parts")
            return self
        if self.adapter is not None or self.config:
            raise ValueError("has 'combine' beside 'adapter' or 'config'; move these into a part of the list")
        for index, part in enumerate(self.combine):
            if part.id in {other.id for other in self.combine[:index]}:
                raise ValueError(f"combine.{index}.id: {part.id!r} names another part already; choose another name")
        if not any(part.required for part in self.combine):
            raise ValueError("combine: no part is required, so nothing could fail; set required: true for one")
        if not any(part.weight for part in self.combine):
            raise ValueError("combine: no part has a weight, so there would be no score; give one a weight above 0")
        return self

    @property
    def parts(self) -> tuple[CombinedPart, ...]:
        """The evaluators in their order; a single one is the only part, named after its adapter."""
        if self.adapter is None:
            return self.combine
        return (CombinedPart(id=self.adapter, adapter=self.adapter, config=self.config),)

    def way(self, index: int) -> tuple[int | str, ...]:
        """The way from the document's root to part number `index`."""
        return ("evaluator", "combine", index) if self.combine else ("evaluator",)


class EvaluatorDescriptor(Descriptor):
    """How a final tree is judged: registered with an adapter, and each task's ``evaluator.yaml``."""

    evaluator: EvaluatorPart
    """What it is."""
