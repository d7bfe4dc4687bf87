"""Results of runs to the result of their experiment. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.completed import Aggregate
from akbench_abv3.finding import Finding
from akbench_abv3.results.document import is_finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from akbench_abv3.results.document import Number, Result

__all__ = ["Aggregated", "RunTally", "aggregate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTally:
    """How many runs an experiment has, by what became of them; the failures are never hidden."""

    total: int
    finished: int
    failed: int
    excluded: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether every run finished."""
        return self.finished == self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregated:
    """The document to write, or None and the reason why there is none."""

    document: dict[str, object] | None
    findings: tuple[Finding, ...] = ()
    reason: str = ""


def aggregate(results: Mapping[str, Result], tally: RunTally, *, shown: str) -> Aggregated:
    """Make results.json from the valid results of runs, by run name; `shown` is its path in findings."""
    if not results:
        return Aggregated(document=None, reason="no run has a valid result")
    wrong = _disagreements(results, shown)
    if wrong:
        return Aggregated(document=None, findings=wrong, reason=wrong[0].message)
    ordered = tuple(results.values())
    main = ordered[0].main_metric
    values = {name: _value(name, ordered) for name in _metric_names(ordered, main)}
    if any(value is not None and not is_finite(value) for value in values.values()):
        too_large = ", ".join(name for name, value in values.items() if value is not None and not is_finite(value))
        return Aggregated(document=None, reason=f"the runs' values of {too_large} add up to no finite number")
    if values[main] is None:
        return Aggregated(document=None, reason=f"no data point has {main}")
    return Aggregated(document=_document(ordered, main, values, tally))


def _disagreements(results: Mapping[str, Result], shown: str) -> tuple[Finding, ...]:
    mains = sorted({result.main_metric for result in results.values()})
    if len(mains) > 1:
        message = f"runs name different main metrics: {', '.join(mains)}"
        return (Finding(code="R009", file=shown, section="results", message=message),)
    findings = []
    for name in _metric_names(tuple(results.values()), mains[0]):
        ways = sorted({result.aggregate_of(name) for result in results.values() if name in result.metrics})
        if len(ways) > 1:
            message = f"runs aggregate {name} differently: {', '.join(ways)}"
            findings.append(Finding(code="R009", file=shown, section="results", message=message))
    return tuple(findings)


def _metric_names(results: Sequence[Result], main: str) -> tuple[str, ...]:
    names = dict.fromkeys((main,))
    for result in results:
        names.update(dict.fromkeys(result.metrics))
    return tuple(names)


def _value(name: str, results: Sequence[Result]) -> Number | None:
    if len(results) == 1:
        return results[0].metrics.get(name)
    having = [result for result in results if result.metrics.get(name) is not None]
    if not having:
        return None
    pairs = [(result.metrics[name] or 0, result.coverage.get(name, result.count)) for result in having]
    return _joined(having[0].aggregate_of(name), pairs)


def _joined(way: Aggregate, pairs: list[tuple[Number, int]]) -> Number | None:
    values = [value for value, _ in pairs]
    match way:
        case Aggregate.SUM:
            return sum(values) if all(isinstance(value, int) for value in values) else _float_sum(values)
        case Aggregate.MAX:
            return max(values)
        case Aggregate.MIN:
            return min(values)
        case Aggregate.NONE:
            return None
        case Aggregate.MEAN:
            return _mean(pairs)


def _mean(pairs: list[tuple[Number, int]]) -> float | None:
    weight = sum(weight for _, weight in pairs)
    if weight == 0:
        return None
    mean = _float_sum([value * (share / weight) for value, share in pairs])
    values = [value for value, share in pairs if share]
    return min(max(mean, float(min(values))), float(max(values)))


def _float_sum(values: Sequence[Number]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:  # each is finite, their sum is not
        return math.inf


def _document(
    results: Sequence[Result], main: str, values: dict[str, Number | None], tally: RunTally
) -> dict[str, object]:
    left_out = {name for name in values if len(results) > 1 and _is_unjoined(name, results)}
    count = sum(result.count for result in results)
    coverage = {name: _coverage(name, results) for name in values if name not in left_out}
    info = {name: one.model_dump(exclude_none=True) for result in results for name, one in result.metric_info.items()}
    return {
        "count": count,
        "main_metric": main,
        **{name: value for name, value in values.items() if name not in left_out},
        **({"metric_info": info} if info else {}),
        **({"coverage": coverage} if any(covered != count for covered in coverage.values()) else {}),
        "status": "complete" if tally.is_complete else "partial",
        "runs": {
            "total": tally.total,
            "finished": tally.finished,
            "failed": tally.failed,
            "excluded": tally.excluded,
        },
    }


def _is_unjoined(name: str, results: Sequence[Result]) -> bool:
    return any(result.aggregate_of(name) is Aggregate.NONE for result in results if name in result.metrics)


def _coverage(name: str, results: Sequence[Result]) -> int:
    return sum(result.coverage.get(name, result.count) for result in results if result.metrics.get(name) is not None)
