"""``akbench dataset validate``: every task in all its states, and the verdicts stored in the dataset."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.dataset import filter_options
from akbench.cli.output import json_option, plain, print_json, project_option, say
from akbench.dataset.dataset import Dataset, Task, find_dataset, list_datasets, load_dataset
from akbench.dataset.verdict import Verdict, VerdictKey, verdict_path, write_verdict
from akbench.descriptors.kinds import Filters
from akbench.environments import ReadyEnvironment, strongest_environment
from akbench.experiment.publication import brought_by
from akbench.pipeline import check_task, clean_quietly, make_ready, prepared_key
from akbench.project import Project, cache_folder
from akbench.publish.campaign import TaskReport, validate_all
from akbench.publish.sorting import sort_tests
from akbench.publish.validation import TaskBench, refusal, validate_task
from akbench.spec import TASK_IMAGES, HostError, InputError, JsonValue
from akbench.workspace.scratch import scratch_folder

__all__ = ["validate"]


@click.command()
@click.argument("dataset_id", required=False)
@filter_options
@click.option("--static", is_flag=True, help="Check the files only; fetch, build and run nothing.")
@click.option(
    "--repetitions", type=click.IntRange(1, 100), help="How often each state is judged.  [default: dataset's]"
)
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Tasks at a time.")
@click.option("--again", is_flag=True, help="Validate tasks whose stored verdict still holds, too.")
@click.option("--sort-tests", "sort", is_flag=True, help="First write into evaluator.yaml which tests are targets.")
@project_option
@json_option
@click.pass_context
def validate(
    ctx: click.Context,
    /,
    dataset_id: str | None,
    project_dir: Path,
    *,
    static: bool,
    repetitions: int | None,
    jobs: int,
    again: bool,
    sort: bool,
    as_json: bool,
    **filters: tuple[str, ...],
) -> None:
    """Validate DATASET_ID (default: all): files, then each task in all its states, several times.

    The reference solution (and the tree before mutations, if it is another one) must pass everything, the unsolved
    tree must fail the targets and nothing else, a naive fix must look right and fail, ruining every file must score 0.
    The verdict is stored as validation/TASK.json in the dataset; a task whose stored verdict still holds is not run
    again. Exit code 1 if a task is not valid.
    """
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    folders = (find_dataset(project.root, dataset_id),) if dataset_id else list_datasets(project.root)
    chosen = [_checked(load_dataset(folder), Filters.model_validate(filters), catalogue) for folder in folders]
    if static:
        print_json({"valid": True, "tasks": []}) if as_json else say("the files are valid; nothing was run")
        return
    project.require_writable()
    for dataset, _ in chosen:
        _require_storable(dataset.folder)
    places = _Places(catalogue)
    clean_quietly(project, places.strongest)
    reports: list[TaskReport] = []
    for dataset, tasks in chosen:
        campaign = Campaign(
            dataset=dataset,
            catalogue=catalogue,
            places=places,
            project=project,
            repetitions=repetitions or dataset.model.dataset.validation.repetitions,
            again=again,
            sort=sort,
            cancelled=threading.Event(),
        )
        reports += campaign.run(tasks, jobs=jobs, quiet=as_json)
    _conclude(reports, as_json=as_json)
    ctx.exit(0 if all(report.valid for report in reports) else 1)


def _checked(dataset: Dataset, filters: Filters, catalogue: Catalogue) -> tuple[Dataset, tuple[Task, ...]]:
    """The dataset and the tasks to validate. Raises `InputError` that names the fault of every one that has one."""
    tasks = dataset.select(filters)
    faults: list[InputError] = []
    for task in tasks:
        try:
            check_task(task, catalogue)
        except InputError as error:
            faults.append(error)
    if len(faults) > 1:
        raise InputError("\n".join(str(fault) for fault in faults))
    if faults:
        raise faults[0]
    return dataset, tasks


class _Places:
    """Where tasks are judged: in the strongest sandbox, those with an image in the strongest that runs it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.strongest = strongest_environment(catalogue)
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self._for_images: ReadyEnvironment | HostError | None = None

    def of(self, task: Task) -> ReadyEnvironment:
        """The environment for `task`. Raises `HostError` if none works here."""
        if not task.descriptor.task.environment.has_image or TASK_IMAGES in self.strongest.sandbox.honours:
            return self.strongest
        with self._lock:
            if self._for_images is None:
                self._for_images = self._found()
        if isinstance(self._for_images, HostError):
            raise HostError(str(self._for_images))
        return self._for_images

    def _found(self) -> ReadyEnvironment | HostError:
        try:
            return strongest_environment(self._catalogue, task_images=True)
        except HostError as error:
            return error


