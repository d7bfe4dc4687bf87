"""``akbench experiment``: from a YAML file to results."""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.experiment.plan import Plan, Variant
from akbench.pipeline import Loaded, load_experiment, run_experiment
from akbench.project import Project
from akbench.run.lifecycle import RunState
from akbench.spec import AkbenchError, InputError, JsonValue, Support
from akbench.store.view import ExperimentView, RunView

__all__ = ["confirm_and_run", "experiment", "interruptible", "write_report"]

TROUBLE = frozenset({RunState.INFRASTRUCTURE_ERROR, RunState.EVALUATION_ERROR, RunState.INVALID_CONFIGURATION})
"""States that make the command exit with 1: something other than the agents went wrong."""


@click.group()
def experiment() -> None:
    """Validate, plan, run, list and show experiments."""


_file = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


@experiment.command()
@_file
@project_option
@json_option
def validate(file: Path, project_dir: Path, *, as_json: bool) -> None:
    """Check the experiment FILE and everything it names, without running anything."""
    loaded = _load(project_dir, file)
    if as_json:
        print_json({"valid": True, "runs": len(loaded.plan.runs), "warnings": list(loaded.plan.warnings)})
        return
    say(f"{file}: valid; {_size(loaded.plan)}")
    _print_warnings(loaded.plan)


@experiment.command()
@_file
@project_option
@json_option
def plan(file: Path, project_dir: Path, *, as_json: bool) -> None:
    """Show what the experiment FILE would run."""
    loaded = _load(project_dir, file)
    if as_json:
        print_json(_plan_json(loaded))
        return
    _print_plan(loaded)


