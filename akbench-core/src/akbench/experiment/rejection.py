"""Refusing an experiment with the place in its file."""

from __future__ import annotations

from akbench.descriptors.kinds import ExperimentDescriptor
from akbench.descriptors.snapshot import Snapshot
from akbench.spec import PlanRejectedError

__all__ = ["ExperimentSnapshot", "Location", "rejected"]

type ExperimentSnapshot = Snapshot[ExperimentDescriptor]
type Location = tuple[str | int, ...]


def rejected(experiment: ExperimentSnapshot, message: str, location: Location) -> PlanRejectedError:
    """The error that names the place of `location` in the experiment's file."""
    return PlanRejectedError(message, place=experiment.document.place(location))
