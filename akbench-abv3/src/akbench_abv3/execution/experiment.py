"""An experiment on one page: each run in turn, then the experiment's result."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from akbench_abv3 import __version__
from akbench_abv3.completed import (
    EXPERIMENT_RESULT_FILE_VARIABLE,
    EXPERIMENT_VARIABLE,
    MAX_CONFIG_BYTES,
    REPO_ROOT_VARIABLE,
    RESULT_FILE_VARIABLE,
    RESUME_VARIABLE,
    RUN_DIR_VARIABLE,
    RUN_VARIABLE,
    STDERR_LOG,
    STDOUT_LOG,
    TRANSCRIPT_FILE_VARIABLE,
    RunStatus,
)
from akbench_abv3.execution.leaks import leaks_in
from akbench_abv3.execution.masking import masked
from akbench_abv3.execution.output import MaskedOutput
from akbench_abv3.execution.record import RunRecord, read_run_record, write_record
from akbench_abv3.execution.resume import Present, rerun_reason
from akbench_abv3.execution.supervise import Ended, Ending, supervise
from akbench_abv3.finding import Finding
from akbench_abv3.reading.bounded import OutsideError, UnreadableError, contained, read_bytes
from akbench_abv3.results.document import Result, Tier, read_result
from akbench_abv3.results.transcripts import transcript_names
from akbench_abv3.stated import RUN_CONFIG_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from akbench_abv3.execution.folders import ExperimentFolder, RunFolder
    from akbench_abv3.execution.interrupts import Interrupts
    from akbench_abv3.experiments.layout import Experiment, RunConfig
    from akbench_abv3.repository import Repository

__all__ = ["Live", "Order", "RunOutcome", "execute", "reason_to_run", "verdict"]


class Live(Protocol):
    """Is told what happens while it happens."""

    def run_started(self, name: str, number: int, total: int) -> None:
        """A run begins."""

    def line(self, name: str, text: str) -> None:
        """A run wrote a line, masked and without escape sequences."""

    def run_ended(self, outcome: RunOutcome) -> None:
        """A run has its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """What became of one run. `note` says in words why it was kept, repeated or not finished."""

    name: str
    status: RunStatus
    result: Result | None = None
    findings: tuple[Finding, ...] = ()
    duration_seconds: float | None = None
    note: str = ""
    was_kept: bool = False
    was_selected: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be executed and how. `environment` is complete but for the run's own variables.

    `lock` is the descriptor of the held lock.
    """

    repository: Repository
    experiment: Experiment
    folder: ExperimentFolder
    shown_folder: str
    environment: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    dependencies: tuple[str, ...]
    timeout_seconds: float | None
    resume: bool = False
    only: frozenset[str] | None = None
    fail_fast: bool = False
    lock: int | None = None


def execute(order: Order, interrupts: Interrupts, live: Live) -> tuple[RunOutcome, ...]:
    """Execute the runs in order; one that fails does not stop the others."""
    outcomes: list[RunOutcome] = []
    stopped = ""
    for number, run in enumerate(order.experiment.runs, start=1):
        if interrupts.happened:
            stopped = "the experiment was interrupted"
        execution = _Execution(order, run, interrupts, live)
        outcome = execution.outcome(stopped, number)
        outcomes.append(outcome)
        live.run_ended(outcome)
        if order.fail_fast and outcome.status not in (RunStatus.FINISHED, RunStatus.NOT_RUN):
            stopped = stopped or f"{run.name} did not finish, and --fail-fast was given"
    return tuple(outcomes)


def verdict(ended: Ended, *, has_result: bool, is_valid: bool) -> RunStatus:
    """Judge a run: finished only with exit code 0 and a valid result."""
    if ended.ending is Ending.INTERRUPTED:
        return RunStatus.INTERRUPTED
    if ended.ending is Ending.TIMEOUT:
        return RunStatus.TIMEOUT
    if ended.exit_code != 0:
        return RunStatus.FAILED
    if not has_result:
        return RunStatus.NO_RESULT
    return RunStatus.FINISHED if is_valid else RunStatus.INVALID_RESULT


class _Execution:
    def __init__(self, order: Order, run: RunConfig, interrupts: Interrupts, live: Live) -> None:
        self._order, self._run, self._interrupts, self._live = order, run, interrupts, live
        self._folder: RunFolder = order.folder.run(run.name)
        self._shown = f"{order.shown_folder}/{run.name}"

    def outcome(self, stopped: str, number: int) -> RunOutcome:
        """Keep the earlier result, leave the run out, or execute it."""
        try:
            return self._outcome(stopped, number)
        except UnreadableError as error:
            note = f"its run config cannot be read: {error}"
            return RunOutcome(name=self._run.name, status=RunStatus.FAILED, note=note)

    def _outcome(self, stopped: str, number: int) -> RunOutcome:
        earlier = read_run_record(self._folder.record) if self._order.resume else None
        reason = reason_to_run(self._order.repository, self._run, self._folder) if self._order.resume else None
        if self._order.resume and reason is None:
            return self._kept()
        is_selected = self._order.only is None or self._run.name in self._order.only
        if stopped or not is_selected:
            note = "not selected" if not is_selected else stopped
            return RunOutcome(name=self._run.name, status=RunStatus.NOT_RUN, note=note, was_selected=is_selected)
        self._live.run_started(self._run.name, number, len(self._order.experiment.runs))
        if reason is not None and earlier is not None:
            self._live.line(self._run.name, f"(abv3) running again: {reason}")
        return self._executed(earlier)

    def _kept(self) -> RunOutcome:
        result, findings = self._read_result()
        return RunOutcome(
            name=self._run.name,
            status=RunStatus.FINISHED,
            result=result,
            findings=findings,
            note="kept from an earlier execution",
            was_kept=True,
        )

    def _executed(self, earlier: RunRecord | None) -> RunOutcome:
        self._folder.path.mkdir(parents=True, exist_ok=True)
        attempt = earlier.attempt + 1 if earlier else 1
        self._folder.put_earlier_aside(attempt - 1)
        record = self._new_record(attempt)
        write_record(self._folder.record, record)
        ended = self._supervised(is_resumed=earlier is not None and earlier.status is not RunStatus.FINISHED)
        outcome = self._judged(ended)
        try:
            self._folder.path.mkdir(parents=True, exist_ok=True)
            write_record(self._folder.record, _completed(record, ended, outcome))
        except OSError as error:  # the command removed, replaced or closed its own folder, or filled the disk
            note = f"its result folder cannot be written: {error.strerror}"
            return replace(outcome, status=RunStatus.FAILED, result=None, note=note)
        return outcome

    def _new_record(self, attempt: int) -> RunRecord:
        repository = self._order.repository
        return RunRecord(
            status=RunStatus.INTERRUPTED,
            started_at=_now(),
            timeout_s=self._order.timeout_seconds,
            attempt=attempt,
            config_path=self._run.path,
            config_sha256=_config_sha256(repository, self._run),
            command=repository.run_command,
            git_commit=repository.git.commit,
            git_dirty=repository.git.dirty,
            repo_version=repository.version,
            abv3_version=__version__,
            dependencies=self._order.dependencies,
        )

    def _supervised(self, *, is_resumed: bool) -> Ended:
        show = lambda text: self._live.line(self._run.name, text)  # noqa: E731
        secrets = tuple(self._order.secrets.values())
        with (
            (self._folder.path / STDOUT_LOG).open("xb") as out,
            (self._folder.path / STDERR_LOG).open("xb") as err,
        ):
            outputs = MaskedOutput(out, secrets, show), MaskedOutput(err, secrets, show)
            ended = supervise(
                self._order.repository.run_command,
                cwd=self._order.repository.root,
                environment=self._environment(is_resumed=is_resumed),
                stdout=outputs[0],
                stderr=outputs[1],
                timeout_seconds=self._order.timeout_seconds,
                interrupts=self._interrupts,
                held=() if self._order.lock is None else (self._order.lock,),
            )
            for output in outputs:
                output.finish()
        return ended

    def _environment(self, *, is_resumed: bool) -> dict[str, str]:
        root = self._order.repository.root
        own = {
            REPO_ROOT_VARIABLE: root,
            EXPERIMENT_VARIABLE: self._order.experiment.name,
            RUN_VARIABLE: self._run.name,
            RUN_DIR_VARIABLE: self._folder.path,
            RESULT_FILE_VARIABLE: self._folder.result,
            TRANSCRIPT_FILE_VARIABLE: self._folder.transcript,
            EXPERIMENT_RESULT_FILE_VARIABLE: self._order.folder.result,
            RESUME_VARIABLE: "1" if is_resumed else "0",
        }
        environment = {**self._order.environment, **{name: str(value) for name, value in own.items()}}
        environment.pop(RUN_CONFIG_VARIABLE, None)
        if self._run.path is not None:
            environment[RUN_CONFIG_VARIABLE] = str(root / self._run.path)
        return environment

    def _judged(self, ended: Ended) -> RunOutcome:
        result, findings = self._read_result()
        has_result = os.path.lexists(self._folder.result)
        transcripts = frozenset(transcript_names(result))
        leaks = leaks_in(self._folder.path, self._order.secrets, transcripts, shown=self._shown)
        status = verdict(ended, has_result=has_result, is_valid=result is not None)
        return RunOutcome(
            name=self._run.name,
            status=status,
            result=result if status is RunStatus.FINISHED else None,
            findings=(*map(self._masked, findings if status is RunStatus.INVALID_RESULT or result else ()), *leaks),
            duration_seconds=ended.duration_seconds,
            note=_note(ended, status),
        )

    def _masked(self, finding: Finding) -> Finding:
        # A finding quotes the result, and a program may have written a credential anywhere in it.
        values = tuple(self._order.secrets.values())
        return replace(finding, message=masked(finding.message, values), field=masked(finding.field, values))

    def _read_result(self) -> tuple[Result | None, tuple[Finding, ...]]:
        return _result_in(self._folder, self._shown)


def reason_to_run(repository: Repository, run: RunConfig, folder: RunFolder) -> str | None:
    """Return why the run has to be executed, or None when its earlier result stands.

    Raises UnreadableError when its run config cannot be read.
    """
    result, _ = _result_in(folder, folder.path.name)
    present = Present(
        config_sha256=_config_sha256(repository, run),
        command=repository.run_command,
        git_commit=repository.git.commit,
        changed=repository.git.changed,
    )
    return rerun_reason(read_run_record(folder.record), present, result_is_valid=result is not None)


def _result_in(folder: RunFolder, shown: str) -> tuple[Result | None, tuple[Finding, ...]]:
    if not os.path.lexists(folder.result):
        return None, ()
    place = f"{shown}/{folder.result.name}"
    try:
        return read_result(contained(folder.path, folder.result.name), Tier.RUN, shown=place)
    except OutsideError:
        return None, (Finding(code="R001", file=place, section="results", message="a link out of the run folder"),)


def _config_sha256(repository: Repository, run: RunConfig) -> str | None:
    if run.path is None:
        return None
    path = contained(repository.root, run.path)
    return hashlib.sha256(read_bytes(path, MAX_CONFIG_BYTES)).hexdigest()


def _completed(record: RunRecord, ended: Ended, outcome: RunOutcome) -> RunRecord:
    return record.model_copy(
        update={
            "status": outcome.status,
            "exit_code": ended.exit_code,
            "signal": ended.signal,
            "finished_at": _now(),
            "duration_s": ended.duration_seconds,
            "left_behind": ended.left_behind,
            "findings": tuple(map(str, outcome.findings)),
        }
    )


def _note(ended: Ended, status: RunStatus) -> str:
    how = f"ended by {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
    words = {
        RunStatus.FAILED: how,
        RunStatus.NO_RESULT: "exit code 0, but no result.json",
        RunStatus.INVALID_RESULT: "result.json is not valid",
        RunStatus.TIMEOUT: f"stopped after {ended.duration_seconds:.0f} s",
    }
    left = f"ended {ended.left_behind} processes that it left running" if ended.left_behind else ""
    return "; ".join(one for one in (words.get(status, ""), left) if one)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
