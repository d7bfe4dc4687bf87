"""The files of a dataset as pydantic models: dataset.yaml, repository.yaml and the mutations."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from akbench.dataset.locations import url_flaw
from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Count, Glob, Identifier, RelativePath

__all__ = [
    "ArchiveSource",
    "DatasetFile",
    "DirectorySource",
    "GitSource",
    "LocalSource",
    "MutationFile",
    "MutationPart",
    "OperatorChoice",
    "ReplaceLine",
    "RepositoryFile",
    "SdistSource",
]


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


CommitId = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


def _repository_url(value: str) -> str:
    flaw = url_flaw(value)
    if flaw is not None:
        raise ValueError(f"{value!r} {flaw}")
    return value


def _download_url(value: str) -> str:
    flaw = url_flaw(value)
    if flaw is not None or not value.startswith("https://"):
        raise ValueError(f"{value!r} {flaw or 'is no https:// URL; give a file of this machine as path'}")
    return value


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
    name: Identifier | None = None
    """The library's name on the package index; no task's environment may hold it, as that would be the solution."""
    withhold: tuple[Glob, ...] = ()
    remove: tuple[Glob, ...] = ()


class SdistSource(_Source):
    """A source release of the package index. Its version is the descriptor's own, unless `release` is another.

    `withhold` (globs) is kept from the agent and laid over again in the evaluation; `remove` is dropped for good.
    """

    source: Literal["sdist"]
    name: Identifier
    release: Annotated[str, Field(min_length=1)] | None = None
    sha256: Sha256


class DirectorySource(_Source):
    """A folder of the dataset; `path` is relative to the dataset's folder."""

    source: Literal["directory"]
    path: RelativePath


class GitSource(_Source):
    """One commit of a git repository; `url` is only asked when the commit is not kept yet.

    `submodules`: ``fetch`` takes their files at the commits they are pinned to, ``leave_out`` leaves their places
    empty; without it, a commit that has submodules is refused.
    """

    source: Literal["git"]
    url: Annotated[str, AfterValidator(_repository_url)]
    commit: CommitId
    submodules: Literal["fetch", "leave_out"] | None = None


class LocalSource(_Source):
    """A folder outside of the dataset: `path` is absolute or relative to the project, `tree` git's id of its tree."""

    source: Literal["local"]
    path: Annotated[str, Field(min_length=1)]
    tree: CommitId


class ArchiveSource(_Source):
    """A ``.tar.gz`` or ``.zip`` with one top folder, from a `url` or a `path` (absolute or relative to the project)."""

    source: Literal["archive"]
    url: Annotated[str, AfterValidator(_download_url)] | None = None
    path: Annotated[str, Field(min_length=1)] | None = None
    sha256: Sha256

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.url is None) == (self.path is None):
            raise ValueError("an archive has either a url or a path")
        return self


class RepositoryFile(Descriptor):
    """``repository.yaml``: where the task's tree comes from."""

    repository: Annotated[
        SdistSource | DirectorySource | GitSource | LocalSource | ArchiveSource, Field(discriminator="source")
    ]


class ReplaceLine(Part):
    """One exact line (number from 1) replaced by another."""

    line: Count
    before: str
    after: str


class OperatorChoice(Part):
    """A mutation operator and which of its changes within the symbol (from 1, in the order of the source)."""

    id: Identifier
    version: Count
    occurrence: Count


class MutationPart(Part):
    """One controlled change of one file: where it applies, and exactly one of three ways to say what it does.

    - `file_sha256`: of the file before; `result_sha256`: after. An operator or a patch needs both.
    - `symbol`: qualified name of the function or class around the change, ``<module>`` outside of any; a patch of a
      file that is no Python has none.
    """

    file: RelativePath
    file_sha256: Sha256
    result_sha256: Sha256 | None = None
    symbol: str | None = None
    replace_line: ReplaceLine | None = None
    operator: OperatorChoice | None = None
    patch: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [name for name in ("replace_line", "operator", "patch") if getattr(self, name) is not None]
        if len(ways) != 1:
            said = f"found {' and '.join(ways)}" if ways else "found none"
            raise ValueError(f"a mutation has exactly one of replace_line, operator and patch; {said}")
        if self.result_sha256 is None and ways != ["replace_line"]:
            raise ValueError(f"a mutation by {ways[0]} needs result_sha256, the hash of the file after it")
        if self.symbol is None and ways != ["patch"]:
            raise ValueError(f"a mutation by {ways[0]} needs the symbol around the change")
        return self


class MutationFile(Descriptor):
    """``mutations/*.yaml``."""

    mutation: MutationPart
