"""`abv3 run_exp`."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from akbench_abv3.cli.options import Seconds, allow_unknown_option, directory_option, store_option
from akbench_abv3.cli.refusal import Refusal, accepted_repository
from akbench_abv3.completed import ExitCode, RunStatus
from akbench_abv3.dependencies.installed import read_installed
from akbench_abv3.dependencies.provided import Provision, provide_all, run_environment, secret_variables
from akbench_abv3.dependencies.store import StoreError, open_store
from akbench_abv3.execution.experiment import Order, execute, reason_to_run
from akbench_abv3.execution.folders import ExperimentFolder
from akbench_abv3.execution.interrupts import Interrupts
from akbench_abv3.execution.live import showing
from akbench_abv3.execution.lock import LockedError, locked
from akbench_abv3.execution.masking import masked
from akbench_abv3.execution.outcome import ExperimentOutcome, conclude, file_state, mark_running
from akbench_abv3.execution.record import read_experiment_record
from akbench_abv3.reading.bounded import OutsideError, contained
from akbench_abv3.stated import EXPERIMENT_RESULT
from akbench_abv3.terminal import visible

if TYPE_CHECKING:
    from akbench_abv3.experiments.layout import Experiment
    from akbench_abv3.repository import Repository


@click.command("run_exp")
@click.argument("name", metavar="[EXPERIMENT]", required=False)
@directory_option
@click.option("--only", multiple=True, metavar="RUN", help="Run only this run config (may be repeated).")
@click.option("--dry-run", is_flag=True, help="Print what would run, in order; run nothing.")
@click.option("--resume", is_flag=True, help="Keep finished runs whose config, command and commit are the same.")
@click.option("--overwrite", is_flag=True, help="Move earlier results to results/.old first.")
@click.option("--results", "results_base", metavar="DIR", help="Another results folder, relative to the root.")
@click.option("--timeout", type=Seconds(), metavar="S", help="Seconds for each run.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first run that does not finish.")
@click.option("-q", "--quiet", is_flag=True, help="Do not show what the runs write (it is saved all the same).")
@click.option("--inherit-credentials", is_flag=True, help="Pass on credentials that the repository did not declare.")
@store_option
@allow_unknown_option
@click.pass_context
def command(
    context: click.Context,
    *,
    name: str | None,
    root: Path,
    only: tuple[str, ...],
    dry_run: bool,
    resume: bool,
    overwrite: bool,
    results_base: str | None,
    timeout: float | None,
    fail_fast: bool,
    quiet: bool,
    inherit_credentials: bool,
    store: str,
    allow_unknown: bool,
) -> None:
    """Run an experiment: every run config of its folder, one after another.

    Without EXPERIMENT the default one runs. What a run writes is shown and saved with secret values
    masked; results are saved below the results folder. A run counts as finished only if its command
    exits 0 and left a valid result. The command is arbitrary code of the repository: look at it
    first.

    Exit code 0: all that were selected finished; 1: a run failed or results are not valid; 2: usage, or results exist;
    3: the description is wrong; 4: a dependency or the installation is missing; 5: locked;
    130, 143: interrupted.
    """
    if resume and overwrite:
        raise click.UsageError("--resume and --overwrite exclude each other")
    apart_from = (os.path.normpath(results_base),) if results_base else ()
    repository = accepted_repository(root, allow_unknown=allow_unknown, apart_from=apart_from)
    experiment = _experiment(repository, name, only)
    folder = ExperimentFolder(path=_results_folder(repository, results_base) / experiment.name)
    if dry_run:
        _print_plan(repository, experiment, folder, only, resume=resume)
        return
    provisions = _provisions(repository, store)
    environment = run_environment(os.environ, provisions, inherit_credentials=inherit_credentials)
    order = Order(
        repository=repository,
        experiment=experiment,
        folder=folder,
        shown_folder=_shown(repository, folder),
        environment=environment,
        secrets=_secrets(repository, provisions, environment),
        dependencies=tuple(one.dependency.name for one in provisions if one.is_there),
        timeout_seconds=timeout or repository.run_timeout_seconds,
        resume=resume,
        only=frozenset(only) or None,
        fail_fast=fail_fast,
    )
    context.exit(_run(order, overwrite=overwrite, quiet=quiet))


def _experiment(repository: Repository, name: str | None, only: tuple[str, ...]) -> Experiment:
    experiment = repository.experiment(name)
    if experiment is None:
        known = "\n".join(f"  {one.name}" for one in repository.experiments)
        wanted = name or repository.default_experiment
        raise Refusal(f"there is no experiment {wanted}; there are:\n{known}", ExitCode.USAGE)
    runs = [run.name for run in experiment.runs]
    for wanted in only:
        if wanted not in runs:
            raise Refusal(f"{experiment.name} has no run {wanted}; there are: {', '.join(runs)}", ExitCode.USAGE)
    return experiment


def _results_folder(repository: Repository, named: str | None) -> Path:
    if named is not None:
        return Path(os.path.realpath(repository.root / named))
    return repository.root / repository.results_folder


def _shown(repository: Repository, folder: ExperimentFolder) -> str:
    if folder.path.is_relative_to(repository.root):
        return folder.path.relative_to(repository.root).as_posix()
    return folder.path.as_posix()


def _provisions(repository: Repository, store_kind: str) -> tuple[Provision, ...]:
    try:
        installed = read_installed(repository.root)
        store = open_store(store_kind)
        steps = installed.steps_done(repository.dependencies)
        provisions = provide_all(repository.dependencies, os.environ, store.get, steps)
    except StoreError as error:
        raise Refusal(str(error), ExitCode.DEPENDENCY_MISSING) from error
    missing = [f"  {one.dependency.name}: {one.reason}" for one in provisions if one.blocks]
    if not installed.has_installed(repository.install_command):
        missing.append(f"  install: {repository.install_command} has not been run here")
    if missing:
        text = "\n".join(["not ready to run:", *missing, "provide it with: abv3 setup"])
        raise Refusal(text, ExitCode.DEPENDENCY_MISSING)
    return provisions


def _secrets(repository: Repository, provisions: tuple[Provision, ...], environment: dict[str, str]) -> dict[str, str]:
    wanted = secret_variables(repository.dependencies)
    given = {name: value for one in provisions for name, value in one.secrets.items()}
    return {**{name: value for name, value in environment.items() if name in wanted}, **given}


def _print_plan(
    repository: Repository, experiment: Experiment, folder: ExperimentFolder, only: tuple[str, ...], *, resume: bool
) -> None:
    click.echo(visible(f"experiment {experiment.name} of {repository.name} {repository.version}"))
    click.echo(visible(f"command    {repository.run_command}"))
    click.echo(visible(f"results    {_shown(repository, folder)}"))
    for number, run in enumerate(experiment.runs, start=1):
        config = run.path or "no run config"
        reason = reason_to_run(repository, run, folder.run(run.name)) if resume else ""
        is_selected = not only or run.name in only
        if reason is None:
            note = " (kept)"
        elif is_selected:
            note = f" (runs: {reason})" if reason else ""
        else:
            note = " (not selected)"
        click.echo(visible(f"{number:>4}  {run.name}  {config}{note}"))
    if folder.has_results() and not resume:
        click.echo(
            visible(f"{_shown(repository, folder)} has results: --resume, --overwrite or --results DIR is needed")
        )


def _run(order: Order, *, overwrite: bool, quiet: bool) -> ExitCode:
    folder = order.folder
    _refuse_outside(order)
    folder.path.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder.lock) as lock:
            if folder.has_results() and not order.resume:
                _put_aside(order, overwrite=overwrite)
            with Interrupts(lambda text: click.echo(text, err=True)) as interrupts:
                outcome = _executed(replace(order, lock=lock), interrupts, quiet=quiet)
    except LockedError as error:
        raise Refusal(str(error), ExitCode.LOCKED) from error
    _print_outcome(order, outcome)
    if interrupts.first is not None:
        return ExitCode.INTERRUPTED if interrupts.first.name == "SIGINT" else ExitCode.TERMINATED
    return ExitCode.OK if outcome.has_passed else ExitCode.FAILED


def _executed(order: Order, interrupts: Interrupts, *, quiet: bool) -> ExperimentOutcome:
    started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    before = read_experiment_record(order.folder.record) if order.resume else None
    state = file_state(order.folder.result)
    mark_running(order, started_at)
    with showing(len(order.experiment.runs), quiet=quiet, secrets=order.secrets.values()) as live:
        runs = execute(order, interrupts, live)
    was_own = before is not None and before.results_written_by == "command"
    return conclude(order, runs, state_before=state, started_at=started_at, was_own=was_own)


def _refuse_outside(order: Order) -> None:
    """A results folder inside the root must not lead out of it through a link of the repository."""
    root, folder = order.repository.root, order.folder
    if not folder.path.is_relative_to(root):
        return
    runs = [folder.run(run.name) for run in order.experiment.runs]
    try:
        for path in (folder.old, *(run.path for run in runs), *(run.earlier_attempts for run in runs)):
            contained(root, path.relative_to(root).as_posix())
    except OutsideError as error:
        raise Refusal(f"{error}: a link in the results folder", ExitCode.USAGE) from error


def _put_aside(order: Order, *, overwrite: bool) -> None:
    if not overwrite:
        text = (
            f"{order.shown_folder} has results already. Choose one:\n"
            "  --resume       keep the finished runs, run the others\n"
            "  --overwrite    move them to .old and run everything\n"
            "  --results DIR  write to another folder"
        )
        raise Refusal(text, ExitCode.USAGE)
    aside = ExperimentFolder(path=order.folder.put_aside(datetime.now(UTC)))
    click.echo(visible(f"moved the earlier results to {_shown(order.repository, aside)}"), err=True)


def _print_outcome(order: Order, outcome: ExperimentOutcome) -> None:
    values = tuple(order.secrets.values())
    for finding in outcome.findings:
        click.echo(visible(str(finding)), err=True)
    counted = f"{outcome.experiment}: {outcome.finished} of {len(outcome.runs)} runs finished"
    failed = [run.name for run in outcome.runs if run.status not in (RunStatus.FINISHED, RunStatus.NOT_RUN)]
    if failed:
        click.echo(visible(f"not finished: {', '.join(failed)} (logs in {order.shown_folder}/<run>/)"))
    if outcome.result is None:
        click.echo(visible(f"{counted}; no {EXPERIMENT_RESULT}: {outcome.reason}"))
        return
    result = outcome.result
    value = f"{masked(result.main_metric, values)} {result.main_value:g} ({result.count} data points)"
    click.echo(visible(f"{counted}, {value} → {order.shown_folder}/{EXPERIMENT_RESULT}"))
