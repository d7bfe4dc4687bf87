"""Writing what a dataset importer read as a dataset of ours, each part where only those see it who may."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from akbench.dataset.dataset import Task, load_dataset, load_task
from akbench.dataset.tree import FILE, Tree
from akbench.descriptors.scalars import Identifier
from akbench.publish.image_work import ImageWork
from akbench.spec import (
    GitRepository,
    HostError,
    ImageFolder,
    ImportedDataset,
    ImportedTask,
    InputError,
    JsonValue,
    Sandbox,
    SolutionScript,
)
from akbench.workspace.patch import apply_patch
from akbench.workspace.reference import patch_between
from akbench.workspace.removal import remove_tree
from akbench.workspace.snapshot import take_snapshot

__all__ = ["DatasetWriter", "Written"]

_SHORTEST_SECRET = 40
"""Contents below this many bytes (an empty ``__init__.py``, a licence line) are the same everywhere by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written: the ids of the tasks, and the reasons for those that were not."""

    tasks: tuple[str, ...]
    refused: Mapping[str, str]


class DatasetWriter:
    """Writes one imported dataset into the new folder `folder`; `cache` and `scratch` hold what git needs for it.

    `fetch` gives the tree of a git repository, `sandbox` one that runs images of tasks: both are asked when needed.
    `check` raises `InputError` for a task that names what is not there.
    """

    def __init__(
        self,
        folder: Path,
        cache: Path,
        scratch: Path,
        *,
        fetch: Callable[[GitRepository], Tree],
        check: Callable[[Task], None],
        sandbox: Callable[[], Sandbox],
    ) -> None:
        self._folder = folder
        self._cache = cache
        self._room = scratch / "one"
        self._fetch = fetch
        self._sandbox = sandbox
        self._check = check

    def write(self, imported: ImportedDataset, dataset_id: str) -> Written:
        """Write every task that can be one.

        Raises `InputError` if none is left or the result is no dataset, `HostError` if none is left and something
        could not be had on this machine.
        """
        refused = dict(imported.refused)
        done: list[str] = []
        kind: type[InputError | HostError] = InputError
        for task in imported.tasks:
            try:
                self._add(task, imported, done)
            except (InputError, HostError) as error:
                kind = HostError if isinstance(error, HostError) else kind
                refused[_unlike(task.id, {*done, *refused})] = str(error)
            else:
                done.append(task.id)
        if not done:
            reasons = "".join(f"\n  {name}: {reason}" for name, reason in refused.items())
            raise kind(f"no task of it can be imported:{reasons or ' there is none'}")
        self._yaml(self._folder / "dataset.yaml", _dataset(imported, dataset_id))
        load_dataset(self._folder)
        return Written(tasks=tuple(done), refused=refused)

    def _add(self, task: ImportedTask, imported: ImportedDataset, done: Collection[str]) -> None:
        """Write the task, whole or not at all, as one that the dataset can be read with."""
        _check_names(task, done)
        draft = self._room / "dataset"
        draft.mkdir(parents=True)
        place = Path(task.category) / task.id
        try:
            self._write_task(task, imported, draft)
            self._check(load_task(draft / place, draft))
        except InputError as error:
            raise InputError(str(error).replace(f"{draft}/", "")) from error
        except UnicodeEncodeError as error:
            raise InputError("a text or name of it holds half of a character, which is no text") from error
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise InputError("the name of one of its files is too long for a file system") from error
        else:
            for part in (place, Path("repositories") / task.id):
                if (draft / part).exists():
                    (self._folder / part).parent.mkdir(parents=True, exist_ok=True)
                    (draft / part).rename(self._folder / part)
        finally:
            remove_tree(self._room)

    def _write_task(self, task: ImportedTask, imported: ImportedDataset, dataset: Path) -> None:
        work = ImageWork(task.image, self._sandbox, self._room / "image") if task.image else None
        given = self._given(task, work)
        hidden = self._hidden(task, given)
        patch = self._solution(task, given, work)
        if not isinstance(task.repository, GitRepository):
            _check_secrets(task, given, hidden)
            given.materialise(dataset / "repositories" / task.id)
        folder = dataset / task.category / task.id
        for part, files in (("checks", task.checks), ("environment", task.image.files if task.image else {})):
            for name, content in files.items():
                (folder / part / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / part / name).write_bytes(content)
        hidden.materialise(folder / "hidden_tests")
        (folder / "solution").mkdir()
        (folder / "solution" / "reference.patch").write_bytes(patch)
        (folder / "description.md").write_bytes(task.description.encode())
        self._yaml(folder / "task.yaml", _task(task, work))
        self._yaml(folder / "repository.yaml", _repository(task, imported))
        self._yaml(folder / "evaluator.yaml", _evaluator(task))

    def _given(self, task: ImportedTask, work: ImageWork | None) -> Tree:
        if isinstance(task.repository, GitRepository):
            return self._fetch(task.repository)
        if isinstance(task.repository, ImageFolder):
            if work is None:
                raise InputError("its repository lies in an image, and it names none")
            # A folder without a file would not survive a commit of the dataset.
            found = work.repository()
            return found if found.entries else Tree.of({b".gitkeep": (FILE, b"")})
        return _tree(task.repository)

    def _hidden(self, task: ImportedTask, given: Tree) -> Tree:
        hidden = _tree(task.hidden_tests)
        if task.test_patch is not None:
            after = self._applied(given, task.test_patch, "tests")
            changed = {path: entry for path, entry in after.entries.items() if given.entries.get(path) != entry}
            hidden = Tree(entries=changed, stores=after.stores, fresh=after.fresh).overlay(hidden)
        if not hidden.entries and not task.checks:
            raise InputError("it has no tests that the agent does not see")
        return hidden

    def _solution(self, task: ImportedTask, given: Tree, work: ImageWork | None) -> bytes:
        if isinstance(task.solution, bytes):
            self._applied(given, task.solution, "solution")
            return task.solution
        if isinstance(task.solution, SolutionScript):
            if work is None:
                raise InputError("its solution runs in an image, and it names none")
            return self._patch(given, work.solved(given, task.solution))
        kept = {path: given.read(path) for path in given.entries}
        for name, content in task.solution.items():
            if content is None:
                kept.pop(os.fsencode(name), None)
            else:
                kept[os.fsencode(name)] = content
        solved = Tree.of(
            {
                path: (given.entries[path].mode if path in given.entries else FILE, content)
                for path, content in kept.items()
            }
        )
        return self._patch(given, solved)

    def _patch(self, given: Tree, solved: Tree) -> bytes:
        patch = patch_between(
            take_snapshot(given, self._cache), take_snapshot(solved, self._cache), self._room / "solution.git"
        )
        if not patch:
            raise InputError("its solution changes nothing")
        return patch

    def _applied(self, given: Tree, patch: bytes, what: str) -> Tree:
        return apply_patch(take_snapshot(given, self._cache), patch, self._room / f"{what}-applied.git")

    def _yaml(self, target: Path, value: Mapping[str, JsonValue]) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        yaml = YAML()
        yaml.width = 4096
        with target.open("w", encoding="utf-8") as file:
            yaml.dump(value, file)


def _check_names(task: ImportedTask, done: Collection[str]) -> None:
    """Raise `InputError` unless the names that become folders are such, and no other task's."""
    for name in (task.id, task.category):
        try:
            TypeAdapter[str](Identifier).validate_python(name)
        except ValidationError as error:
            raise InputError(str(error.errors()[0]["msg"]).removeprefix("Value error, ")) from error
    if task.id in done:
        raise InputError("there is another task of this name")


