"""From a task's files to its trees: what the agent is given, what is hidden, and what the original looked like."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.dataset import Dataset, Task
from akbench.dataset.directory import read_directory
from akbench.dataset.format import MutationPart
from akbench.dataset.gather import Oddity
from akbench.dataset.mutation import apply_mutation
from akbench.dataset.source import read_source, without_losses
from akbench.dataset.tree import Tree
from akbench.spec import InputError

__all__ = ["AssembledTask", "assemble"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledTask:
    """The trees of one task.

    - `given`: what the agent gets: the (mutated) source without what is withheld, with the public tests.
    - `hidden`: what is laid over the agent's tree in the evaluation: withheld files and hidden tests.
    - `original`: `given` as it was before the mutations; None for a task without mutations.
    - `oddities`: what is unusual in the repository: pointers to large files, submodules left out, strange names.
    """

    task: Task
    given: Tree
    hidden: Tree
    original: Tree | None
    oddities: tuple[Oddity, ...]

    @property
    def hidden_test_files(self) -> tuple[str, ...]:
        """The files that the agent never sees, relative to the workspace."""
        return tuple(sorted(os.fsdecode(path) for path in self.hidden.entries))


def assemble(task: Task, dataset: Dataset, cache: Path) -> AssembledTask:
    """Build the trees of `task`; a release is fetched into `cache` once.

    Raises `InputError` naming the file that does not fit, `HostError` when a release cannot be had.
    """
    repository = task.repository.repository
    found = read_source(task.repository_document, task.repository, dataset.folder, cache)
    source = found.tree
    mutated = _mutate(task, source)
    public = _folder(task.public_tests)
    withheld = source.only(repository.withhold)
    _check_globs(task, source)

    def visible(tree: Tree) -> Tree:
        return tree.without(repository.withhold).overlay(public)

    return AssembledTask(
        task=task,
        given=visible(mutated),
        hidden=withheld.overlay(_folder(task.hidden_tests)),
        original=visible(source) if task.mutations else None,
        oddities=found.oddities,
    )


def _folder(folder: Path) -> Tree:
    if not folder.is_dir():
        return Tree.of({})
    return without_losses(read_directory(folder), str(folder)).without(("**/__pycache__/**",))


def _mutate(task: Task, tree: Tree) -> Tree:
    for mutation, document in zip(task.mutations, task.mutation_documents, strict=True):
        part = mutation.mutation
        path = os.fsencode(part.file)
        try:
            content = apply_mutation(tree.read(path), part)
        except InputError as error:
            raise InputError(str(error), place=document.place(_way(part))) from error
        tree = tree.replace(path, content)
    return tree


def _way(part: MutationPart) -> tuple[str, ...]:
    """Where the mutation's own file says what it does."""
    return ("mutation", *(name for name in ("operator", "patch") if getattr(part, name) is not None))


def _check_globs(task: Task, source: Tree) -> None:
    for index, glob in enumerate(task.repository.repository.withhold):
        if not source.matching((glob,)):
            place = task.repository_document.place(("repository", "withhold", index))
            raise InputError(f"{glob!r} matches no file of the repository", place=place)
