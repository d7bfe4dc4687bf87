"""From a ``repository.yaml`` to the tree it names, wherever that comes from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.archive import read_archive
from akbench.dataset.directory import read_directory
from akbench.dataset.format import ArchiveSource, GitSource, LocalSource, RepositoryFile, SdistSource
from akbench.dataset.gather import Gathered, Oddity, OddityKind
from akbench.dataset.globs import matcher
from akbench.dataset.tree import FILE, Tree
from akbench.descriptors.document import Document
from akbench.spec import InputError

__all__ = ["RepositorySource", "read_source", "without_losses"]

_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_LARGEST_POINTER = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySource:
    """A repository's tree, `remove` already applied, and what is unusual in it."""

    tree: Tree
    oddities: tuple[Oddity, ...]


def read_source(document: Document, model: RepositoryFile, dataset: Path, cache: Path) -> RepositorySource:
    """The tree that the ``repository.yaml`` names; `dataset` is the folder of the dataset it belongs to.

    What must be fetched is kept under `cache`, and fetched no more. Raises `InputError` with the place in the
    document, `HostError` when something cannot be had.
    """
    place = document.place(("repository",))
    try:
        gathered = _gathered(model, dataset, cache)
    except InputError as error:
        raise InputError(str(error), place=place) from error
    removed = matcher(model.repository.remove)
    oddities = tuple(each for each in gathered.oddities if not removed(each.path))
    tree = without_losses(Gathered(tree=gathered.tree, oddities=oddities), place)
    tree = tree.without(model.repository.remove)
    return RepositorySource(tree=tree, oddities=(*oddities, *_pointers(tree)))


def _gathered(model: RepositoryFile, dataset: Path, cache: Path) -> Gathered:
    source = model.repository
    if isinstance(source, SdistSource):
        from akbench.dataset.release import fetch_sdist

        return read_archive(fetch_sdist(source.name, source.release or model.version, source.sha256, cache))
    if isinstance(source, GitSource):
        from akbench.dataset.git_source import read_commit

        return read_commit(source.url, source.commit, cache, submodules=source.submodules)
    if isinstance(source, LocalSource):
        from akbench.dataset.local_source import read_local

        return read_local(_outside(source.path, dataset), source.tree, cache)
    if isinstance(source, ArchiveSource):
        from akbench.dataset.release import fetch_archive

        where = source.url or _outside(source.path or "", dataset)
        return read_archive(fetch_archive(where, source.sha256, cache))
    return read_directory(dataset / source.path)


def _outside(path: str, dataset: Path) -> Path:
    """A path that is absolute or relative to the project, which has its datasets in one folder."""
    return dataset.resolve().parent.parent / path


def without_losses(gathered: Gathered, place: str) -> Tree:
    """The gathered tree. Raises `InputError` naming `place` if anything but what was asked for is missing in it."""
    lost = [each for each in gathered.oddities if not each.kept and each.kind is not OddityKind.SUBMODULE]
    if lost:
        path = os.fsdecode(lost[0].path)
        raise InputError(f"{path!r} cannot be part of a task: {lost[0].detail}", place=place)
    return gathered.tree


def _pointers(tree: Tree) -> tuple[Oddity, ...]:
    """The files that only point to their content in large-file storage; they stay what they are."""
    blobs = {
        blob for blob, content in tree.contents() if len(content) < _LARGEST_POINTER and content.startswith(_POINTER)
    }
    return tuple(
        Oddity(path=path, kind=OddityKind.LFS_POINTER, kept=True, detail="a pointer to Git LFS, kept as it is")
        for path, entry in sorted(tree.entries.items())
        if entry.mode == FILE and entry.blob in blobs
    )
