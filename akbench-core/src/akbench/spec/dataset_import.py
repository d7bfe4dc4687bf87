"""What a dataset importer hands over: the parts of foreign tasks, told apart by who may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from akbench.spec.measure import JsonValue

__all__ = ["GitRepository", "ImageFolder", "ImportedDataset", "ImportedImage", "ImportedTask", "SolutionScript"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GitRepository:
    """A repository that is fetched when a task of it is used: its URL and the full id of a commit."""

    url: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedImage:
    """The image of a task: the `reference` of one that is there, or `files` (path -> content) to build it from.

    `dockerfile` is the one of these that says how.
    """

    reference: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    dockerfile: str = "Dockerfile"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFolder:
    """The repository is what lies in the task's image, in the folder in which its processes begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolutionScript:
    """A solution that is a program: `argv`, run in the image, in the repository, with `files` in the folder `place`.

    It has `timeout_seconds` of wall clock and no network. What it leaves in the repository is the solved tree.
    """

    argv: tuple[str, ...]
    place: str
    files: Mapping[str, bytes]
    environ: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTask:
    """One task. The agent is given `description` and `repository`, never anything else of this.

    - `id`: letters, digits, ``.``, ``_`` and ``-``; `difficulty`: easy, medium, hard or expert.
    - `repository`: the tree that the agent gets, path -> content, or where to fetch it.
    - `hidden_tests`: files laid over the tree in the evaluation only. Instead, or beside them, `test_patch` is applied
      to the repository, and the files that it changes are hidden.
    - `checks`: files that lie in no tree, for an evaluator that brings them in itself.
    - `solution`: path -> new content (None: the file is deleted), or a patch against the repository, or a program.
    - `image`: what the task runs in, in place of `python` and `requirements`; the repository then appears there in the
      folder in which its processes begin. An `ImageFolder` and a `SolutionScript` need it, and are carried out when
      the task is imported: in a sandbox, if one is there that runs images.
    - `timeout_seconds`: upper bound of the agent's wall clock.
    - `evaluator` and `config`: what judges the tree; see the evaluator's own keys.
    - `requirements`: the whole closure of the environment, each ``name==version``.
    """

    id: str
    title: str
    category: str
    difficulty: str
    description: str
    license: str
    repository: Mapping[str, bytes] | GitRepository | ImageFolder
    hidden_tests: Mapping[str, bytes] = field(default_factory=dict)
    test_patch: bytes | None = None
    checks: Mapping[str, bytes] = field(default_factory=dict)
    solution: Mapping[str, bytes | None] | bytes | SolutionScript
    evaluator: str
    config: Mapping[str, JsonValue]
    python: str = "3.12"
    requirements: tuple[str, ...] = ()
    python_path: tuple[str, ...] = (".",)
    protected: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    image: ImportedImage | None = None
    timeout_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDataset:
    """The tasks of a checkout, and those that cannot be imported: name -> the reason, in words for a person.

    `source` is where the checkout comes from (never a path of this machine), `commit` the one it stands at, None if
    that is not known. `notes` say what had to be assumed.
    """

    title: str
    description: str
    license: str
    source: str
    commit: str | None
    tasks: tuple[ImportedTask, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
