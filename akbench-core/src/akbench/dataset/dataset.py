"""A dataset read from its folder: every descriptor validated, every needed file there, everything hashed."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from akbench.dataset.format import DatasetFile, DirectorySource, MutationFile, RepositoryFile
from akbench.dataset.frozen import Frozen, read_frozen
from akbench.dataset.relations import check_relations, related_tasks
from akbench.dataset.verdict import Verdict, VerdictKey, read_verdict, verdict_path
from akbench.descriptors.document import Document, read
from akbench.descriptors.kinds import EvaluatorDescriptor, Filters, TaskDescriptor
from akbench.descriptors.snapshot import Snapshot, load
from akbench.plain_yaml import read_text
from akbench.spec import InputError

__all__ = ["UNWRITTEN", "Brought", "Dataset", "Task", "find_dataset", "list_datasets", "load_dataset", "load_task"]

UNWRITTEN = "<!-- akbench: to be written by a person; remove this line then -->"
"""Marks a description that a program has made the skeleton of; no such task is run."""
SECRET_FOLDERS = ("hidden_tests", "checks", "mutations", "solution", "naive")
"""Folders of a task of which the agent must see nothing."""
_AT_ONCE = 1 << 20
_SUFFIXES = {"mutations": ".yaml", "naive": ".patch"}
TASK_FILES = ("task.yaml", "description.md", "repository.yaml", "evaluator.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """The distribution that brings an evaluator of a task, and its version."""

    distribution: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of a dataset.

    `description` is the text the agent is given. `digest` covers every file of the task's folder, so two tasks with
    the same digest are the same task; `repository_digest` covers a repository that lies in the dataset and is empty
    for any other, whose hash stands in ``repository.yaml``. `verdict` is what the last validation found, whatever
    has changed since.
    """

    folder: Path
    snapshot: Snapshot[TaskDescriptor]
    description: str
    repository: RepositoryFile
    repository_document: Document
    mutations: tuple[MutationFile, ...]
    mutation_documents: tuple[Document, ...]
    evaluator: Snapshot[EvaluatorDescriptor]
    digest: str
    repository_digest: str = ""
    verdict: Verdict | None = None

    @property
    def descriptor(self) -> TaskDescriptor:
        """The task's descriptor."""
        return self.snapshot.model

    @property
    def hidden_tests(self) -> Path:
        """The folder laid over the repository only in the evaluation."""
        return self.folder / "hidden_tests"

    @property
    def public_tests(self) -> Path:
        """The folder laid over the repository that the agent gets; may be absent."""
        return self.folder / "public_tests"

    @property
    def reference_patch(self) -> Path:
        """The reference solution of a task without mutations."""
        return self.folder / "solution" / "reference.patch"

    @property
    def naive_patches(self) -> tuple[Path, ...]:
        """Fixes that look right and are not: patches against the given tree, by name."""
        return tuple(sorted((self.folder / "naive").glob("*.patch")))

    @property
    def checks(self) -> Path:
        """The folder of check scripts, which lie in no tree; may be absent."""
        return self.folder / "checks"

    def verdict_key(self, brought_by: Sequence[Brought]) -> VerdictKey:
        """What a verdict must be about to hold for this task, judged by these versions of its evaluators."""
        content = hashlib.sha256(f"{self.digest} {self.repository_digest}".encode()).hexdigest()
        return VerdictKey(
            content=content,
            evaluator="+".join(part.adapter for part in self.evaluator.model.evaluator.parts),
            distribution="+".join(each.distribution for each in brought_by),
            version="+".join(each.version for each in brought_by),
        )

    def quarantined(self, brought_by: Sequence[Brought]) -> tuple[str, ...]:
        """The tests that a verdict which holds found flaky."""
        if self.verdict is None or self.verdict.key != self.verdict_key(brought_by):
            return ()
        return tuple(test.id for test in self.verdict.quarantined)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset and its tasks, sorted by id.

    `digest` covers all tasks and the repositories shipped with it, `repositories` these alone. `frozen` is what it was
    frozen as, whatever has changed since.
    """

    folder: Path
    model: DatasetFile
    document: Document
    tasks: tuple[Task, ...]
    repositories: str
    digest: str
    frozen: Frozen | None = None

    @property
    def hash(self) -> str:
        """What results are recorded under: the frozen hash, or the digest of a dataset that is not frozen."""
        return self.digest if self.frozen is None else self.frozen.hash

    def task(self, task_id: str) -> Task:
        """The task of that id. Raises `InputError` with the nearest known one."""
        for task in self.tasks:
            if task.descriptor.id == task_id:
                return task
        known = [task.descriptor.id for task in self.tasks]
        close = get_close_matches(task_id, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"
        raise InputError(f"dataset {self.model.id!r} has no task {task_id!r}{hint}")

    def select(self, filters: Filters) -> tuple[Task, ...]:
        """The tasks that pass all filters. Raises `InputError` for an unknown task id."""
        wanted = {self.task(task_id).descriptor.id for task_id in filters.task_ids}
        if filters.relations or filters.related_to:
            centres = [self.task(task_id).descriptor.id for task_id in filters.related_to]
            kin = related_tasks([task.descriptor for task in self.tasks], filters.relations, centres)
            wanted = wanted & kin if filters.task_ids else kin
            return tuple(t for t in self.tasks if t.descriptor.id in wanted and _passes(t.descriptor, filters, wanted))
        return tuple(task for task in self.tasks if _passes(task.descriptor, filters, wanted))


def list_datasets(project: Path) -> tuple[Path, ...]:
    """The folders of a project's datasets, sorted by name. Raises `InputError` when two have the same id."""
    folders = tuple(sorted(path.parent for path in (project / "datasets").glob("*/dataset.yaml")))
    _by_id(folders)
    return folders