def _require_storable(dataset: Path) -> None:
    """Raise `HostError` before anything runs if no verdict could be stored afterwards."""
    place = verdict_path(dataset, "x").parent
    try:
        place.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise HostError(
            f"{place} cannot be written to ({error.strerror}), and verdicts are stored there; make it a writable folder"
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Validating tasks of one dataset on this machine."""

    dataset: Dataset
    catalogue: Catalogue
    places: _Places
    project: Project
    repetitions: int
    again: bool
    sort: bool
    cancelled: threading.Event

    def run(self, tasks: tuple[Task, ...], *, jobs: int, quiet: bool) -> tuple[TaskReport, ...]:
        """Validate `tasks` and say how it goes."""
        with _progress(len(tasks), quiet=quiet) as finished:
            return validate_all(
                tasks,
                stored=self._stored,
                validate=self._validate,
                finished=finished,
                jobs=jobs,
                cancelled=self.cancelled,
            )

    def _key(self, task: Task) -> VerdictKey:
        return task.verdict_key(brought_by(task, self.catalogue))

    def _stored(self, task: Task) -> Verdict | None:
        """The stored verdict if it holds on this machine as well."""
        verdict = task.verdict
        if self.again or verdict is None or verdict.key != self._key(task):
            return None
        if verdict.environment is None:
            return verdict
        try:
            here = prepared_key(task, self.places.of(task).sandbox)
        except InputError:  # validating says so in the verdict
            return None
        return verdict if verdict.environment == here and verdict.repetitions >= self.repetitions else None

    def _validate(self, task: Task) -> Verdict:
        if self.cancelled.is_set():
            raise HostError("cancelled")
        with self._scratch() as scratch:
            verdict = self._judge(task, scratch)
        path = verdict_path(self.dataset.folder, task.descriptor.id)
        try:
            write_verdict(verdict, path)
        except OSError as error:
            raise HostError(f"the verdict cannot be stored: {error.filename or path}: {error.strerror}") from error
        return verdict

    def _judge(self, task: Task, scratch: Path) -> Verdict:
        try:
            bench = self._bench(task, self.dataset, scratch)
            if self.sort and sort_tests(bench):
                again = load_dataset(self.dataset.folder)
                bench = self._bench(again.task(task.descriptor.id), again, scratch)
        except InputError as error:
            return refusal(task, self._key(task), error)
        return validate_task(bench, self._key(bench.assembled.task), repetitions=self.repetitions)

    def _bench(self, task: Task, dataset: Dataset, scratch: Path) -> TaskBench:
        place = self.places.of(task)
        ready = make_ready(task, dataset, self.catalogue, cache_folder(), place.sandbox)
        return TaskBench(
            assembled=ready.assembled,
            snapshot=ready.snapshot,
            environment=ready.environment,
            evaluators=ready.evaluators,
            sandbox=ready.sandbox,
            sandbox_name=place.sandbox_id,
            cache=cache_folder(),
            scratch=scratch,
            cancelled=self.cancelled,
        )

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        with scratch_folder("validate-", self.project.workspaces) as scratch:
            scratch.chmod(0o755)
            yield scratch


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[TaskReport], None]]:
    """One line for each finished task, and a bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        everything = bar.add_task("validating", total=total)

        def finished(report: TaskReport) -> None:
            bar.advance(everything)
            for line in () if quiet else _lines(report):
                # On a terminal the bar must make room for the line; a file gets it as it is.
                bar.console.print(Text(plain(line)), soft_wrap=True) if sys.stdout.isatty() else say(line)

        yield finished


def _lines(report: TaskReport) -> Iterator[str]:
    if report.verdict is None:
        yield f"{report.task_id}: could not be validated here: {report.lack}"
        return
    word = "ok" if report.valid else "NOT VALID"
    yield f"{report.task_id}: {word} ({'stored' if report.reused else f'{report.seconds:.1f} s'})"
    for problem in report.verdict.problems:
        yield f"  - {problem}"
    for test in report.verdict.quarantined:
        yield f"  quarantined as flaky: {test.id} (passed {test.passed} of {test.of}, {test.state})"


def _conclude(reports: list[TaskReport], *, as_json: bool) -> None:
    if as_json:
        print_json({"valid": all(report.valid for report in reports), "tasks": [_report_json(r) for r in reports]})
        return
    valid = sum(report.valid for report in reports)
    unknown = sum(report.verdict is None for report in reports)
    refused = len(reports) - valid - unknown
    say(f"{valid} valid, {refused} refused, {unknown} could not be validated here")


def _report_json(report: TaskReport) -> dict[str, JsonValue]:
    verdict = report.verdict
    return {
        "task": report.task_id,
        "ok": report.valid,
        "problems": list(verdict.problems) if verdict else [],
        "lack": report.lack,
        "reused": report.reused,
        "seconds": round(report.seconds, 2),
        "fail_to_pass": len(verdict.fail_to_pass) if verdict else None,
        "pass_to_pass": len(verdict.pass_to_pass) if verdict else None,
        "quarantined": [test.id for test in verdict.quarantined] if verdict else [],
    }
