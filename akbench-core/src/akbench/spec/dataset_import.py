"""What a dataset importer hands over: the parts of foreign tasks, told apart by who may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from akbench.spec.measure import JsonValue

__all__ = ["GitRepository", "ImportedDataset", "ImportedTask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GitRepository:
    """A repository that is fetched when a task of it is used: its URL and the full id of a commit."""

    url: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTask:
    """One task. The agent is given `description` and `repository`, never anything else of this.

    - `id`: letters, digits, ``.``, ``_`` and ``-``; `difficulty`: easy, medium, hard or expert.
    - `repository`: the tree that the agent gets, path -> content, or where to fetch it.
    - `hidden_tests`: files laid over the tree in the evaluation only. Instead, or beside them, `test_patch` is applied
      to the repository, and the files that it changes are hidden.
    - `solution`: path -> new content (None: the file is deleted), or a patch against the repository.
    - `evaluator` and `config`: what judges the tree; see the evaluator's own keys.
    - `requirements`: the whole closure of the environment, each ``name==version``.
    """

    id: str
    title: str
    category: str
    difficulty: str
    description: str
    license: str
    repository: Mapping[str, bytes] | GitRepository
    hidden_tests: Mapping[str, bytes] = field(default_factory=dict)
    test_patch: bytes | None = None
    solution: Mapping[str, bytes | None] | bytes
    evaluator: str
    config: Mapping[str, JsonValue]
    python: str = "3.12"
    requirements: tuple[str, ...] = ()
    python_path: tuple[str, ...] = (".",)
    protected: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


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