def _unlike(name: str, taken: Collection[str]) -> str:
    """The name, or one made of it that nothing has yet."""
    return name if name not in taken else _unlike(f"{name} (again)", taken)


def _tree(files: Mapping[str, bytes]) -> Tree:
    return Tree.of({os.fsencode(name): (FILE, content) for name, content in files.items()})


def _check_secrets(task: ImportedTask, given: Tree, hidden: Tree) -> None:
    """Raise `InputError` if the agent would be handed a hidden test or the solution under whatever name."""
    secrets = {
        entry.blob: os.fsdecode(path) for path, entry in (*hidden.entries.items(), *_tree(task.checks).entries.items())
    }
    if isinstance(task.solution, SolutionScript):
        secrets |= {entry.blob: os.fsdecode(path) for path, entry in _tree(task.solution.files).entries.items()}
    elif not isinstance(task.solution, bytes):
        solved = _tree({name: content for name, content in task.solution.items() if content is not None})
        secrets |= {entry.blob: os.fsdecode(path) for path, entry in solved.entries.items()}
    for path, entry in given.entries.items():
        if entry.blob in secrets and len(given.read(path)) >= _SHORTEST_SECRET:
            raise InputError(f"{os.fsdecode(path)} in what the agent is given is the same as {secrets[entry.blob]}")


def _header(name: str) -> dict[str, JsonValue]:
    return {"schema_version": "1.0", "id": name, "version": "1.0.0"}


def _dataset(imported: ImportedDataset, dataset_id: str) -> dict[str, JsonValue]:
    return {
        **_header(dataset_id),
        "title": imported.title,
        "license": imported.license,
        "dataset": {
            "description": " ".join((imported.description, *imported.notes)),
            "source": imported.source,
            "commit": imported.commit,
        },
    }


def _task(task: ImportedTask, work: ImageWork | None) -> dict[str, JsonValue]:
    part: dict[str, JsonValue] = {
        "category": task.category,
        "difficulty": task.difficulty,
        "tags": list(task.tags),
        "environment": _environment(task, work),
        "protected": list(task.protected),
    }
    if task.timeout_seconds is not None:
        part["limits"] = {"timeout_seconds": task.timeout_seconds}
    return {**_header(task.id), "title": task.title, "task": part}


def _environment(task: ImportedTask, work: ImageWork | None) -> dict[str, JsonValue]:
    if task.image is None or work is None:
        return {
            "python": task.python,
            "requirements": list(task.requirements),
            "python_path": list(task.python_path),
        }
    if task.image.reference is not None:
        return {"image": task.image.reference, "workspace": work.workspace}
    return {"dockerfile": f"environment/{task.image.dockerfile}", "workspace": work.workspace}


def _repository(task: ImportedTask, imported: ImportedDataset) -> dict[str, JsonValue]:
    source: dict[str, JsonValue]
    if isinstance(task.repository, GitRepository):
        source = {
            "source": "git",
            "url": task.repository.url,
            "commit": task.repository.commit,
            "submodules": "leave_out",
        }
    else:
        source = {"source": "directory", "path": f"repositories/{task.id}"}
    title = f"from {imported.source}" + (f" at {imported.commit}" if imported.commit else "")
    return {**_header(task.id), "title": title, "repository": {**source, "license": task.license}}


def _evaluator(task: ImportedTask) -> dict[str, JsonValue]:
    return {**_header(f"{task.id}-tests"), "evaluator": {"adapter": task.evaluator, "config": dict(task.config)}}
