"""How the variants of an exported experiment differ from its baseline: no part of L1, so in a file of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from akbench_abv3.exchange.form import EXTRA_KEY
from akbench_abv3.results.document import Result, Tier, judge_result

__all__ = ["COMPARISON_FILE", "comparison"]

COMPARISON_FILE: Final = "akbench_comparison.json"
_PAIRING: Final = "runs of the same task and repetition that are data points of the baseline and of the variant"

type RunKey = tuple[str, int]
"""Task and repetition."""


def comparison(baseline: str, documents: Mapping[str, Mapping[RunKey, dict[str, object]]]) -> dict[str, object]:
    """Compare each variant with `baseline`, run by run; `documents` are the result.json of each variant's runs.

    A metric is compared over the pairs in which both runs have it; one without any such pair is left out.
    """
    results = {variant: _results(runs) for variant, runs in documents.items()}
    others = {variant: _compared(results[baseline], runs) for variant, runs in results.items() if variant != baseline}
    return {
        "schema_version": "1.0",
        "made_by": EXTRA_KEY,
        "baseline": baseline,
        "pairing": _PAIRING,
        "variants": others,
    }


def _results(documents: Mapping[RunKey, dict[str, object]]) -> dict[RunKey, Result]:
    judged = {key: judge_result(document, Tier.RUN, shown="result.json")[0] for key, document in documents.items()}
    return {key: result for key, result in judged.items() if result is not None}


def _compared(baseline: Mapping[RunKey, Result], variant: Mapping[RunKey, Result]) -> dict[str, object]:
    pairs = [(baseline[key], variant[key]) for key in baseline if key in variant]
    names = dict.fromkeys(name for one, _ in pairs for name in one.metrics)
    metrics = {name: _difference(name, pairs) for name in names}
    return {"pairs": len(pairs), "metrics": {name: told for name, told in metrics.items() if told is not None}}


def _difference(name: str, pairs: Sequence[tuple[Result, Result]]) -> dict[str, object] | None:
    values = [
        (float(before), float(after))
        for one, other in pairs
        if (before := one.metrics.get(name)) is not None and (after := other.metrics.get(name)) is not None
    ]
    if not values:
        return None
    before, after = (math.fsum(column) / len(values) for column in zip(*values, strict=True))
    return {
        "pairs": len(values),
        "baseline_mean": before,
        "variant_mean": after,
        "difference": after - before,
        "ratio": after / before if before else None,
    }
