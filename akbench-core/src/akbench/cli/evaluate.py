"""``akbench evaluate``: stored runs judged again by today's task and evaluators."""

from __future__ import annotations

from pathlib import Path

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.experiment import interruptible
from akbench.cli.grading import grading_json, verdict_words
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.project import Project
from akbench.regrading import Graded, Regrading, regrade
from akbench.spec import JsonValue, Outcome

__all__ = ["evaluate"]

_TESTS_SHOWN = 20


@click.command()
@click.argument("experiment_id")
@click.argument("run_ids", nargs=-1, metavar="[RUN]...")
@click.option("--again", is_flag=True, required=True, help="Say that stored runs are to be judged once more.")
@project_option
@json_option
@click.pass_context
def evaluate(
    ctx: click.Context, experiment_id: str, run_ids: tuple[str, ...], project_dir: Path, *, again: bool, as_json: bool
) -> None:
    """Judge stored runs of EXPERIMENT_ID again (default: all), without running the agent.

    The final tree is made again from the task's tree and the run's stored diff, then judged by the task and the
    evaluators as they are now. The run's first result stays as it is; the new grading is stored beside it, in
    gradings/NUMBER of the run's folder, and what changed is shown. A run that was graded by the very same task and
    evaluators before is not judged again.

    Exit codes: 0 judged, 1 an evaluator failed on some run, 2 bad input (a task that gives the agent another tree now
    among it), 3 the machine lacks something, 130 interrupted.
    """
    del again  # required, so that nobody judges stored runs by accident
    project = Project.at(project_dir)
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    with interruptible() as cancelled:
        found = regrade(project, catalogue, experiment_id, run_ids, _Teller(quiet=as_json), cancelled)
    print_json(_json(found)) if as_json else _print(found)
    broken = any(each.record.after.outcome is Outcome.EVALUATOR_ERROR for each in found.graded)
    ctx.exit(130 if cancelled.is_set() else int(broken))


class _Teller:
    """One line for each finished grading."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def preparing(self, text: str) -> None:
        """Something slow begins."""
        if not self._quiet:
            say(f"preparing {text}", err=True)

    def graded(self, graded: Graded) -> None:
        """A grading is durable."""
        if not self._quiet:
            how = "graded before" if graded.reused else f"graded in {graded.record.duration_seconds:.1f} s"
            say(f"{graded.record.run_id}: {how}", err=True)


def _print(found: Regrading) -> None:
    records = [each.record for each in found.graded]
    rows = [
        (
            record.run_id,
            record.task,
            verdict_words(record.before),
            verdict_words(record.after),
            "changed" if record.changed else "same",
            str(record.number),
            record.after.reason or "",
        )
        for record in records
    ]
    if rows:
        print_table(("run", "task", "first verdict", "now", "verdict", "grading", "reason"), rows)
    for record in records:
        for change in record.tests[:_TESTS_SHOWN]:
            say(f"{record.run_id}: {change.role} test {change.id}: {change.before or '-'} -> {change.after or '-'}")
        if len(record.tests) > _TESTS_SHOWN:
            say(f"{record.run_id}: and {len(record.tests) - _TESTS_SHOWN} more tests, see its grading.json")
    for skipped in found.skipped:
        say(f"{skipped.run_id}: left out: {skipped.reason}")
    changed = sum(record.changed for record in records)
    say(f"{len(records)} graded, {changed} with another verdict than the first, {len(found.skipped)} left out")


def _json(found: Regrading) -> dict[str, JsonValue]:
    return {
        "experiment": found.experiment_id,
        "runs": [grading_json(each.record) | {"reused": each.reused} for each in found.graded],
        "left_out": [{"run": each.run_id, "reason": each.reason} for each in found.skipped],
        "changed": sum(each.record.changed for each in found.graded),
    }