@experiment.command()
@_file
@click.option("--yes", is_flag=True, help="Do not ask before requests to a paid provider.")
@click.option("--dry-run", is_flag=True, help="Show the plan and stop.")
@project_option
@json_option
@click.pass_context
def run(ctx: click.Context, file: Path, project_dir: Path, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Run the experiment FILE.

    Ctrl-C stops it: running agents are ended and recorded as cancelled, finished runs are kept.
    """
    loaded = _load(project_dir, file)
    if dry_run:
        print_json(_plan_json(loaded)) if as_json else _print_plan(loaded)
        return
    ctx.exit(confirm_and_run(loaded, yes=yes, as_json=as_json))


@experiment.command("list")
@project_option
@json_option
def list_experiments(project_dir: Path, *, as_json: bool) -> None:
    """List the experiments of the project, oldest first; one whose files are damaged is named on standard error."""
    from akbench.store.query import Store

    store = Store(Project.at(project_dir).data)
    views = []
    for name in store.experiment_ids():
        try:
            views.append(store.experiment(name))
        except InputError as error:
            say(f"left out: {error}", err=True)
    if as_json:
        print_json([_experiment_json(view) for view in views])
        return
    rows = [
        (view.id, view.title, view.status, f"{sum(r.is_final for r in view.runs)}/{len(view.runs)}", _when(view))
        for view in views
    ]
    print_table(("experiment", "title", "status", "runs finished", "started"), rows)


@experiment.command()
@click.argument("experiment_id")
@project_option
@json_option
def show(experiment_id: str, project_dir: Path, *, as_json: bool) -> None:
    """Show the experiment EXPERIMENT_ID: status, variants, runs."""
    from akbench.cli.audit import audit_json, print_audits
    from akbench.cli.grading import grading_json, print_gradings
    from akbench.store.query import Store

    store = Store(Project.at(project_dir).data)
    view = store.experiment(experiment_id)
    if as_json:
        runs = [
            _run_json(each)
            | {
                "gradings": [grading_json(grading) for grading in store.gradings(each)],
                "audit": audit_json(store.audit(each)),
            }
            for each in view.runs
        ]
        print_json(_experiment_json(view) | {"run_list": runs})
        return
    _print_summary(view)
    _print_runs(view)
    print_gradings([(each, store.gradings(each)) for each in view.runs])
    print_audits([(each, store.audit(each)) for each in view.runs])


def confirm_and_run(loaded: Loaded, *, yes: bool = False, as_json: bool = False) -> int:
    """Show the plan, ask where money is at stake, run, write the report, show the outcome; returns the exit code."""
    from akbench.cli.progress import LiveProgress
    from akbench.store.query import Store

    if not as_json:
        _print_plan(loaded)
    _confirm(loaded, yes=yes)
    with interruptible() as cancelled, LiveProgress() as progress:
        experiment_id = run_experiment(loaded, progress, cancelled)
    view = Store(loaded.project.data).experiment(experiment_id)
    if not as_json:
        _print_summary(view)
    report, trouble = write_report(loaded)
    if as_json:
        print_json(_experiment_json(view) | {"report": str(report) if report else None})
    elif report:
        say(f"report: {report}")
    if trouble:
        say(f"warning: {trouble}; the results are kept, `akbench report` writes it again", err=True)
    return _exit_code(view, cancelled) or (1 if trouble else 0)


def _load(project_dir: Path, file: Path) -> Loaded:
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    return load_experiment(project, file, catalogue)


def _confirm(loaded: Loaded, *, yes: bool) -> None:
    paid = any(variant.agent.model and variant.agent.model.kind == "provider" for variant in loaded.plan.variants)
    if not paid or yes:
        return
    if not sys.stdin.isatty():
        raise InputError("this experiment sends requests to a model provider; confirm with --yes")
    click.confirm("This sends requests to a model provider, which may cost money. Go on?", abort=True)


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; a second Ctrl-C ends the program at once."""
    cancelled = threading.Event()

    def stop(number: int, frame: object) -> None:
        del number, frame
        if cancelled.is_set():
            raise KeyboardInterrupt
        cancelled.set()
        say("stopping: ending the running agents, then writing the report (Ctrl-C again: at once)", err=True)

    before = {name: signal.signal(name, stop) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancelled
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def write_report(loaded: Loaded) -> tuple[Path | None, AkbenchError | None]:
    """The HTML report of all the project's experiments, where it is asked for and can be written, or its fault."""
    exporter = loaded.catalogue.exporter("html")
    if exporter is None or not loaded.experiment.model.experiment.reporting.generate_html:
        return None, None
    try:
        write = exporter.function()
        with exporter.guard("wrote no report"):
            return Path(write(loaded.project.data, loaded.project.reports, None)), None
    except AkbenchError as error:
        return None, error


def _exit_code(view: ExperimentView, cancelled: threading.Event) -> int:
    if cancelled.is_set():
        return 130
    return 1 if any(run.state in TROUBLE for run in view.runs) else 0


def _size(plan: Plan) -> str:
    return (
        f"{len(plan.variants)} variants x {len(plan.tasks)} tasks x {plan.repetitions} repetitions"
        f" = {len(plan.runs)} runs"
    )


def _print_plan(loaded: Loaded) -> None:
    plan, model = loaded.plan, loaded.experiment.model
    say(f"{model.title or model.id} ({model.id} {model.version})")
    say(_size(plan))
    say(f"dataset: {loaded.dataset.model.id} {loaded.dataset.model.version} ({loaded.dataset.hash[:12]})")
    place = plan.environment if plan.environment == plan.sandbox else f"{plan.environment} (sandbox {plan.sandbox})"
    say(f"runtime: {_runtime_text(plan)}; environment: {place}; at most {plan.timeout_seconds:g} s per agent;")
    say(f"at once: {plan.concurrency}; expected duration, tokens and cost: unknown (no history is used)")
    required = model.experiment.requires.capabilities
    say(f"required capabilities: {', '.join(_capability_text(name, plan) for name in required) or 'none'}")
    print_table(
        ("variant", "name", "agent", "model answered by", "role"), [_variant_row(each) for each in plan.variants]
    )
    for note in plan.notes:
        say(f"note: {note}")
    _print_warnings(plan)


def _runtime_text(plan: Plan) -> str:
    runtimes = {f"{each.runtime.id} {each.runtime.version}" for each in plan.variants if each.runtime}
    plugins = {plugin.id for variant in plan.variants for plugin in variant.plugins}
    if not runtimes:
        return "none (direct)"
    return ", ".join(sorted(runtimes)) + (f" with {', '.join(sorted(plugins))}" if plugins else "")


def _capability_text(name: str, plan: Plan) -> str:
    said = [f"{agent}: {capabilities.get(name, Support.UNKNOWN)}" for agent, capabilities in plan.capabilities.items()]
    return f"{name} ({', '.join(said)})"


def _variant_row(variant: Variant) -> tuple[str, ...]:
    marks = [word for word, holds in (("control", variant.is_control), ("baseline", variant.is_baseline)) if holds]
    return (
        variant.id,
        variant.name,
        f"{variant.agent.id} {variant.agent.version}",
        variant.agent.model.kind if variant.agent.model else "-",
        ", ".join(marks) or "contestant",
    )


def _print_warnings(plan: Plan) -> None:
    for warning in plan.warnings:
        say(f"warning: {warning}")


def _plan_json(loaded: Loaded) -> dict[str, JsonValue]:
    plan = loaded.plan
    return {
        "experiment": loaded.experiment.model.id,
        "version": loaded.experiment.model.version,
        "dataset": {
            "id": loaded.dataset.model.id,
            "version": loaded.dataset.model.version,
            "hash": loaded.dataset.hash,
        },
        "environment": plan.environment,
        "sandbox": plan.sandbox,
        "repetitions": plan.repetitions,
        "timeout_seconds": plan.timeout_seconds,
        "variants": [
            {
                "id": each.id,
                "name": each.name,
                "agent": each.agent.id,
                "values": dict(each.values),
                "config": dict(each.agent.config),
                "runtime": {"id": each.runtime.id, "config": dict(each.runtime.config)} if each.runtime else None,
                "plugins": [{"id": plugin.id, "config": dict(plugin.config)} for plugin in each.plugins],
                "config_hash": each.config_hash,
                "baseline": each.is_baseline,
                "control": each.is_control,
            }
            for each in plan.variants
        ],
        "tasks": [task.id for task in plan.tasks],
        "runs": [
            {"id": run.id, "variant": run.variant_id, "task": run.task_id, "repetition": run.repetition}
            for run in plan.runs
        ],
        "capabilities": {
            agent: {name: str(support) for name, support in capabilities.items()}
            for agent, capabilities in plan.capabilities.items()
        },
        "notes": list(plan.notes),
        "warnings": list(plan.warnings),
        "labels": list(plan.labels),
    }


def _when(view: ExperimentView) -> str:
    return view.created_at.strftime("%Y-%m-%d %H:%M UTC")


def _print_summary(view: ExperimentView) -> None:
    say(f"{view.id}: {view.title}: {view.status}")
    for label in view.labels:
        say(f"label: {label}")
    for reason in view.status_reasons:
        say(f"  - {reason}")
    rows = []
    for variant in view.variants:
        runs = [run for run in view.runs if run.variant_id == variant.id]
        counted = [run for run in runs if run.solved is not None]
        solved = sum(bool(run.solved) for run in counted)
        rate = f"{100 * solved / len(counted):.0f} %" if counted else "-"
        rows.append((variant.name, rate, f"{solved}/{len(counted)}", _states(runs)))
    print_table(("variant", "solved", "of counted runs", "states of all runs"), rows)


def _states(runs: list[RunView]) -> str:
    counts = Counter(_state(run) for run in runs)
    return ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))


