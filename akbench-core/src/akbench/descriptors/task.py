"""The task kind: one piece of work on one repository."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import (
    Difficulty,
    Folder,
    Glob,
    Identifier,
    ImageName,
    InsidePath,
    Pinned,
    RelativePath,
    Seconds,
)

__all__ = ["Relations", "TaskDescriptor", "TaskPart"]


class TaskEnvironment(Part):
    """The prepared environment of a task: a Python with packages, or an image in which everything is."""

    python: Annotated[str, Field(pattern=r"^3\.\d+$")] = "3.12"
    """The Python version, major.minor, in quotes."""
    requirements: tuple[Pinned, ...] = ()
    """The whole closure of what is installed, each name==version."""
    python_path: tuple[Folder, ...] = (".",)
    """Folders of the workspace from which Python imports."""
    image: ImageName | None = None
    """The image in which the task runs, by reference or id, in place of python and requirements. Never fetched."""
    dockerfile: RelativePath | None = None
    """In place of image: the file below the task's folder that it is built from; what lies beside it may be copied."""
    workspace: InsidePath | None = None
    """Where the repository appears in the image; /workspace if left out."""

    @model_validator(mode="after")
    def _is_python_or_image(self) -> TaskEnvironment:
        if not self.has_image:
            if self.workspace is not None:
                raise ValueError("workspace: only an image has another place for it; leave it out")
            return self
        if self.image is not None and self.dockerfile is not None:
            raise ValueError("image: stands beside dockerfile; give one of them")
        for name in ("python", "requirements"):
            if name in self.model_fields_set:
                raise ValueError(f"{name}: an image brings its own; leave it out, or leave out the image")
        return self

    @property
    def has_image(self) -> bool:
        """Whether it is an image."""
        return self.image is not None or self.dockerfile is not None


class TaskLimits(Part):
    """Upper bounds of a task."""

    timeout_seconds: Seconds | None = None
    """Wall clock of the agent, in seconds; the experiment's own bound holds as well."""


class Relations(Part):
    """Other tasks of the dataset, by what knowing them is worth to someone who does this one."""

    same: tuple[Identifier, ...] = ()
    """Tasks with the same solution in another guise: what was learnt there solves this one."""
    related: tuple[Identifier, ...] = ()
    """Tasks of the same repository or cause: what was learnt there helps."""
    misleading: tuple[Identifier, ...] = ()
    """Tasks that look alike and want something else: what was learnt there leads astray."""

    @model_validator(mode="after")
    def _check(self) -> Relations:
        seen: dict[str, str] = {}
        for kind, targets in self.by_kind().items():
            for index, target in enumerate(targets):
                if target in seen:
                    raise ValueError(f"{kind}.{index}: {target!r} is named already under {seen[target]!r}")
                seen[target] = kind
        return self

    def by_kind(self) -> dict[str, tuple[str, ...]]:
        """Kind of relation -> the ids of its tasks."""
        return {"same": self.same, "related": self.related, "misleading": self.misleading}


class TaskPart(Part):
    """A task: what sort of work, how hard, in which environment, and what may not be changed."""

    category: Identifier
    """The category descriptor."""
    difficulty: Difficulty
    """How hard it is held to be; changes nothing about how it is run."""
    tags: tuple[str, ...] = ()
    """Free words to filter by."""
    environment: TaskEnvironment = TaskEnvironment()
    """What is installed for the agent and the evaluation."""
    protected: tuple[Glob, ...] = ()
    """Further paths (globs) whose changes are undone and reported before the evaluation."""
    limits: TaskLimits = TaskLimits()
    """Upper bounds."""
    relations: Relations = Relations()
    """Other tasks of the dataset that stand in a relation to this one."""


class TaskDescriptor(Descriptor):
    """One piece of work on one repository: ``task.yaml``."""

    task: TaskPart
    """What it is."""
