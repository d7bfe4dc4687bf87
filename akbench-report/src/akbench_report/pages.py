"""Every page of the report, from the store's views to HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from akbench.spec import TestResult, TestRole
from akbench.store.query import Store
from akbench.store.view import ExperimentView, RunView, VariantView
from akbench_report import compare, links, wording
from akbench_report.compare import Case, Group, Standing, TaskHistory
from akbench_report.diff import Diff, read_diff
from akbench_report.links import Place
from akbench_report.measure import HEADLINE, Measures
from akbench_report.publish import File

__all__ = ["assets", "environment", "group_page", "pages"]

DIFF_CHARACTERS = 400_000
DIFF_LINES = 3_000
DIFF_COLUMNS = 1_000
OUTPUT_CHARACTERS = 20_000
MESSAGE_CHARACTERS = 50_000
ROWS = 1_000
"""Bounds of what one run's page shows; whatever is left out is said there, and stays in the run's artifacts."""


def pages(store: Store, experiments: Sequence[ExperimentView], *, target: Path, written_at: datetime) -> Iterator[File]:
    """The files of a report on `experiments` that will lie in `target` (which the links to artifacts start from)."""
    press = _Press(target=target, environment=environment(Measures(experiments)))
    cases = compare.cases_of(experiments)
    histories = compare.task_histories(experiments, cases)
    yield from assets()
    yield _dashboard(press, experiments, cases, histories, written_at)
    yield from _listings(press, cases)
    for experiment in experiments:
        yield _experiment(press, experiment)
    yield from _tasks(press, histories)
    repetitions = _repetitions(cases)
    for case in cases:
        yield _run(press, store, case, repetitions[_cell(case)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Press:
    """Prints templates. `target` is the report's folder."""

    target: Path
    environment: Environment

    def page(self, path: str, template: str, /, **context: object) -> File:
        """The page that will lie at `path`."""
        text = self.environment.get_template(template).render(at=Place(path, self.target), **context)
        return File(path=path, content=text.encode("utf-8"))


