"""The run-configs folder read into experiments, with a finding for what does not belong."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from akbench_abv3.completed import (
    CONFIG_SUFFIXES,
    DEFAULT_RUN,
    EXPERIMENT_RECORD,
    MAX_CONFIG_BYTES,
    MAX_FOLDER_ENTRIES,
    NAME_PATTERN,
)
from akbench_abv3.experiments.order import natural_key
from akbench_abv3.finding import Finding
from akbench_abv3.reading.bounded import (
    OutsideError,
    UnreadableError,
    contained,
    entries_of,
    is_folder,
    read_text,
)
from akbench_abv3.reading.config_text import scan_config
from akbench_abv3.stated import DEFAULT_EXPERIMENT, EXPERIMENT_RESULT

if TYPE_CHECKING:
    from akbench_abv3.description.sections import RunConfigsSection

__all__ = ["Experiment", "RunConfig", "default_way", "read_experiments"]

_NAME: Final = re.compile(NAME_PATTERN)
_SECTION: Final = "run_configs"
_TAKEN: Final = (EXPERIMENT_RESULT, EXPERIMENT_RECORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """One run of an experiment. `path` is relative to the root; None: the one default way to run."""

    name: str
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """An experiment folder: its runs in the order in which they are executed."""

    name: str
    runs: tuple[RunConfig, ...]


def default_way() -> Experiment:
    """Return the experiment of a repository that has no run configs."""
    return Experiment(name=DEFAULT_EXPERIMENT, runs=(RunConfig(name=DEFAULT_RUN, path=None),))


def read_experiments(
    root: Path, section: RunConfigsSection | None
) -> tuple[tuple[Experiment, ...], tuple[Finding, ...]]:
    """Return the experiments below the run-configs folder, in natural order."""
    if section is None:
        return (default_way(),), ()
    if section.folder is None:
        return (), ()
    try:
        folder = contained(root, section.folder)
    except OutsideError as error:
        return (), (_finding("E004", str(error), field="folder"),)
    if not is_folder(folder):
        return (), (_finding("E050", f"{section.folder} is not a directory", field="folder"),)
    return _Layout(root, folder).read(section)


class _Layout:
    """One walk through the run-configs folder; collects findings on the way."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._folder = folder
        self._findings: list[Finding] = []

    def read(self, section: RunConfigsSection) -> tuple[tuple[Experiment, ...], tuple[Finding, ...]]:
        found = [self._experiment(entry) for entry in self._sorted(self._folder)]
        experiments = tuple(one for one in found if one is not None)
        self._check_default(section, {one.name for one in experiments})
        return experiments, tuple(self._findings)

    def _check_default(self, section: RunConfigsSection, names: set[str]) -> None:
        if section.default_exp is None:
            if DEFAULT_EXPERIMENT not in names and names:
                self._add("W051", f"no experiment {DEFAULT_EXPERIMENT}; run_exp needs a name", field="default_exp")
        elif section.default_exp not in names:
            message = f'"{section.default_exp}": no folder {self._relative(self._folder)}/{section.default_exp}'
            self._add("E051", message, field="default_exp")

    def _experiment(self, entry: os.DirEntry[str]) -> Experiment | None:
        path = Path(entry.path)
        if not self._is_inside(path):
            return None
        if not is_folder(path):
            if path.suffix in CONFIG_SUFFIXES:
                self._add("E052", f"{entry.name} is not inside an experiment folder")
            return None
        if not _NAME.match(entry.name) or entry.name.endswith("\n"):
            self._add("E052", f'"{entry.name}" is no experiment name: only letters, digits, . _ - (max 100)')
            return None
        runs = tuple(run for run in (self._run(one) for one in self._sorted(path)) if run is not None)
        if not runs:
            self._add("E053", f"experiment {entry.name} has no run config")
        self._check_clashes(entry.name, runs)
        return Experiment(name=entry.name, runs=runs)

    def _run(self, entry: os.DirEntry[str]) -> RunConfig | None:
        path = Path(entry.path)
        if not self._is_inside(path):
            return None
        shown = _below(self._folder, path)
        if path.suffix not in CONFIG_SUFFIXES or is_folder(path):
            self._add("W053", f"{shown} is not a run config; ignored")
            return None
        if not entry.name.isprintable():
            self._add("E057", f'the file name "{entry.name}" has characters that cannot be printed')
            return None
        self._check_content(path, shown)
        return RunConfig(name=path.stem, path=self._relative(path))

    def _check_content(self, path: Path, shown: str) -> None:
        try:
            facts = scan_config(read_text(path, MAX_CONFIG_BYTES), path.suffix)
        except UnreadableError as error:
            self._add("E054", f"{shown}: {error}")
            return
        if not facts.is_mapping:
            self._add("W054", f"{shown}: the top level is not a mapping")
        for key in facts.credentials:
            self._add("W056", f"{shown}: {key[:200] or 'the value'} looks like a credential")

    def _check_clashes(self, experiment: str, runs: tuple[RunConfig, ...]) -> None:
        sharing: dict[str, list[str]] = {}
        for run in runs:
            sharing.setdefault(run.name.casefold(), []).append(Path(run.path or "").name)
        for name, files in sharing.items():
            if len(files) > 1:
                self._add("E055", f"{' and '.join(files)} would share results/{experiment}/{name}")
        for run in runs:
            if run.name in _TAKEN:
                self._add("E055", f"{Path(run.path or '').name} would share results/{experiment}/{run.name}")

    def _is_inside(self, path: Path) -> bool:
        try:
            contained(self._root, self._relative(path))
        except OutsideError as error:
            self._add("E004", str(error))
            return False
        return True

    def _sorted(self, folder: Path) -> list[os.DirEntry[str]]:
        try:
            entries = entries_of(folder, MAX_FOLDER_ENTRIES)
        except UnreadableError as error:
            self._add("E050", f"{self._relative(folder)}: {error}", field="folder")
            return []
        return sorted(entries, key=lambda entry: natural_key(entry.name))

    def _relative(self, path: Path) -> str:
        return _below(self._root, path)

    def _add(self, code: str, message: str, *, field: str = "") -> None:
        self._findings.append(_finding(code, message, field=field))


def _below(folder: Path, path: Path) -> str:
    # Path.relative_to takes most of the time of a check with many run configs.
    return "." if path == folder else str(path).removeprefix(os.path.join(folder, ""))  # noqa: PTH118 - Path drops the last slash


def _finding(code: str, message: str, *, field: str = "") -> Finding:
    return Finding(code=code, section=_SECTION, field=field, message=message)
