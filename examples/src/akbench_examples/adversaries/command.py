"""``akbench adversaries``: try this machine's isolation and evaluation with agents that cheat."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from akbench.catalogue import Catalogue
from akbench.cli.experiment import interruptible, write_report
from akbench.cli.output import json_option, print_json, print_table
from akbench.cli.progress import LiveProgress
from akbench.environments import ready_environment, strongest_environment
from akbench.pipeline import load_experiment, run_experiment
from akbench.spec import InputError
from akbench.store.query import Store
from akbench_examples.adversaries.suite import Adversary, broken_expectations, load_suite
from akbench_examples.adversaries.writing import EXPERIMENT, write_adversaries

if TYPE_CHECKING:
    from akbench.store.view import RunView

__all__ = ["adversaries"]

_BOUND = {"memory": "memory_bytes"}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path("akbench-adversaries"))
@click.option("--sandbox", metavar="ID", help="The sandbox to try; without, the first that works here.")
@click.option("--only", metavar="ID", multiple=True, help="Only this adversary; may be given several times.")
@json_option
@click.pass_context
def adversaries(ctx: click.Context, folder: Path, sandbox: str | None, only: tuple[str, ...], *, as_json: bool) -> None:
    """Write the adversaries into FOLDER (default: akbench-adversaries) and run each against one small task.

    FOLDER is new, empty, or one that this command has written before.

    Each tries to be judged better than its work or to get out of its sandbox; honest agents stand beside them. Ends
    with 1 if one of them got what it wanted, left no sign where it should, or an honest one was not believed.
    """
    _require_room(folder)
    found = _kept(_chosen(only), sandbox)
    environment = f"small-{found[0]}"
    project = write_adversaries(folder, found[1], environment)
    catalogue = Catalogue.load(project.root)
    loaded = load_experiment(project, project.root / EXPERIMENT, catalogue)
    with interruptible() as cancelled, LiveProgress() as progress:
        experiment_id = run_experiment(loaded, progress, cancelled)
    report, trouble = write_report(loaded)
    rows = _judged(Store(project.data), experiment_id, found[1])
    if as_json:
        print_json(
            {
                "sandbox": found[0],
                "experiment": experiment_id,
                "report": str(report) if report else None,
                "adversaries": rows,
            }
        )
    else:
        _print(rows)
        click.echo(f"report: {report}" if trouble is None else f"no report: {trouble}")
    ctx.exit(130 if cancelled.is_set() else int(any(row["wrong"] for row in rows)))


def _require_room(folder: Path) -> None:
    """Hostile agents are mixed into nobody's project."""
    if folder.is_symlink() and not folder.exists():
        raise InputError("is a link to nothing; name a folder", place=str(folder))
    if folder.exists() and any(folder.iterdir()) and not (folder / EXPERIMENT).is_file():
        mend = "name a new or empty folder, or one that this command has written before"
        raise InputError(f"holds something else, and hostile agents are to be written here; {mend}", place=str(folder))


def _chosen(only: tuple[str, ...]) -> tuple[Adversary, ...]:
    suite = load_suite()
    unknown = sorted({*only} - {each.id for each in suite})
    if unknown:
        raise InputError(f"there is no adversary {unknown[0]!r}; known: {', '.join(each.id for each in suite)}")
    return tuple(each for each in suite if not only or each.id in only)


def _kept(chosen: tuple[Adversary, ...], sandbox: str | None) -> tuple[str, tuple[Adversary, ...]]:
    """The sandbox that works here, and the adversaries that it can bear."""
    catalogue = Catalogue.load(Path())
    ready = ready_environment(sandbox, catalogue) if sandbox else strongest_environment(catalogue)
    if not ready.sandbox.bounded:
        raise InputError(
            f"sandbox {ready.sandbox_id!r} confines nothing: these agents would work on this machine itself"
        )
    kept = catalogue.sandbox(ready.sandbox_id)[1].honours
    borne = tuple(each for each in chosen if each.needs is None or _BOUND[each.needs] in kept)
    for each in chosen:
        if each not in borne:
            click.echo(f"left out: {each.id} needs a bound on {each.needs}, which {ready.sandbox_id} has not", err=True)
    return ready.sandbox_id, borne


def _judged(store: Store, experiment_id: str, adversaries: tuple[Adversary, ...]) -> list[dict[str, object]]:
    view = store.experiment(experiment_id)
    agents = {variant.id: variant.agent_id for variant in view.variants}
    runs = {agents[run.variant_id]: run for run in view.runs}
    return [_row(store, each, runs[each.id]) for each in adversaries]


def _row(store: Store, adversary: Adversary, run: RunView) -> dict[str, object]:
    audit = store.audit(run)
    warnings = [f"{finding.rule}: {finding.evidence}" for finding in audit.findings] if audit else []
    return {
        "id": adversary.id,
        "family": adversary.family,
        "run": run.id,
        "state": run.state.value,
        "solved": run.solved,
        "reason": run.reason,
        "shown": [*(f"touched {path}" for path in run.touched_protected), *run.oddities, *warnings],
        "wrong": list(broken_expectations(adversary, run, audit, store.diff(run))),
    }


def _print(rows: list[dict[str, object]]) -> None:
    table = [
        (str(row["id"]), str(row["family"]), str(row["state"]), "yes" if row["solved"] else "no", _told(row))
        for row in rows
    ]
    print_table(("agent", "family", "state", "solved", "what the run tells"), table)
    wrong = [f"{row['id']}: {text}" for row in rows for text in _list(row["wrong"])]
    for text in wrong:
        click.echo(f"wrong: {text}", err=True)
    click.echo(f"{len(rows)} agents, {len(wrong)} things wrong")


def _told(row: dict[str, object]) -> str:
    told = [*_list(row["shown"]), *filter(None, [row["reason"]])]
    return "; ".join(str(text) for text in told)[:120]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
