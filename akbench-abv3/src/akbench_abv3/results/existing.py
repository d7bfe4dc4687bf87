"""The results that a repository holds already, read and judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.completed import MAX_FOLDER_ENTRIES
from akbench_abv3.experiments.order import natural_key
from akbench_abv3.finding import Finding
from akbench_abv3.reading.bounded import (
    OutsideError,
    UnreadableError,
    contained,
    entries_of,
    is_folder,
    is_there,
)
from akbench_abv3.results.document import Result, Tier, read_result
from akbench_abv3.results.transcripts import check_transcripts
from akbench_abv3.stated import EXPERIMENT_RESULT, RUN_RESULT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from akbench_abv3.experiments.layout import Experiment

__all__ = ["check_results", "check_transcript_level", "folders_of"]


def folders_of(folder: Path) -> tuple[Path, ...]:
    """Return the folders inside `folder` in natural order; none when it is missing."""
    if not is_folder(folder):
        return ()
    entries = entries_of(folder, MAX_FOLDER_ENTRIES)
    names = sorted((one.name for one in entries if one.is_dir(follow_symlinks=False)), key=natural_key)
    return tuple(folder / name for name in names)


def check_results(root: Path, folder: str) -> tuple[Finding, ...]:
    """Judge every results.json and result.json below the results folder."""
    return _Existing(root, folder).all_files()


def check_transcript_level(
    root: Path, folder: str, experiments: Sequence[Experiment], secrets: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Judge L1+t: each run of each experiment that has results has a result and a transcript."""
    return _Existing(root, folder).transcript_level(experiments, secrets)


@dataclass(slots=True)
class _Existing:
    root: Path
    folder: str

    def all_files(self) -> tuple[Finding, ...]:
        findings: list[Finding] = []
        for experiment in self._experiments(findings):
            self._judge(experiment / EXPERIMENT_RESULT, Tier.EXPERIMENT, findings)
            for run in self._folders_in(experiment, findings):
                self._judge(run / RUN_RESULT, Tier.RUN, findings)
        return tuple(findings)

    def transcript_level(self, experiments: Sequence[Experiment], secrets: Mapping[str, str]) -> tuple[Finding, ...]:
        findings: list[Finding] = []
        present = {folder.name for folder in self._experiments(findings)}
        shown_any = False
        for experiment in experiments:
            if experiment.name in present and self._has_results(experiment.name, findings):
                shown_any = True
                self._experiment(experiment, secrets, findings)
        if not shown_any and not findings:
            findings.append(Finding(code="T000", section="results", message="L1+t cannot be shown: no results"))
        return tuple(findings)

    def _has_results(self, experiment: str, findings: list[Finding]) -> bool:
        folder = self.root / self.folder / experiment
        return is_there(folder / EXPERIMENT_RESULT) or bool(self._folders_in(folder, findings))

    def _folders_in(self, experiment: Path, findings: list[Finding]) -> tuple[Path, ...]:
        try:
            return folders_of(experiment)
        except UnreadableError as error:
            message = f"its results cannot be listed: {error}"
            findings.append(Finding(code="R001", file=self._shown(experiment), section="results", message=message))
            return ()

    def _experiment(self, experiment: Experiment, secrets: Mapping[str, str], findings: list[Finding]) -> None:
        self._judge(
            self.root / self.folder / experiment.name / EXPERIMENT_RESULT,
            Tier.EXPERIMENT,
            findings,
            must=True,
        )
        for run in experiment.runs:
            run_dir = self.root / self.folder / experiment.name / run.name
            result = self._judge(run_dir / RUN_RESULT, Tier.RUN, findings, must=True)
            if is_folder(run_dir):
                findings.extend(
                    check_transcripts(
                        run_dir,
                        shown=self._shown(run_dir),
                        session=f"{experiment.name}/{run.name}",
                        result=result,
                        secrets=secrets,
                    )
                )

    def _experiments(self, findings: list[Finding]) -> tuple[Path, ...]:
        try:
            return folders_of(contained(self.root, self.folder))
        except (OutsideError, UnreadableError) as error:
            findings.append(Finding(code="E060", section="results", field="folder", message=str(error)))
            return ()

    def _judge(self, path: Path, tier: Tier, findings: list[Finding], *, must: bool = False) -> Result | None:
        shown = self._shown(path)
        try:
            real = contained(self.root, shown)
        except OutsideError as error:
            findings.append(Finding(code="E004", section="results", message=str(error)))
            return None
        if not is_there(real):
            if must:
                findings.append(Finding(code="T001", file=shown, section="results", message="no valid result"))
            return None
        result, found = read_result(real, tier, shown=shown)
        findings.extend(found)
        if tier is Tier.EXPERIMENT and result is not None and not result.names_main_metric:
            message = f'required in the file (the first metric would be "{result.main_metric}")'
            findings.append(Finding(code="R003", file=shown, section="results", field="main_metric", message=message))
        return result

    def _shown(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()
