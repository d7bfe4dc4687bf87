"""Many repositories looked over: what each is, what it needs, and whether it can run here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.completed import INDEX_DEPTH
from akbench_abv3.experiments.order import natural_key
from akbench_abv3.finding import errors_of
from akbench_abv3.reading.bounded import is_file
from akbench_abv3.stated import DESCRIPTION_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from akbench_abv3.check import Checked
    from akbench_abv3.dependencies.provided import Provision

__all__ = ["Entry", "Wanted", "entry_of", "repositories_below"]

_PASSED_OVER = frozenset({"node_modules", "site-packages", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One repository in the index. `lacks` says what stands between it and a run here."""

    path: str
    name: str | None
    role: str | None
    version: str | None
    author: str | None
    tags: tuple[str, ...]
    needs: tuple[str, ...]
    may_use: tuple[str, ...]
    experiments: tuple[str, ...]
    lacks: tuple[str, ...]

    @property
    def is_ready(self) -> bool:
        """Whether it can run with what is here."""
        return not self.lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries are asked for; every given condition must hold."""

    role: str | None = None
    tags: tuple[str, ...] = ()
    text: str | None = None
    ready: bool = False

    def takes(self, entry: Entry) -> bool:
        """Tell whether an entry is asked for."""
        looked_through = " ".join((entry.name or "", entry.author or "", *entry.tags)).casefold()
        return (
            (self.role is None or entry.role == self.role)
            and all(tag in entry.tags for tag in self.tags)
            and (self.text is None or self.text.casefold() in looked_through)
            and (not self.ready or entry.is_ready)
        )


def repositories_below(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield each folder that is a repository, and those up to three levels below; links are not followed."""
    seen: set[str] = set()
    for folder in folders:
        for root in _below(folder, INDEX_DEPTH):
            real = os.path.realpath(root)
            if real not in seen:
                seen.add(real)
                yield root


def _below(folder: Path, depth: int) -> Iterator[Path]:
    if is_file(folder / DESCRIPTION_FILE):
        yield folder
        return
    if depth == 0:
        return
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
    except OSError:  # closed to this user, or gone meanwhile
        return
    for name in sorted(names, key=natural_key):
        if not name.startswith(".") and name not in _PASSED_OVER:
            yield from _below(folder / name, depth - 1)


def entry_of(checked: Checked, provisions: Iterable[Provision], *, is_installed: bool) -> Entry:
    """Make the entry of a checked repository. Pure."""
    repo = checked.manifest.repo if checked.manifest else None
    errors = tuple(dict.fromkeys(one.code for one in errors_of(checked.findings)))
    missing = tuple(one.dependency.name for one in provisions if one.blocks)
    return Entry(
        path=str(checked.root),
        name=repo.name if repo else None,
        role=repo.role if repo else None,
        version=checked.version,
        author=repo.author if repo else None,
        tags=tuple(repo.tags or ()) if repo else (),
        needs=tuple(one.name for one in checked.dependencies if one.required),
        may_use=tuple(one.name for one in checked.dependencies if not one.required),
        experiments=tuple(one.name for one in checked.experiments),
        lacks=(*errors, *missing, *(() if is_installed or errors else ("install",))),
    )
