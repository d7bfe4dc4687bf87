"""From a stored run to its result.json, and from a variant's runs to results.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from akbench.descriptors.document import parse
from akbench.descriptors.kinds import MetricDescriptor
from akbench.spec import Reading
from akbench_abv3.completed import RESERVED_RESULT_FIELDS, Aggregate
from akbench_abv3.exchange.form import EXTRA_KEY, ResultExtra
from akbench_abv3.exchange.source import StoredExperiment, StoredRun, experiment_part, task_part, variant_part
from akbench_abv3.results.aggregate import RunTally, aggregate
from akbench_abv3.results.document import Result, Tier, judge_result

__all__ = ["MAIN_METRIC", "METRIC_KEYS", "experiment_result", "metric_key", "run_result"]

MAIN_METRIC = "task_success_rate"
METRIC_KEYS = {"execution_time": "execution_time_s", "total_cost": "total_cost_usd"}
"""AK-Bench metrics whose key in a result says the unit; the others keep their id."""
SUMMED = frozenset({"total_cost"})


def metric_key(metric: str) -> str:
    """The name of an AK-Bench metric in a result."""
    key = METRIC_KEYS.get(metric, metric)
    return f"metric_{key}" if key in RESERVED_RESULT_FIELDS else key


def run_result(run: StoredRun, differences: tuple[str, ...] = ()) -> dict[str, object] | None:
    """The run's result.json, None when the run says nothing about the agent and so is no data point."""
    view = run.view
    if view.solved is None:
        return None
    readings = {metric_key(name): reading for name, reading in view.metrics.items() if name != MAIN_METRIC}
    values = {key: _number(reading) for key, reading in readings.items()}
    return {
        "schema_version": "1.0",
        "count": 1,
        "main_metric": MAIN_METRIC,
        MAIN_METRIC: int(view.solved),
        **values,
        "metric_info": _metric_info(run, values),
        "started_at": view.started_at.isoformat() if view.started_at else None,
        "finished_at": view.finished_at.isoformat() if view.finished_at else None,
        "agent": {"name": run.variant.agent.id, "version": view.agent_version},
        "dataset": {"name": run.record.dataset_id, "version": run.record.dataset_version},
        "extra": {EXTRA_KEY: _extra(run, readings, differences).model_dump(mode="json")},
    }


def _number(reading: Reading) -> int | float | None:
    value = reading.value
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _metric_info(run: StoredRun, values: Mapping[str, object]) -> dict[str, object]:
    info: dict[str, object] = {MAIN_METRIC: {"unit": "fraction", "higher_is_better": True, "aggregate": "mean"}}
    for name in run.view.metrics:
        if metric_key(name) in values:
            info[metric_key(name)] = _info(name, run.record.snapshots.get(f"metric/{name}"))
    return info


def _info(metric: str, snapshot: Mapping[str, object] | None) -> dict[str, object]:
    found: dict[str, object] = {"aggregate": str(Aggregate.SUM if metric in SUMMED else Aggregate.MEAN)}
    if snapshot is not None:
        part = parse(str(snapshot["text"]), f"metric {metric}").validate(MetricDescriptor).metric
        found["unit"] = part.unit
        if part.better != "neither":
            found["higher_is_better"] = part.better == "higher"
    return found


def _extra(run: StoredRun, readings: Mapping[str, Reading], differences: tuple[str, ...]) -> ResultExtra:
    view = run.view
    return ResultExtra(
        experiment=experiment_part(run.record),
        variant=variant_part(run.variant),
        task=task_part(run.task),
        repetition=run.planned.repetition,
        state=view.state.value,
        outcome=view.outcome.value if view.outcome else None,
        sandbox=view.sandbox,
        model_source=view.model_source,
        labels=run.record.plan.labels,
        configuration=tuple(asdict(state) for state in view.config),
        unavailable={key: _absence(reading) for key, reading in readings.items() if _number(reading) is None},
        differences=differences,
    )


def _absence(reading: Reading) -> str:
    return reading.unavailable or f"not a number: {reading.value}"


def experiment_result(
    experiment: StoredExperiment, runs: Sequence[StoredRun], documents: Mapping[str, dict[str, object]], shown: str
) -> dict[str, object] | None:
    """The results.json of one variant, None when no run is a data point.

    `documents` maps run name to result.json; the other `runs` are excluded from the count, and said to be.
    """
    judged = {name: judge_result(document, Tier.RUN, shown=shown)[0] for name, document in documents.items()}
    results: dict[str, Result] = {name: result for name, result in judged.items() if result is not None}
    tally = RunTally(total=len(runs), finished=len(results), failed=0, excluded=len(runs) - len(results))
    document = aggregate(results, tally, shown=shown).document
    if document is None:
        return None
    states = Counter(run.view.state.value for run in runs)
    about = {
        "status": experiment.view.status,
        "labels": list(experiment.view.labels),
        "variant": variant_part(runs[0].variant).model_dump(mode="json"),
        "states": dict(sorted(states.items())),
    }
    return {**document, "extra": {EXTRA_KEY: about}}
