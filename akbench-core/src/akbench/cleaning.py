"""What dead harnesses left on this machine, and its removal. Only what carries our mark and whose owner is gone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from akbench.spec import AkbenchError, Sandbox
from akbench.workspace.removal import remove_tree
from akbench.workspace.scratch import PREFIX, abandoned_folders

__all__ = ["Remnant", "clean", "remnants"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remnant:
    """Something that a dead harness left. `where`: the folder it lies in, or the sandbox it belongs to."""

    kind: str
    name: str
    where: str
    remove: Callable[[], None] = field(repr=False)


def remnants(workspaces: Path | None, sandboxes: Iterable[tuple[str, Sandbox]]) -> Iterator[Remnant]:
    """What is left in the project's folder of `workspaces`, in the system's temporary folder, and of `sandboxes`."""
    for folder in abandoned_folders(workspaces) if workspaces is not None else ():
        yield _folder(folder)
    for folder in abandoned_folders(Path(tempfile.gettempdir()), PREFIX):
        yield _folder(folder)
    for name, sandbox in sandboxes:
        for each in sandbox.leftovers():
            yield Remnant(kind=each.kind, name=each.name, where=name, remove=partial(sandbox.remove, each))


def _folder(path: Path) -> Remnant:
    return Remnant(kind="folder", name=path.name, where=str(path.parent), remove=partial(remove_tree, path))


def clean(found: Iterable[Remnant]) -> tuple[tuple[Remnant, str | None], ...]:
    """Remove them: each with the reason if it could not be removed. Another harness may be cleaning as well."""
    return tuple((remnant, _removed(remnant)) for remnant in found)


def _removed(remnant: Remnant) -> str | None:
    try:
        remnant.remove()
    except FileNotFoundError:  # somebody else was quicker
        return None
    except (AkbenchError, OSError) as error:
        return str(error)
    return None