def find_dataset(project: Path, dataset_id: str) -> Path:
    """The folder of the dataset with that id. Raises `InputError` that lists the known ones."""
    found = _by_id(list_datasets(project))
    if dataset_id in found:
        return found[dataset_id]
    known = sorted(found)
    close = get_close_matches(dataset_id, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known) or 'none'}"
    raise InputError(f"no dataset {dataset_id!r} below {project / 'datasets'}{hint}")


def _by_id(folders: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders:
        document = read(folder / "dataset.yaml")
        dataset_id = document.validate(DatasetFile).id
        if dataset_id in found:
            raise document.error(f"dataset id {dataset_id!r} is also used in {found[dataset_id]}", ("id",))
        found[dataset_id] = folder
    return found


def load_dataset(folder: Path) -> Dataset:
    """Read a whole dataset. Raises `InputError` at the first fault, naming file and place."""
    document = read(folder / "dataset.yaml")
    model = document.validate(DatasetFile)
    tasks = sorted(
        (load_task(path.parent, folder) for path in folder.glob("*/*/task.yaml")), key=lambda t: t.descriptor.id
    )
    for task in tasks:
        _check_apart(task, tasks, folder)
    if not tasks:
        raise InputError("no task found; a task is a folder <category>/<task id>/ with a task.yaml", place=str(folder))
    for first, second in itertools.pairwise(tasks):
        if first.descriptor.id == second.descriptor.id:
            place = second.snapshot.document.place(("id",))
            raise InputError(f"task id {second.descriptor.id!r} is also used in {first.folder}", place=place)
    check_relations([task.snapshot for task in tasks])
    _check_verdicts(folder, {task.descriptor.id for task in tasks})
    digest = hashlib.sha256()
    repositories = _folder_digest(folder / "repositories")
    for part in (document.sha256, *(task.digest for task in tasks), repositories):
        digest.update(part.encode())
    return Dataset(
        folder=folder,
        model=model,
        document=document,
        tasks=tuple(tasks),
        repositories=repositories,
        digest=digest.hexdigest(),
        frozen=read_frozen(folder),
    )


def load_task(folder: Path, dataset: Path) -> Task:
    """Read the task in `folder` of the dataset in `dataset`. Raises `InputError` at the first fault, as above."""
    task = _read_task(folder, dataset)
    _check_repository(task, dataset)
    return task


def _read_task(folder: Path, dataset: Path) -> Task:
    _check_plain(folder.parent)
    for name in TASK_FILES:
        if not (folder / name).is_file():
            raise InputError(f"the task has no {name}", place=str(folder))
    snapshot = load(folder / "task.yaml", TaskDescriptor)
    _check_folder(folder, snapshot)
    repository = read(folder / "repository.yaml")
    mutation_documents = tuple(read(path) for path in sorted((folder / "mutations").glob("*.yaml")))
    wanted = repository.validate(RepositoryFile)
    source = wanted.repository
    task = Task(
        folder=folder,
        snapshot=snapshot,
        description=_description(folder / "description.md"),
        repository=wanted,
        repository_document=repository,
        mutations=tuple(document.validate(MutationFile) for document in mutation_documents),
        mutation_documents=mutation_documents,
        evaluator=load(folder / "evaluator.yaml", EvaluatorDescriptor),
        digest=_folder_digest(folder),
        repository_digest=_repository_digest(dataset, source.path) if isinstance(source, DirectorySource) else "",
        verdict=read_verdict(verdict_path(dataset, snapshot.model.id)),
    )
    _check_tests(task)
    _check_solution(task)
    _check_image(task)
    return task


def _check_folder(folder: Path, snapshot: Snapshot[TaskDescriptor]) -> None:
    for key, name, value in (
        (("id",), folder.name, snapshot.model.id),
        (("task", "category"), folder.parent.name, snapshot.model.task.category),
    ):
        if name != value:
            raise snapshot.document.error(f"{value!r} stands in a folder called {name!r}; make them equal", key)


def _description(path: Path) -> str:
    text = read_text(path)
    if not text.strip():
        raise InputError("empty; the agent is given this text as its task", place=str(path))
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError("holds a null character, which no program can be given", place=f"{path}:{line}")
    return text


def _check_repository(task: Task, folder: Path) -> None:
    source = task.repository.repository
    if isinstance(source, DirectorySource) and not os.path.isdir(folder / source.path):  # noqa: PTH112 - see below
        # Unlike Path.is_dir, os.path.isdir has an answer for a name that is too long, too.
        message = f"there is no folder {source.path!r} in the dataset"
        raise task.repository_document.error(message, ("repository", "path"))


def _check_apart(task: Task, tasks: Iterable[Task], dataset: Path) -> None:
    """Raise `InputError` if the agent would be given the folder of a task, and with it the solution."""
    source = task.repository.repository
    if isinstance(source, DirectorySource):
        path = PurePosixPath(source.path)
        for place in (PurePosixPath(other.folder.relative_to(dataset).as_posix()) for other in tasks):
            if path.is_relative_to(place) or place.is_relative_to(path):
                message = f"{source.path!r} holds, or lies in, the task {place}; put the repository below repositories/"
                raise task.repository_document.error(message, ("repository", "path"))


def _repository_digest(dataset: Path, path: str) -> str:
    """Nothing for a path that is not there or cannot be: `_check_repository` says so."""
    return _folder_digest(dataset / path) if os.path.isdir(dataset / path) else ""  # noqa: PTH112 - see there


def _check_verdicts(folder: Path, tasks: set[str]) -> None:
    for path in sorted((folder / "validation").glob("*.json")):
        if path.stem not in tasks:
            raise InputError(f"the dataset has no task {path.stem!r}; remove this file", place=str(path))


def _check_tests(task: Task) -> None:
    parts = ("mutations", "solution", "naive", "checks")
    for folder in (task.hidden_tests, task.public_tests, *(task.folder / name for name in parts)):
        if folder.exists() and not folder.is_dir():
            raise InputError("is no folder; make it one or remove it", place=str(folder))
    for name, suffix in _SUFFIXES.items():
        for path in sorted((task.folder / name).glob("*")):
            if path.suffix != suffix:
                raise InputError(f"would not be read: files in {name}/ end in {suffix}; rename it", place=str(path))
    if task.repository.repository.withhold:
        return
    if not any(path.is_file() for folder in (task.hidden_tests, task.checks) for path in folder.rglob("*")):
        raise InputError(
            "the task has no hidden tests; put at least one test file into hidden_tests/ (or a check into checks/), "
            "or withhold some of the repository's own",
            place=str(task.folder),
        )


def _check_solution(task: Task) -> None:
    if not task.mutations and not task.reference_patch.is_file():
        raise InputError(
            "the task has no reference solution: neither mutations/*.yaml (whose inverse it would be) "
            "nor solution/reference.patch",
            place=str(task.folder),
        )


def _check_image(task: Task) -> None:
    name = task.descriptor.task.environment.dockerfile
    if name is None:
        return
    key = ("task", "environment", "dockerfile")
    if not (task.folder / name).is_file():
        raise task.snapshot.document.error(f"there is no file {name!r} in the task's folder", key)
    folder = PurePosixPath(name).parent
    if folder == PurePosixPath() or folder.parts[0] in SECRET_FOLDERS:
        where = "the task's folder" if folder == PurePosixPath() else f"{folder.parts[0]}/"
        raise task.snapshot.document.error(
            f"{where} holds what the agent must not see, and all that lies beside the file can get into the image; "
            "put it into a folder of its own, such as environment/",
            key,
        )


def _passes(task: TaskDescriptor, filters: Filters, wanted: set[str]) -> bool:
    return (
        (not filters.categories or task.task.category in filters.categories)
        and (not filters.difficulties or task.task.difficulty in filters.difficulties)
        and (not filters.tags or bool(set(task.task.tags) & set(filters.tags)))
        and (not wanted or task.id in wanted)
    )


def _folder_digest(folder: Path) -> str:
    """SHA-256 over the names and contents of all files below `folder`, byte code left out."""
    digest = hashlib.sha256()
    for path in (folder, *sorted(folder.rglob("*"))) if os.path.lexists(folder) else ():
        _check_plain(path)
        if path.is_file() and "__pycache__" not in path.parts:
            name = os.fsencode(path.relative_to(folder))
            digest.update(name + f"\0{path.stat().st_size}\0".encode())
            for part in _content(path):
                digest.update(part)
    return digest.hexdigest()


def _check_plain(path: Path) -> None:
    if path.is_symlink():
        raise InputError("symbolic links are not allowed in a dataset; put the file itself here", place=str(path))
    if not path.is_dir() and not path.is_file():
        raise InputError("neither file nor folder; a dataset holds nothing else, remove it", place=str(path))


def _content(path: Path) -> Iterator[bytes]:
    """The content in parts: a file may be larger than the memory."""
    try:
        with path.open("rb") as file:
            while part := file.read(_AT_ONCE):
                yield part
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; make it readable", place=str(path)) from error
