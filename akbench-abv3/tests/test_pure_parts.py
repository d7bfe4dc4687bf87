"""Rules that need no disk: order, versions, masking, aggregation, resuming, results."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akbench_abv3.completed import RunStatus
from akbench_abv3.description.git import without_password
from akbench_abv3.description.version import is_semver, version_of_tags
from akbench_abv3.execution.masking import StreamMask
from akbench_abv3.execution.record import RunRecord
from akbench_abv3.execution.resume import Present, rerun_reason
from akbench_abv3.experiments.order import natural_key
from akbench_abv3.results.aggregate import RunTally, aggregate
from akbench_abv3.results.document import Tier, judge_result
from akbench_abv3.terminal import plain_line, visible


def test_digit_runs_are_compared_as_numbers_and_ties_by_bytes():
    names = ["c10", "c2", "c1", "C1", "c01", "b", "10", "9", "c1.1"]
    assert sorted(names, key=natural_key) == ["9", "10", "C1", "b", "c01", "c1", "c1.1", "c2", "c10"]


@pytest.mark.parametrize("text", ["0.1.0", "1.2.3-rc.1+build.5", "10.20.30", "1.0.0--"])
def test_semantic_versions_are_recognised(text):
    assert is_semver(text)


@pytest.mark.parametrize("text", ["v1.0.0", "1.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0\n", ""])
def test_other_texts_are_no_semantic_versions(text):
    assert not is_semver(text)


def test_the_nearest_semantic_tag_wins_and_of_one_commit_the_highest():
    chosen = version_of_tags([(0, "data-2024"), (2, "v1.9.0"), (2, "v1.10.0"), (2, "v1.10.0-rc.1"), (5, "v2.0.0")])
    assert chosen is not None
    assert (chosen.tag, chosen.version, chosen.distance) == ("v1.10.0", "1.10.0", 2)


def test_a_password_is_taken_out_of_an_origin():
    assert without_password("https://ada:secret@example.org/r.git") == "https://example.org/r.git"
    assert without_password("git@example.org:r.git") == "git@example.org:r.git"


SECRETS = st.lists(st.text(alphabet="abc", min_size=4, max_size=8), min_size=1, max_size=3)


@given(secrets=SECRETS, pieces=st.lists(st.text(alphabet="abcd", max_size=12), max_size=8))
def test_masking_does_not_depend_on_how_the_output_is_cut(secrets, pieces):
    cut, whole = StreamMask(secrets), StreamMask(secrets)
    in_pieces = b"".join(cut.feed(piece.encode()) for piece in pieces) + cut.finish()
    at_once = whole.feed("".join(pieces).encode()) + whole.finish()

    assert in_pieces == at_once
    assert not any(secret.encode() in in_pieces for secret in secrets)


@given(text=st.text())
def test_visible_text_has_nothing_that_a_terminal_obeys(text):
    assert all(ord(character) >= 32 and not 0x7F <= ord(character) <= 0x9F for character in visible(text))
    assert "\x1b" not in plain_line(text)


def result_of(document: dict[str, object], tier: Tier = Tier.RUN):
    result, findings = judge_result(document, tier, shown="r")
    assert result is not None, findings
    return result


def document_of(*documents: dict[str, object], failed: int = 0):
    results = {str(number): result_of(one) for number, one in enumerate(documents)}
    tally = RunTally(total=len(documents) + failed, finished=len(documents), failed=failed)
    return aggregate(results, tally, shown="results.json").document


def test_a_single_run_gives_its_own_numbers():
    one = document_of({"count": 7, "main_metric": "b", "a": 1, "b": 0.25, "metric_info": {"a": {"aggregate": "none"}}})
    assert one is not None
    assert (one["count"], one["main_metric"], one["a"], one["b"]) == (7, "b", 1, 0.25)


def test_a_mean_is_weighted_by_data_points_and_by_coverage():
    both = document_of(
        {"count": 3, "a": 1.0, "b": 4},
        {"count": 1, "a": 0.0, "b": None},
        {"count": 4, "a": 0.5, "coverage": {"a": 2}},
    )
    assert both is not None
    assert both["a"] == pytest.approx((3 * 1.0 + 1 * 0.0 + 2 * 0.5) / 6)
    assert both["b"] == 4
    assert both["coverage"] == {"a": 6, "b": 3}


def test_sums_extremes_and_metrics_that_do_not_aggregate():
    ways = {"cost": "sum", "worst": "min", "best": "max", "own": "none"}
    info = {name: {"aggregate": way} for name, way in ways.items()}
    runs = [{"ok": n, "cost": n, "worst": n, "best": n, "own": n, "metric_info": info} for n in (1, 0)]
    both = document_of(*runs)
    assert both is not None
    assert (both["cost"], both["worst"], both["best"]) == (1, 0, 1)
    assert "own" not in both


def test_failures_are_counted_and_make_the_result_partial():
    document = document_of({"a": True}, failed=2)
    assert document is not None
    assert document["status"] == "partial"
    assert document["runs"] == {"total": 3, "finished": 1, "failed": 2, "excluded": 0}


def test_no_number_is_invented_where_no_data_point_counts():
    results = {"a": result_of({"count": 0, "x": 1}), "b": result_of({"count": 0, "x": 0})}
    aggregated = aggregate(results, RunTally(total=2, finished=2, failed=0), shown="r")
    assert aggregated.document is None
    assert aggregated.reason == "no data point has x"


@given(
    runs=st.lists(
        st.tuples(st.integers(1, 50), st.floats(-1e6, 1e6), st.none() | st.integers(-5, 5)),
        min_size=1,
        max_size=6,
    )
)
def test_what_is_aggregated_is_itself_a_valid_result_within_the_bounds_of_its_runs(runs):
    document = document_of(*({"count": count, "score": score, "other": other} for count, score, other in runs))
    assert document is not None
    again = result_of(json.loads(json.dumps(document)), Tier.EXPERIMENT)
    scores = [score for _, score, _ in runs]
    assert again.count == sum(count for count, _, _ in runs)
    assert min(scores) <= again.main_value <= max(scores)
    assert math.isfinite(again.main_value)


def test_the_first_number_that_is_not_reserved_is_the_main_metric():
    result = result_of({"extra": 3, "schema_version": 2, "name": "x", "success": True, "latency_s": 12.4})
    assert (result.count, result.main_metric, result.main_value) == (1, "success", 1)


def test_a_boolean_is_a_metric_of_a_run_only():
    assert judge_result({"count": 1, "main_metric": "ok", "ok": True}, Tier.EXPERIMENT, shown="r")[0] is None


RECORD = RunRecord(
    status=RunStatus.FINISHED, started_at="t", config_sha256="c", command="x", git_commit="g",
    git_dirty=False,    repo_version="1.0.0", abv3_version="0.1.0",
)  # fmt: skip
PRESENT = Present(config_sha256="c", command="x", git_commit="g", changed=None)


def test_only_the_same_run_on_the_same_clean_commit_is_kept():
    assert rerun_reason(RECORD, PRESENT, result_is_valid=True) is None


@pytest.mark.parametrize(
    ("record", "present", "is_valid"),
    [
        (None, {}, True),
        ({"status": RunStatus.FAILED}, {}, True),
        ({}, {}, False),
        ({}, {"config_sha256": "d"}, True),
        ({}, {"command": "y"}, True),
        ({"git_commit": None}, {"git_commit": None}, True),
        ({}, {"git_commit": "h"}, True),
        ({"git_dirty": True}, {}, True),
        ({"git_dirty": None}, {}, True),
        ({}, {"changed": "a.py"}, True),
    ],
)
def test_any_difference_means_running_again(record, present, is_valid):
    from dataclasses import replace

    earlier = None if record is None else RECORD.model_copy(update=record)
    assert rerun_reason(earlier, replace(PRESENT, **present), result_is_valid=is_valid)
