"""Arranging the test files of a suite before anything of the tree runs: other names, and a failing test in each."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from akbench_evaluators.disguise import Disguise, disguise
from akbench_evaluators.node_ids import path_of
from akbench_evaluators.planting import plant

__all__ = ["Arrangement", "arrange", "chosen_files"]

_CHANCE = secrets.SystemRandom()
"""Nothing that the tested code seeds or patches later has a say in it."""


@dataclass(frozen=True)
class Arrangement:
    """The suite as it lies now. `planted`: the path of a test file -> the name of the test planted in it."""

    planted: Mapping[str, str]
    disguise: Disguise

    def where(self, path: str) -> str:
        """Where the test file lies that the task knows by `path`."""
        return self.disguise.paths.get(path, path)


def chosen_files(selectors: Collection[str]) -> list[Path]:
    """The test files that selectors name or whose folders they name, relative to the working directory."""
    paths = dict.fromkeys(Path(path_of(selector)) for selector in selectors)
    found = (file for path in paths for file in ([path] if path.is_file() else _test_files(path)))
    return list(dict.fromkeys(found))


def arrange(selectors: Collection[str], hidden: Collection[str]) -> Arrangement:
    """Rename the tests of the `hidden` ones among the chosen files, and plant a failing test in every chosen file."""
    sources = {file.as_posix(): file.read_bytes() for file in chosen_files(selectors) if _is_plain(file)}
    movable = {path_of(selector) for selector in selectors} & {*hidden}  # others run in the order of their names
    elsewhere = b"\n".join(_elsewhere(movable))
    disguised = disguise(sources, {*hidden} & {*sources}, elsewhere, _CHANCE)
    taken = b"\n".join((elsewhere, *sources.values(), *map(str.encode, disguised.originals)))
    planted: dict[str, str] = {}
    for path, own in sources.items():
        source, target = disguised.sources.get(path, own), disguised.paths.get(path, path)
        found = plant(source, _CHANCE, taken)
        if found is not None:
            planted[target] = found.name
            source = found.source
        if source != own or target != path:
            _write(Path(path), source, Path(target))
    return Arrangement(planted=planted, disguise=disguised)


def _test_files(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("test_*.py"), *folder.rglob("*_test.py")])


def _is_plain(file: Path) -> bool:
    return not file.is_symlink() and file.resolve().is_relative_to(Path.cwd())


def _elsewhere(movable: Collection[str]) -> Iterator[bytes]:
    """What may refer to a test or its file by name: the conftest files, and the paths of all files but the movable."""
    for folder, _, names in os.walk("."):
        for name in names:
            path = Path(folder, name)
            if path.as_posix() not in movable:
                yield os.fsencode(path)
            if name == "conftest.py" and path.is_file():
                yield path.read_bytes()


def _write(file: Path, source: bytes, target: Path) -> None:
    mode = file.stat().st_mode
    if target != file:
        file = file.rename(target)
    file.chmod(mode | stat.S_IWUSR)
    file.write_bytes(source)
    file.chmod(mode)
