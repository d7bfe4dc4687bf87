"""The results of an L1 repository as its files tell them, run by run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from akbench.spec import InputError
from akbench_abv3.check import check_repository
from akbench_abv3.completed import MAX_RESULT_BYTES, RUN_RECORD, TRANSCRIPT
from akbench_abv3.exchange.form import ResultExtra, RunConfig, read_config, read_extra
from akbench_abv3.execution.record import RunRecord, read_run_record
from akbench_abv3.experiments.layout import Experiment
from akbench_abv3.experiments.layout import RunConfig as RunConfigFile
from akbench_abv3.finding import errors_of
from akbench_abv3.reading.bounded import OutsideError, UnreadableError, contained, is_file, is_there, read_text
from akbench_abv3.reading.json_text import parse_json
from akbench_abv3.repository import Repository
from akbench_abv3.results.document import Result, Tier, judge_result
from akbench_abv3.stated import DESCRIPTION_FILE, EXPERIMENT_RESULT, RUN_RESULT

__all__ = ["Document", "JudgedExperiment", "JudgedRepository", "JudgedRun", "read_results"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A result file: its text, what it says, and AK-Bench's own part, if it has one that can be read."""

    text: str
    fields: dict[str, object]
    result: Result
    extra: ResultExtra | None

    def time(self, field: str) -> datetime | None:
        """A point in time that the document states, with its zone; None where it states none."""
        try:
            found = datetime.fromisoformat(str(self.fields.get(field)))
        except ValueError:
            return None
        return found if found.tzinfo else None

    @property
    def agent(self) -> tuple[str | None, str | None]:
        """Name and version of the agent, as far as the document says."""
        agent = self.fields.get("agent")
        if isinstance(agent, str):
            return agent, None
        name, version = (agent.get("name"), agent.get("version")) if isinstance(agent, dict) else (None, None)
        return (str(name) if name else None), (str(version) if version else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """One run config and what is there of it.

    `asked` is the run config where AK-Bench wrote it; `fault` says why a result file that is there cannot be used.
    """

    name: str
    result: Document | None
    asked: RunConfig | None = None
    record: RunRecord | None = None
    transcript: str | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedExperiment:
    """One experiment folder. `whole` is its results.json, None where there is none that is valid."""

    name: str
    runs: tuple[JudgedRun, ...]
    whole: Document | None

    @property
    def has_results(self) -> bool:
        """Whether anything was ever recorded of it."""
        return self.whole is not None or any(
            run.result or run.record or run.transcript or run.fault for run in self.runs
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRepository:
    """A repository and its results. `description` is the text of agentbeats.toml."""

    repository: Repository
    description: str
    results: str
    experiments: tuple[JudgedExperiment, ...]


def read_results(source: Path) -> JudgedRepository:
    """Read the repository at `source`, or the one whose results folder `source` is.

    Raises `InputError` where there is none, where it fails its check, or where it has no results at all.
    """
    root, results = _places(source)
    checked = check_repository(root, environment={})
    if checked.repository is None:
        faults = "\n".join(str(finding) for finding in errors_of(checked.findings))
        raise InputError(f"the repository does not pass abv3 check -l1:\n{faults}", place=str(root))
    folder = results or os.path.normpath(checked.repository.results_folder)
    experiments = tuple(_experiment(checked.repository, folder, each) for each in checked.repository.experiments)
    found = tuple(each for each in experiments if each.has_results)
    if not found:
        raise InputError("there are no results to import; run the repository first: abv3 run_exp", place=folder)
    description = (root / DESCRIPTION_FILE).read_text(encoding="utf-8")
    return JudgedRepository(repository=checked.repository, description=description, results=folder, experiments=found)


def _places(source: Path) -> tuple[Path, str | None]:
    """The root, and the results folder relative to it where one inside the root was named."""
    source = source.resolve()
    for root in (source, *source.parents):
        if (root / DESCRIPTION_FILE).is_file():
            return root, None if root == source else source.relative_to(root).as_posix()
    raise InputError(f"no {DESCRIPTION_FILE} here or above", place=str(source))


def _experiment(repository: Repository, folder: str, experiment: Experiment) -> JudgedExperiment:
    base = f"{folder}/{experiment.name}"
    whole, _ = _document(repository.root, f"{base}/{EXPERIMENT_RESULT}", Tier.EXPERIMENT)
    runs = tuple(_run(repository.root, f"{base}/{run.name}", run) for run in experiment.runs)
    return JudgedExperiment(name=experiment.name, runs=runs, whole=whole)


def _run(root: Path, base: str, run: RunConfigFile) -> JudgedRun:
    result, fault = _document(root, f"{base}/{RUN_RESULT}", Tier.RUN)
    record_path = _inside(root, f"{base}/{RUN_RECORD}")
    transcript = _inside(root, f"{base}/{TRANSCRIPT}")
    return JudgedRun(
        name=run.name,
        result=result,
        asked=_asked(root, run),
        record=read_run_record(record_path) if record_path else None,
        transcript=_text(transcript) if transcript else None,
        fault=fault,
    )


def _asked(root: Path, run: RunConfigFile) -> RunConfig | None:
    if run.path is None:
        return None
    try:
        return read_config(contained(root, run.path))
    except (InputError, OutsideError):
        return None  # the run config of another judge: its content is its own affair


def _inside(root: Path, path: str) -> Path | None:
    """The file, None where there is none or a link leads out of the repository."""
    try:
        found = contained(root, path)
    except OutsideError:
        return None
    return found if is_file(found) else None


def _text(path: Path) -> str | None:
    try:
        return read_text(path, MAX_RESULT_BYTES)
    except UnreadableError:
        return None


def _document(root: Path, path: str, tier: Tier) -> tuple[Document | None, str | None]:
    try:
        place = contained(root, path)
        if not is_there(place):
            return None, None
        text = read_text(place, MAX_RESULT_BYTES)
        fields = parse_json(text)
    except (OutsideError, UnreadableError) as error:
        return None, f"{path}: {error}"
    result, findings = judge_result(fields, tier, shown=path)
    if result is None or not isinstance(fields, dict):
        return None, "; ".join(str(finding) for finding in errors_of(findings))
    return Document(text=text, fields=fields, result=result, extra=read_extra(fields)), None