def _state(run: RunView) -> str:
    return f"{run.state.value} (interrupted)" if run.interrupted else run.state.value


def _print_runs(view: ExperimentView) -> None:
    names = {variant.id: variant.name for variant in view.variants}
    words = {True: "yes", False: "no", None: "-"}
    rows = [
        (
            run.id,
            run.task_id,
            names[run.variant_id],
            str(run.repetition),
            _state(run),
            words[run.solved],
            run.reason or "",
        )
        for run in view.runs
    ]
    print_table(("run", "task", "variant", "#", "state", "solved", "reason"), rows)


def _experiment_json(view: ExperimentView) -> dict[str, JsonValue]:
    return {
        "id": view.id,
        "descriptor": view.descriptor_id,
        "version": view.descriptor_version,
        "title": view.title,
        "status": view.status,
        "status_reasons": list(view.status_reasons),
        "labels": list(view.labels),
        "created_at": view.created_at.isoformat(),
        "finished_at": view.finished_at.isoformat() if view.finished_at else None,
        "dataset": {"id": view.dataset_id, "version": view.dataset_version, "hash": view.dataset_hash},
        "runs": len(view.runs),
        "runs_finished": sum(run.is_final for run in view.runs),
        "variants": [{"id": each.id, "name": each.name, "agent": each.agent_id} for each in view.variants],
    }


def _run_json(run: RunView) -> dict[str, JsonValue]:
    return {
        "id": run.id,
        "task": run.task_id,
        "variant": run.variant_id,
        "repetition": run.repetition,
        "state": run.state.value,
        "interrupted": run.interrupted,
        "outcome": run.outcome.value if run.outcome else None,
        "solved": run.solved,
        "reason": run.reason,
        "metrics": {
            name: {"value": reading.value, "unavailable": reading.unavailable} for name, reading in run.metrics.items()
        },
    }
