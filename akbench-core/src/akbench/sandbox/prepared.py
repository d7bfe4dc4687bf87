"""Showing a prepared environment inside a sandbox: at its own paths, read-only, without the host's packages."""

from __future__ import annotations

import sys
from pathlib import Path

from akbench.dataset.environment import PreparedEnvironment
from akbench.spec import Bind

__all__ = ["environment_binds"]


def environment_binds(environment: PreparedEnvironment) -> tuple[Bind, ...]:
    """The environment, and its interpreter where that is not one that every sandbox shows anyway; nothing for an image.

    The packages of such an interpreter are covered by an empty folder: the library under test could lie there.
    """
    if environment.root is None or environment.base_prefix is None:
        return ()
    binds = [_at_its_place(environment.root)]
    prefix = environment.base_prefix
    if prefix != Path(sys.base_prefix) and not prefix.is_relative_to("/usr"):
        binds.append(_at_its_place(prefix))
        empty = environment.root.parent / "empty"
        empty.mkdir(exist_ok=True)
        packages = sorted(path for path in prefix.glob("lib/python3*/site-packages") if path.is_dir())
        binds += [Bind(host=empty, inside=str(path), writable=False) for path in packages]
    return tuple(binds)


def _at_its_place(path: Path) -> Bind:
    return Bind(host=path, inside=str(path), writable=False)
