"""The harness's Python in any image: it comes with its own loader and libraries, so it needs nothing of the image.

It stands at a place of its own, where it hides nothing that the image has.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from akbench.sandbox import layout
from akbench.spec import Bind, HostError
from akbench_sandbox_docker.image import libraries_of

__all__ = ["binds", "package_places", "words"]

_PLACE = "/ak/python"
_LIBRARIES = f"{_PLACE}/libraries"
_RELEASE = f"python{sys.version_info.major}.{sys.version_info.minor}"
_LOADER = re.compile(r"ld[-\d].*\.so\.\d+")
_LEFT_OUT = "_tkinter."
"""What needs a display, and many libraries for it."""


def words() -> tuple[str, ...]:
    """The words that start it inside."""
    loader = next((path.name for path in _libraries() if _LOADER.fullmatch(path.name)), None)
    program = f"{_PLACE}/bin/{_RELEASE}"
    if loader is None:  # a static one
        return (program,)
    return (f"{_LIBRARIES}/{loader}", "--library-path", _LIBRARIES, program)


def binds() -> tuple[Bind, ...]:
    """What must be shown for that, read-only."""
    return (
        _shown(Path(layout.interpreter()), f"bin/{_RELEASE}"),
        _shown(_standard_library(), f"lib/{_RELEASE}"),
        *(_shown(path, f"libraries/{path.name}") for path in _libraries()),
    )


def package_places() -> tuple[str, ...]:
    """Where packages of the host would appear inside: the library under test, solved, could be among them."""
    folders = ("site-packages", "dist-packages")
    return tuple(f"{_PLACE}/lib/{_RELEASE}/{name}" for name in folders if (_standard_library() / name).is_dir())


def _shown(host: Path, inside: str) -> Bind:
    return Bind(host=host.resolve(), inside=f"{_PLACE}/{inside}", writable=False)


def _standard_library() -> Path:
    return Path(sys.base_prefix, "lib", _RELEASE)


@functools.cache
def _libraries() -> tuple[Path, ...]:
    """The loader and the libraries of the interpreter and of its own modules, one of each name."""
    found = {Path(path).name: Path(path) for path in libraries_of([layout.interpreter(), *_modules()])}
    missing = [str(path) for path in found.values() if not path.exists()]
    if missing:
        raise HostError(f"the harness's Python names libraries that are not there: {', '.join(missing)}")
    return tuple(found[name] for name in sorted(found))


def _modules() -> Iterator[str]:
    for path in sorted((_standard_library() / "lib-dynload").glob("*.so")):
        if not path.name.startswith(_LEFT_OUT):
            yield str(path)
