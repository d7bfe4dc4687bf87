"""What dead harnesses left on this machine, and its removal. Only what carries our mark and whose owner is gone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from akbench.foreign import cause_of
from akbench.spec import HostError, Sandbox
from akbench.workspace.removal import remove_tree
from akbench.workspace.scratch import PREFIX, abandoned_folders, unclear_folders

__all__ = ["Remnant", "clean", "left_alone", "remnants"]


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
        yield from _of_sandbox(name, sandbox)


def left_alone(workspaces: Path | None) -> tuple[tuple[Path, str], ...]:
    """Folders in the same places that are marked, but not so that their owner could be told; each with the reason."""
    ours = unclear_folders(workspaces) if workspaces is not None else ()
    return (*ours, *unclear_folders(Path(tempfile.gettempdir()), PREFIX))


def _of_sandbox(name: str, sandbox: Sandbox) -> Iterator[Remnant]:
    try:
        found = sandbox.leftovers()
    except Exception as error:  # noqa: BLE001 - one sandbox that does not tell keeps nobody from cleaning the rest
        yield Remnant(kind="sandbox", name=name, where=name, remove=partial(_untold, cause_of(error)))
        return
    for each in found:
        yield Remnant(kind=each.kind, name=each.name, where=name, remove=partial(sandbox.remove, each))


def _untold(cause: str) -> None:
    raise HostError(f"what it left cannot be told: {cause}")


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
    except Exception as error:  # noqa: BLE001 - whatever keeps one back, the others are removed
        return cause_of(error)
    return None
