"""The category kind: what sort of work a task asks for."""

from __future__ import annotations

from akbench.descriptors.header import Descriptor, Part

__all__ = ["CategoryDescriptor", "CategoryPart"]


class CategoryPart(Part):
    """A category of tasks."""

    judged_by: str = ""
    """What a solution must show, in words."""


class CategoryDescriptor(Descriptor):
    """What sort of work a task asks for."""

    category: CategoryPart = CategoryPart()
    """What it is."""
