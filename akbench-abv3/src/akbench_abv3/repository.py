"""A repository that passed its check: everything that setting up and running need, without gaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from akbench_abv3.dependencies.declared import Dependency
    from akbench_abv3.description.git import GitFacts
    from akbench_abv3.experiments.layout import Experiment

__all__ = ["Repository"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """An accepted repository. Folders are relative to `root`; times are in seconds."""

    root: Path
    name: str
    role: str
    author: str
    version: str
    version_source: str
    tags: tuple[str, ...]
    logo_file: str | None
    run_command: str
    run_timeout_seconds: float | None
    install_command: str | None
    install_timeout_seconds: float | None
    dependencies: tuple[Dependency, ...]
    experiments: tuple[Experiment, ...]
    default_experiment: str
    results_folder: str
    git: GitFacts

    def experiment(self, name: str | None) -> Experiment | None:
        """Return the named experiment, the default one for None, or None when there is none such."""
        wanted = name or self.default_experiment
        return next((one for one in self.experiments if one.name == wanted), None)
