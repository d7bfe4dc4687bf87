"""Counts, rates and differences of runs."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest

from akbench.run.lifecycle import TERMINAL, RunState
from akbench.spec import ConfigState, Reading, VerificationStatus, unavailable
from akbench_report import compare
from akbench_report.compare import Standing


def _runs(run, ends):
    return [run(f"run-{index:04}", end) for index, end in enumerate(ends.split())]


def test_only_judged_runs_are_in_the_denominator(run):
    tally = compare.tally(_runs(run, "solved unsolved timeout failed infrastructure cancelled unfinished unclassified"))
    assert (tally.runs, tally.judged, tally.solved) == (8, 4, 1)
    assert tally.success.rate == 0.25
    assert tally.standings[Standing.INFRASTRUCTURE] == 1
    assert Standing.INFRASTRUCTURE not in tally.judged_standings


def test_a_timeout_that_the_store_does_not_judge_stays_out_of_the_denominator(run):
    tally = compare.tally([run(end="solved"), run(end="timeout", solved=None)])
    assert (tally.judged, tally.success.rate) == (1, 1.0)
    assert tally.standings[Standing.TIMEOUT] == 1


def test_the_interval_is_wilsons(run):
    success = compare.tally(_runs(run, "solved " * 8 + "unsolved " * 2)).success
    # 8 of 10 at 95 %, from the closed formula with z = 1.959964.
    assert (success.rate, success.low, success.high) == pytest.approx((0.8, 0.490162, 0.943318), abs=1e-6)


def test_the_interval_of_a_perfect_score_does_not_claim_certainty(run):
    success = compare.tally(_runs(run, "solved " * 8)).success
    assert success.high == 1
    assert success.low < 0.7


def test_nothing_judged_gives_no_rate(run):
    assert compare.tally(_runs(run, "cancelled infrastructure")).success is None


@pytest.mark.parametrize("state", list(RunState))
@pytest.mark.parametrize("solved", [True, False, None])
def test_every_state_has_a_standing_and_an_unfinished_run_never_counts_as_solved(run, state, solved):
    standing = compare.standing(run(state=state, solved=solved))
    assert (standing is Standing.UNFINISHED) == (state not in TERMINAL)


def test_each_run_has_exactly_one_standing(run):
    runs = _runs(run, "solved unsolved timeout failed infrastructure cancelled unfinished unclassified")
    tally = compare.tally(runs)
    assert sum(tally.standings.values()) == tally.runs
    assert tally.finished == 7


def test_delta_is_the_difference_of_the_rates(run):
    delta = compare.delta_success(_runs(run, "solved unsolved"), _runs(run, "unsolved unsolved"))
    assert (delta.value, delta.caution) == (0.5, None)


def test_delta_is_unavailable_with_a_reason_when_one_side_was_not_judged(run):
    judged, unjudged = _runs(run, "solved"), _runs(run, "cancelled")
    assert compare.delta_success(unjudged, judged).unavailable == "no run of this variant was judged"
    assert compare.delta_success(judged, unjudged).unavailable == "no run of the baseline was judged"
    assert compare.delta_success(judged, unjudged).value is None


def test_delta_warns_when_the_rates_rest_on_different_tasks(run):
    variant = [run(task_id="a"), run(task_id="b")]
    baseline = [run(task_id="a"), run(task_id="b", end="infrastructure")]
    assert compare.delta_success(variant, baseline).caution == "judged unequally often than the baseline on 1 task"


def test_a_summary_keeps_the_reasons_of_missing_values():
    readings = [
        Reading(value=10),
        Reading(value=30),
        unavailable("no price"),
        unavailable("no price"),
        Reading(value="x"),
    ]
    summary = compare.summarise("total_cost", readings)
    assert (summary.runs, summary.n, summary.median, summary.low, summary.high) == (5, 2, 20, 10, 30)
    assert summary.missing == {"no price": 2, "not a number": 1}


def test_missing_values_are_no_zeros(run):
    runs = [run(metrics={}), run(metrics={"tool_calls": Reading(value=4)})]
    summary = compare.summarise_metric("tool_calls", runs)
    assert (summary.median, summary.missing) == (4, {"not recorded for this run": 1})


def test_a_run_that_did_not_finish_has_no_duration(run):
    assert compare.run_seconds(run(end="unfinished")).unavailable == "the run did not finish"
    assert compare.run_seconds(run(end="unfinished", started_at=None)).unavailable == "the run did not start"
    assert compare.run_seconds(run(started_at=None)).unavailable == "its start was not recorded"
    assert compare.run_seconds(run(finished_at=None)).unavailable == "its end was not recorded"
    ended = run()
    assert compare.run_seconds(ended).value == (ended.finished_at - ended.started_at) / timedelta(seconds=1)


def test_no_group_mixes_scripted_with_real_models(run, experiment):
    scripted = experiment(labels=("scripted model",))
    real = experiment("exp-0002", labels=(), runs=(run(experiment_id="exp-0002", model_source="provider"),))
    groups = compare.groups(compare.cases_of([scripted, real]), lambda case: (case.task.category,))
    assert [(group.labels, group.tally.runs) for group in groups] == [((), 1), (("scripted model",), 1)]


def test_a_scripted_run_is_labelled_even_where_its_experiment_says_nothing(run, experiment):
    (case,) = compare.cases_of([experiment(labels=(), runs=(run(model_source="scripted model"),))])
    assert case.labels == ("scripted model",)


def test_runs_of_an_invalid_experiment_are_counted_apart(experiment):
    both = [experiment(status="valid"), experiment("exp-0002", status="invalid")]
    groups = compare.groups(compare.cases_of(both), lambda _: ("all",))
    assert [group.tally.runs for group in groups] == [1, 1]
    assert "invalid experiment" in groups[1].labels


def test_a_group_names_the_statuses_of_its_experiments(experiment):
    both = [experiment(status="valid"), experiment("exp-0002", status="incomplete")]
    (group,) = compare.groups(compare.cases_of(both), lambda _: ("all",))
    assert group.statuses == ("incomplete",)


def test_the_matrix_holds_every_run_once_in_order_of_difficulty(run, task, variant, experiment):
    tasks = [task("c", difficulty="expert"), task("a", difficulty="hard"), task("b", difficulty="easy")]
    variants = [variant("one"), variant("two")]
    runs = [
        run(f"{t.id}-{v.id}-{repetition}", task_id=t.id, variant_id=v.id, repetition=repetition)
        for t, v in itertools.product(tasks, variants)
        for repetition in (2, 1)
    ]
    blocks = compare.matrix(experiment(tasks=tuple(tasks), variants=tuple(variants), runs=tuple(runs)))
    assert [block.difficulty for block in blocks] == ["easy", "hard", "expert"]
    placed = [found for block in blocks for cell in block.cells.values() for found in cell]
    assert sorted(found.id for found in placed) == sorted(one.id for one in runs)
    assert [found.repetition for found in blocks[0].cells["b", "v-one"]] == [1, 2]


def test_a_cell_without_runs_is_empty_rather_than_missing(run, task, variant, experiment):
    (block,) = compare.matrix(experiment(tasks=(task("a"),), variants=(variant("one"),), runs=()))
    assert block.cells["a", "v-one"] == ()
    assert block.tallies["v-one"].success is None


def test_configuration_findings_put_a_mismatch_first_and_say_in_which_runs(run):
    agreed = ConfigState(key="model", requested="a", observed="a", status=VerificationStatus.VERIFIED)
    wrong = ConfigState(key="model", requested="a", observed="b", status=VerificationStatus.MISMATCH)
    runs = [run("run-0001", config=(agreed,)), run("run-0002", config=(wrong,)), run("run-0003", config=(agreed,))]
    findings = compare.config_findings(runs)
    assert [(each.state.status, [r.id for r in each.runs]) for each in findings] == [
        (VerificationStatus.MISMATCH, ["run-0002"]),
        (VerificationStatus.VERIFIED, ["run-0001", "run-0003"]),
    ]
