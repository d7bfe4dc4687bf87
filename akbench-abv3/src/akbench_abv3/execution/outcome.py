"""An experiment's result: the command's own results.json, or one made from the runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from akbench_abv3 import __version__
from akbench_abv3.completed import MAX_RESULT_BYTES, RunStatus
from akbench_abv3.execution.leaks import leaks_in_result
from akbench_abv3.execution.masking import masked
from akbench_abv3.execution.record import ExperimentRecord, write_record
from akbench_abv3.reading.bounded import UnreadableError, is_file, read_bytes, read_text
from akbench_abv3.reading.json_text import parse_json
from akbench_abv3.results.aggregate import RunTally, aggregate
from akbench_abv3.results.document import Result, Tier, judge_result, read_result
from akbench_abv3.writing import json_document, write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from akbench_abv3.execution.experiment import Order, RunOutcome
    from akbench_abv3.finding import Finding

__all__ = ["ExperimentOutcome", "conclude", "file_state", "mark_running"]

_COMMAND, _TOOL = "command", "abv3"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentOutcome:
    """What became of an experiment. `result` is None when no results.json could be written."""

    experiment: str
    runs: tuple[RunOutcome, ...]
    result: Result | None
    written_by: str | None
    findings: tuple[Finding, ...]
    reason: str

    @property
    def finished(self) -> int:
        """The number of runs that finished, now or earlier."""
        return sum(run.status is RunStatus.FINISHED for run in self.runs)

    @property
    def has_passed(self) -> bool:
        """Whether every run that was asked for finished.

        A command that wrote results.json itself owes no run results.
        """
        good = {RunStatus.FINISHED}
        if self.written_by == _COMMAND:
            good.add(RunStatus.NO_RESULT)
        asked_for = [run for run in self.runs if run.was_selected]
        return self.result is not None and all(run.status in good for run in asked_for)

    @property
    def is_complete(self) -> bool:
        """Whether, beyond that, no run was left out."""
        return self.has_passed and all(run.was_selected or run.was_kept for run in self.runs)


def file_state(path: Path) -> str | None:
    """Return what tells a later change of the file apart, or None when there is none."""
    if not is_file(path):
        return None
    facts = path.stat()
    try:
        content = hashlib.sha256(read_bytes(path, MAX_RESULT_BYTES)).hexdigest()
    except UnreadableError as error:
        content = str(error)  # too large or closed: the times and the size have to do
    return f"{facts.st_mtime_ns} {facts.st_ino} {facts.st_size} {content}"


def mark_running(order: Order, started_at: str) -> None:
    """Record that the experiment has begun; every run counts as not run until it ends."""
    runs = {run.name: RunStatus.NOT_RUN for run in order.experiment.runs}
    write_record(order.folder.record, _record(order, started_at, runs, status="interrupted"))


def conclude(
    order: Order, runs: tuple[RunOutcome, ...], *, state_before: str | None, started_at: str, was_own: bool
) -> ExperimentOutcome:
    """Write results.json and the experiment's record.

    `state_before` is what `file_state` said of results.json before the first run; `was_own` says
    that the command, not this tool, wrote that earlier file.
    """
    path = order.folder.result
    changed = file_state(path) not in (None, state_before)
    is_same_as_before = state_before is not None and all(run.was_kept for run in runs)
    is_own = changed or (was_own and is_same_as_before)
    outcome = _masked(order, (_own if is_own else _aggregated)(order, runs, path))
    _write_experiment_record(order, outcome, started_at)
    return outcome


def _masked(order: Order, outcome: ExperimentOutcome) -> ExperimentOutcome:
    """Take secret values out of what is told of the outcome, and tell of those in the result itself."""
    values = tuple(order.secrets.values())
    told = (
        replace(one, message=masked(one.message, values), field=masked(one.field, values)) for one in outcome.findings
    )
    path = order.folder.result
    leaks = leaks_in_result(path, order.secrets, shown=f"{order.shown_folder}/{path.name}")
    return replace(outcome, findings=(*told, *leaks), reason=masked(outcome.reason, values))


def _own(order: Order, runs: tuple[RunOutcome, ...], path: Path) -> ExperimentOutcome:
    shown = f"{order.shown_folder}/{path.name}"
    result, findings = read_result(path, Tier.EXPERIMENT, shown=shown)
    if result is not None and not result.names_main_metric:
        document = parse_json(read_text(path, MAX_RESULT_BYTES))
        assert isinstance(document, dict)
        write_atomically(path, json_document({**document, "main_metric": result.main_metric}))
    return ExperimentOutcome(
        experiment=order.experiment.name,
        runs=runs,
        result=result,
        written_by=_COMMAND,
        findings=findings,
        reason="" if result else f"the one that the command wrote is not valid ({shown})",
    )


def _aggregated(order: Order, runs: tuple[RunOutcome, ...], path: Path) -> ExperimentOutcome:
    shown = f"{order.shown_folder}/{path.name}"
    finished = {run.name: run.result for run in runs if run.result is not None}
    failed = sum(run.status not in (RunStatus.FINISHED, RunStatus.NOT_RUN) for run in runs)
    tally = RunTally(total=len(runs), finished=len(finished), failed=failed)
    aggregated = aggregate(finished, tally, shown=shown)
    if aggregated.document is None:
        path.unlink(missing_ok=True)  # what an earlier execution aggregated would be a wrong claim now
        result, findings = None, aggregated.findings
    else:
        write_atomically(path, json_document(aggregated.document))
        result, findings = judge_result(aggregated.document, Tier.EXPERIMENT, shown=shown)
    return ExperimentOutcome(
        experiment=order.experiment.name,
        runs=runs,
        result=result,
        written_by=_TOOL if result else None,
        findings=findings,
        reason=aggregated.reason,
    )


def _write_experiment_record(order: Order, outcome: ExperimentOutcome, started_at: str) -> None:
    runs = {run.name: run.status for run in outcome.runs}
    status = "complete" if outcome.is_complete else "partial"
    record = _record(order, started_at, runs, status=status)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    update = {
        "finished_at": now,
        "results_written_by": outcome.written_by,
        "no_results_reason": outcome.reason or None,
        "findings": tuple(map(str, outcome.findings)),
    }
    write_record(order.folder.record, record.model_copy(update=update))


def _record(order: Order, started_at: str, runs: dict[str, RunStatus], *, status: str) -> ExperimentRecord:
    return ExperimentRecord(
        experiment=order.experiment.name,
        status=status,
        started_at=started_at,
        repo_name=order.repository.name,
        repo_version=order.repository.version,
        abv3_version=__version__,
        runs=runs,
    )
