"""The files of a dataset as pydantic models: dataset.yaml, repository.yaml and the mutations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Count, Glob, Identifier, RelativePath

__all__ = [
    "DatasetFile",
    "DirectorySource",
    "MutationFile",
    "ReplaceLine",
    "RepositoryFile",
    "SdistSource",
]


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ValidationPart(Part):
    """How the tasks are validated: `repetitions` of each state of the tree."""

    repetitions: Annotated[Count, Field(le=100)] = 3


class DatasetPart(Part):
    """What a dataset is about and where its tasks come from."""

    description: str = ""
    source: str = ""
    commit: str | None = None
    """The commit of an imported source; None where it is not known or does not apply."""
    validation: ValidationPart = ValidationPart()


class DatasetFile(Descriptor):
    """``dataset.yaml``: the dataset's id, version and licence."""

    license: str
    dataset: DatasetPart = DatasetPart()


class _Source(Part):
    license: str
    withhold: tuple[Glob, ...] = ()
    remove: tuple[Glob, ...] = ()


class SdistSource(_Source):
    """A source release of the package index. The version is the descriptor's own.

    `withhold` (globs) is kept from the agent and laid over again in the evaluation; `remove` is dropped for good.
    """

    source: Literal["sdist"]
    name: Identifier
    sha256: Sha256


class DirectorySource(_Source):
    """A folder of the dataset; `path` is relative to the dataset's folder."""

    source: Literal["directory"]
    path: RelativePath


class RepositoryFile(Descriptor):
    """``repository.yaml``: where the task's tree comes from."""

    repository: Annotated[SdistSource | DirectorySource, Field(discriminator="source")]


class ReplaceLine(Part):
    """One exact line (number from 1) replaced by another."""

    line: Count
    before: str
    after: str


class MutationPart(Part):
    """One controlled change of one file: where it applies (file, hash before, enclosing symbol) and what it does."""

    file: RelativePath
    file_sha256: Sha256
    symbol: str
    replace_line: ReplaceLine


class MutationFile(Descriptor):
    """``mutations/*.yaml``."""

    mutation: MutationPart
