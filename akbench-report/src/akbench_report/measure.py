"""What metrics are called and counted in, from the descriptors that an experiment kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from akbench.spec import JsonValue
from akbench.store.view import ExperimentView
from akbench_report import wording
from akbench_report.compare import Summary

__all__ = ["HEADLINE", "Measure", "Measures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A metric's title and unit; `unit` is None where no descriptor tells."""

    title: str
    unit: str | None


_KNOWN = {
    "run_seconds": Measure(title="Run time", unit="seconds"),
    "execution_time": Measure(title="Agent time", unit="seconds"),
    "input_tokens": Measure(title="Input tokens", unit="tokens"),
    "output_tokens": Measure(title="Output tokens", unit="tokens"),
    "total_cost": Measure(title="Cost", unit="USD"),
    "task_success_rate": Measure(title="Task solved", unit="fraction"),
    "hidden_test_pass_rate": Measure(title="Target tests passed", unit="fraction"),
}
"""The core's own metrics, for experiments that did not keep their descriptors."""

HEADLINE = ("execution_time", "input_tokens", "output_tokens", "total_cost")
"""The metrics that stand in every table of runs."""


class Measures:
    """Names and units of the metrics in `experiments`; the latest descriptor of a metric holds."""

    def __init__(self, experiments: Iterable[ExperimentView]) -> None:
        self._measures = dict(_KNOWN)
        for experiment in sorted(experiments, key=lambda each: each.created_at):
            for name, snapshot in experiment.snapshots.items():
                if name.startswith("metric/"):
                    self._learn(name.removeprefix("metric/"), snapshot)

    def _learn(self, metric: str, snapshot: Mapping[str, JsonValue]) -> None:
        try:
            descriptor = YAML(typ="safe", pure=True).load(str(snapshot.get("text", "")))
            self._measures[metric] = Measure(
                title=str(descriptor.get("title") or wording.words(metric)), unit=str(descriptor["metric"]["unit"])
            )
        except (YAMLError, AttributeError, KeyError, TypeError):
            # An unreadable snapshot costs a unit, not the report: the number itself stays true, and says no unit.
            self._measures.setdefault(metric, Measure(title=wording.words(metric), unit=None))

    def title(self, metric: str) -> str:
        """What people call the metric."""
        return self._of(metric).title

    def shown(self, metric: str, amount: float | str | bool) -> str:  # noqa: FBT001
        """A value of the metric with its unit."""
        return wording.quantity(amount, self._of(metric).unit)

    def centre(self, summary: Summary) -> str:
        """The middle of a summary that has readings: the mean of fractions (a median of 0s and 1s says little)."""
        unit = self._of(summary.metric).unit
        middle = summary.mean if unit == "fraction" else summary.median
        assert middle is not None, "a summary without readings has no middle"
        return wording.quantity(middle, unit)

    def _of(self, metric: str) -> Measure:
        return self._measures.get(metric) or Measure(title=wording.words(metric), unit=None)
