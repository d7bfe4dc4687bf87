"""The files of a dataset as pydantic models: dataset.yaml, repository.yaml and the mutations."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from akbench.descriptors.kinds import Descriptor, Identifier, Part

__all__ = [
    "DatasetFile",
    "DirectorySource",
    "MutationFile",
    "ReplaceLine",
    "RepositoryFile",
    "SdistSource",
]


def _relative(value: str) -> str:
    path = PurePosixPath(value)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"{value!r} must be a relative path that stays inside")
    return value


RelativePath = Annotated[str, AfterValidator(_relative)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class DatasetPart(Part):
    """What a dataset is about and where its tasks come from."""

    description: str = ""
    source: str = ""


class DatasetFile(Descriptor):
    """``dataset.yaml``: the dataset's id, version and licence."""

    license: str
    dataset: DatasetPart = DatasetPart()


class _Source(Part):
    license: str
    withhold: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


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

    line: Annotated[int, Field(ge=1)]
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
