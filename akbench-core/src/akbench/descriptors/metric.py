"""The metric kind: a number derived from one run."""

from __future__ import annotations

from typing import Literal

from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Identifier

__all__ = ["MetricDescriptor", "MetricPart"]


class MetricPart(Part):
    """A metric: where it comes from and how it is read."""

    adapter: Identifier | None = None
    """The id of the registered function that derives it; none for a metric that a plugin's adapter reports."""
    unit: str
    """The unit, such as seconds, tokens or USD."""
    better: Literal["higher", "lower", "neither"]
    """Which direction is better, or neither."""


class MetricDescriptor(Descriptor):
    """A number derived from one run."""

    metric: MetricPart
    """What it is."""