def environment(measures: Measures) -> Environment:
    """The templates, with what they call."""
    found = Environment(
        loader=PackageLoader("akbench_report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=wording.visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(
        {
            "Standing": Standing,
            "anchor": links.anchor,
            "compare": compare,
            "cut": wording.cut,
            "group_page": group_page,
            "headline_metrics": HEADLINE,
            "metric_centre": measures.centre,
            "metric_value": measures.shown,
            "output_characters": OUTPUT_CHARACTERS,
        }
    )
    found.filters.update(
        {
            "bytes": wording.size,
            "date": wording.date,
            "json": wording.json_text,
            "metric_name": measures.title,
            "number": wording.number,
            "percent": wording.percent,
            "points": wording.points,
            "seconds": wording.seconds,
            "words": wording.words,
        }
    )
    return found


def assets() -> Iterator[File]:
    """The style sheet and the script that every page uses."""
    for asset in files("akbench_report").joinpath("assets").iterdir():
        yield File(path=f"assets/{asset.name}", content=asset.read_bytes())


def _variant_key(case: Case) -> tuple[str, ...]:
    return case.variant.name, case.variant.id, case.run.agent_version or case.variant.agent_version or ""


def _category_key(case: Case) -> tuple[str, ...]:
    return (case.task.category,)


def _difficulty_key(case: Case) -> tuple[str, ...]:
    rank, difficulty = compare.difficulty_rank(case.task.difficulty)
    return str(rank), difficulty


def _dashboard(
    press: _Press,
    experiments: Sequence[ExperimentView],
    cases: Sequence[Case],
    histories: Sequence[TaskHistory],
    written_at: datetime,
) -> File:
    contestants = [case for case in cases if not case.variant.is_control]
    return press.page(
        "index.html",
        "dashboard.html",
        experiments=sorted(experiments, key=lambda each: each.created_at, reverse=True),
        experiment_tallies={each.id: compare.tally(each.runs) for each in experiments},
        tally=compare.tally(case.run for case in cases),
        tasks=histories,
        contestants=compare.groups(contestants, _variant_key),
        controls=compare.groups([case for case in cases if case.variant.is_control], _variant_key),
        categories=compare.groups(contestants, _category_key),
        difficulties=compare.groups(contestants, _difficulty_key),
        labels=_labels(cases),
        written_at=written_at,
    )


def _labels(cases: Sequence[Case]) -> tuple[str, ...]:
    return tuple(sorted({label for case in cases for label in case.labels}))


def _listings(press: _Press, cases: Sequence[Case]) -> Iterator[File]:
    """The pages behind the dashboard's numbers: all runs of a variant, a category, a difficulty, and all there are."""
    contestants = [case for case in cases if not case.variant.is_control]
    yield _listing(press, "runs/index.html", "All runs", cases)
    for group in compare.groups(cases, _variant_key):
        title = " ".join(("Variant", group.key[0], group.key[2])).strip()
        yield _listing(press, group_page("variants", group), title, group.cases)
    for group in compare.groups(contestants, _category_key):
        yield _listing(press, group_page("categories", group), f"Category {wording.words(group.key[0])}", group.cases)
    for group in compare.groups(contestants, _difficulty_key):
        yield _listing(press, group_page("difficulties", group), f"Difficulty {group.key[1]}", group.cases)


def group_page(kind: str, group: Group) -> str:
    """The path of the page that lists the runs of `group` and no others."""
    key = group.key[1:] if kind == "difficulties" else group.key
    return links.listing_page(kind, (*key, *group.labels))


def _listing(press: _Press, path: str, title: str, cases: Sequence[Case]) -> File:
    return press.page(
        path,
        "listing.html",
        title=title,
        cases=cases,
        labels=_labels(cases),
        tally=compare.tally(case.run for case in cases),
    )


def _experiment(press: _Press, experiment: ExperimentView) -> File:
    cases = compare.cases_of([experiment])
    runs = {variant.id: _of_variant(cases, variant) for variant in experiment.variants}
    return press.page(
        links.experiment_page(experiment.id),
        "experiment.html",
        experiment=experiment,
        cases=cases,
        runs=runs,
        labels=_labels(cases) or experiment.labels,
        tally=compare.tally(experiment.runs),
        tallies={variant: compare.tally(case.run for case in each) for variant, each in runs.items()},
        baseline=next((variant for variant in experiment.variants if variant.is_baseline), None),
        deltas=_deltas(experiment, runs),
        matrix=compare.matrix(experiment),
        findings={variant: compare.config_findings(case.run for case in each) for variant, each in runs.items()},
        metrics=compare.metric_ids(experiment.runs),
    )


def _of_variant(cases: Sequence[Case], variant: VariantView) -> tuple[Case, ...]:
    return tuple(case for case in cases if case.variant.id == variant.id)


def _deltas(experiment: ExperimentView, cases: Mapping[str, Sequence[Case]]) -> dict[str, compare.Delta]:
    baseline = next((variant for variant in experiment.variants if variant.is_baseline), None)
    if baseline is None:
        return {}
    reference = [case.run for case in cases[baseline.id]]
    return {
        variant.id: compare.delta_success([case.run for case in cases[variant.id]], reference)
        for variant in experiment.variants
        if not variant.is_baseline and not variant.is_control
    }


def _tasks(press: _Press, histories: Sequence[TaskHistory]) -> Iterator[File]:
    for history in histories:
        own = history.cases
        editions = {(task.dataset, task.version): task for task in (history.task, *(case.task for case in own))}
        yield press.page(
            links.task_page(history.task.id),
            "task.html",
            task=history.task,
            editions=tuple(editions.values()),
            labels=_labels(own),
            groups=compare.groups(own, lambda case: (*_variant_key(case), case.task.dataset, case.task.version)),
            tally=compare.tally(case.run for case in own),
        )


def _run(press: _Press, store: Store, case: Case, repetitions: Sequence[Case]) -> File:
    run = case.run
    events, calls = store.events(run), store.tool_calls(run)
    evaluation, audit = store.evaluation(run), store.audit(run)
    message, message_left_out = wording.cut(run.final_message or "", MESSAGE_CHARACTERS)
    return press.page(
        links.run_page(run.experiment_id, run.id),
        "run.html",
        case=case,
        run=run,
        labels=case.labels,
        repetitions=repetitions,
        events=events[:ROWS],
        events_left_out=max(0, len(events) - ROWS),
        calls=calls[:ROWS],
        calls_left_out=max(0, len(calls) - ROWS),
        message=message,
        message_left_out=message_left_out,
        diff=_diff(store, run),
        evaluation=evaluation,
        evaluator_names="+".join(part.adapter for part in evaluation.parts) if evaluation else "",
        gradings=store.gradings(run),
        audit=audit,
        audit_titles={rule.id: rule.title for rule in audit.rules} if audit else {},
        tests={role: _tests(run, role) for role in TestRole},
        test_rows=ROWS,
    )


def _cell(case: Case) -> tuple[str, str, str]:
    return case.experiment.id, case.variant.id, case.task.id


def _repetitions(cases: Sequence[Case]) -> dict[tuple[str, str, str], list[Case]]:
    cells: dict[tuple[str, str, str], list[Case]] = {}
    for case in sorted(cases, key=lambda case: case.run.repetition):
        cells.setdefault(_cell(case), []).append(case)
    return cells


def _diff(store: Store, run: RunView) -> Diff | None:
    text = store.diff(run, limit=DIFF_CHARACTERS)
    if text is None:
        return None
    return read_diff(text, lines=DIFF_LINES, columns=DIFF_COLUMNS, is_cut=len(text) >= DIFF_CHARACTERS)


def _tests(run: RunView, role: TestRole) -> tuple[TestResult, ...]:
    """The tests of one role, what did not pass first."""
    return tuple(sorted((test for test in run.tests if test.role is role), key=lambda test: test.status == "passed"))
