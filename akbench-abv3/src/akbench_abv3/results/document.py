"""result.json and results.json: one shape, read strictly and judged completely."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from akbench_abv3.completed import (
    MAX_COUNT,
    MAX_RESULT_BYTES,
    RATE_NAMES,
    RATE_SUFFIXES,
    RESERVED_RESULT_FIELDS,
    Aggregate,
)
from akbench_abv3.finding import Finding, has_errors
from akbench_abv3.reading.bounded import UnreadableError, read_text
from akbench_abv3.reading.json_text import parse_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MetricInfo", "Result", "Runs", "Tier", "is_finite", "judge_result", "read_result"]

type Number = int | float


class Tier(StrEnum):
    """Whether a document is of one run (result.json) or of an experiment (results.json)."""

    RUN = "run"
    EXPERIMENT = "experiment"


class _Foreign(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", frozen=True, defer_build=True)


Natural = Annotated[int, Field(ge=0, le=MAX_COUNT)]


class MetricInfo(_Foreign):
    """What is known about a metric."""

    unit: str | None = None
    higher_is_better: bool | None = None
    aggregate: Literal["mean", "sum", "max", "min", "none"] = "mean"


class Runs(_Foreign):
    """How many runs an experiment had and what became of them."""

    total: Natural | None = None
    finished: Natural | None = None
    failed: Natural | None = None
    excluded: Natural | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A valid result. A metric that is None is unavailable, never zero.

    `names_main_metric` is False when the main metric was taken by the rule *the first one*.
    """

    count: int
    main_metric: str
    metrics: dict[str, Number | None]
    metric_info: dict[str, MetricInfo] = field(default_factory=dict)
    coverage: dict[str, int] = field(default_factory=dict)
    status: str | None = None
    runs: Runs | None = None
    transcripts: tuple[str, ...] | None = None
    names_main_metric: bool = True

    @property
    def main_value(self) -> Number:
        """The value of the main metric."""
        value = self.metrics[self.main_metric]
        assert value is not None
        return value

    def aggregate_of(self, metric: str) -> Aggregate:
        """How this metric's values become one."""
        info = self.metric_info.get(metric)
        return Aggregate(info.aggregate) if info else Aggregate.MEAN


def read_result(path: Path, tier: Tier, *, shown: str) -> tuple[Result | None, tuple[Finding, ...]]:
    """Read a result file; the result is None when it has errors. `shown` is the path in findings."""
    try:
        document = parse_json(read_text(path, MAX_RESULT_BYTES))
    except UnreadableError as error:
        return None, (Finding(code="R001", file=shown, section="results", message=str(error)),)
    return judge_result(document, tier, shown=shown)


def judge_result(document: object, tier: Tier, *, shown: str) -> tuple[Result | None, tuple[Finding, ...]]:
    """Judge a parsed document. Pure."""
    if not isinstance(document, dict):
        return None, (Finding(code="R001", file=shown, section="results", message="must be a JSON object"),)
    return _Judge(document, tier, shown).judge()


_INFO: Final = TypeAdapter(dict[str, MetricInfo], config=ConfigDict(defer_build=True))
_COVERAGE: Final = TypeAdapter(dict[str, Natural], config=ConfigDict(strict=True, defer_build=True))
_RUNS: Final = TypeAdapter(Runs)


class _Judge:
    def __init__(self, document: dict[str, object], tier: Tier, shown: str) -> None:
        self._document = document
        self._tier = tier
        self._shown = shown
        self._findings: list[Finding] = []

    def judge(self) -> tuple[Result | None, tuple[Finding, ...]]:
        count = self._count()
        metrics = self._metrics()
        main = self._main_metric(metrics)
        info = self._part("metric_info", _INFO, "R006") or {}
        coverage = self._part("coverage", _COVERAGE, "R008") or {}
        runs = self._part("runs", _RUNS, "R007")
        status = self._status()
        self._check_info(info, metrics)
        self._check_rates(metrics)
        findings = tuple(self._findings)
        if has_errors(findings) or main is None:
            return None, findings
        result = Result(
            count=count,
            main_metric=main,
            metrics=metrics,
            metric_info=info,
            coverage=coverage,
            status=status,
            runs=runs,
            transcripts=self._transcripts(),
            names_main_metric="main_metric" in self._document,
        )
        return result, findings

    def _count(self) -> int:
        if "count" not in self._document and self._tier is Tier.RUN:
            return 1
        count = self._document.get("count")
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_COUNT:
            return count
        self._add("R002", "count", "must be a non-negative integer")
        return 0

    def _metrics(self) -> dict[str, Number | None]:
        named = self._document.get("main_metric")
        found: dict[str, Number | None] = {}
        for key, value in self._document.items():
            if key in RESERVED_RESULT_FIELDS:
                continue
            if isinstance(value, bool) and self._tier is Tier.RUN:
                found[key] = int(value)
            elif value is None:
                found[key] = None
            elif isinstance(value, int | float) and not isinstance(value, bool):
                if is_finite(value):
                    found[key] = value
                elif key != named:
                    self._add("R005", key, "must be a finite number or null")
        return found

    def _main_metric(self, metrics: dict[str, Number | None]) -> str | None:
        if "main_metric" not in self._document:
            return self._first_metric(metrics)
        named = self._document["main_metric"]
        if not isinstance(named, str):
            self._add("R003", "main_metric", "must be the name of a metric")
        elif named in RESERVED_RESULT_FIELDS or named not in self._document:
            self._add("R003", "main_metric", f'"{named}" is not in the file')
        elif metrics.get(named) is None:
            self._add("R004", named, "must be a finite number")
        else:
            return named
        return None

    def _first_metric(self, metrics: dict[str, Number | None]) -> str | None:
        first = next((name for name, value in metrics.items() if value is not None), None)
        if first is None:
            self._add("R003", "main_metric", "no main_metric and no numeric metric")
        return first

    def _part[T](self, name: str, adapter: TypeAdapter[T], code: str) -> T | None:
        if name not in self._document:
            return None
        try:
            return adapter.validate_python(self._document[name])
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join((name, *(str(step) for step in first["loc"])))
            self._add(code, place, first["msg"])
            return None

    def _status(self) -> str | None:
        status = self._document.get("status")
        if status is None or status in ("complete", "partial"):
            return status if isinstance(status, str) else None
        self._add("R007", "status", 'must be "complete" or "partial"')
        return None

    def _check_info(self, info: dict[str, MetricInfo], metrics: dict[str, Number | None]) -> None:
        for name in info:
            if name in self._document and name not in metrics and self._document.get("main_metric") != name:
                self._add("R005", name, "must be a finite number or null: metric_info calls it a metric")

    def _check_rates(self, metrics: dict[str, Number | None]) -> None:
        for name, value in metrics.items():
            is_rate = name in RATE_NAMES or name.endswith(RATE_SUFFIXES)
            if is_rate and value is not None and not 0 <= value <= 1:
                self._add("W008", name, f"a rate outside 0 to 1 ({value})")

    def _transcripts(self) -> tuple[str, ...] | None:
        named = self._document.get("transcripts")
        if isinstance(named, list) and all(isinstance(one, str) for one in named):
            return tuple(named)
        return None

    def _add(self, code: str, field: str, message: str) -> None:
        self._findings.append(Finding(code=code, file=self._shown, section="results", field=field, message=message))


def is_finite(value: Number) -> bool:
    """Tell whether a float can hold the number."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond what a float holds
        return False
