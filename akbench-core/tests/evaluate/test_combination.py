"""Several judgements make one: the worst required outcome, the weighted mean, and no gain from a part that broke."""

from __future__ import annotations

import pytest

from akbench.evaluate.combination import WORST_FIRST, PartJudgement, combined
from akbench.spec import Judgement, Outcome, TestResult, TestRole

SCORES = {
    "full_success": 1.0,
    "partial_success": 0.5,
    "failure": 0.0,
    "regression": 0.25,
    "timeout": 0.0,
    "evaluator_error": None,
    "infrastructure_error": None,
}


def part(text: str, number: int) -> PartJudgement:
    """``outcome``, ``outcome optional``, ``outcome optional 0``: optional parts and weights as written."""
    outcome, *rest = text.split()
    weight = next((float(word) for word in rest if word.replace(".", "").isdigit()), 1.0)
    judgement = Judgement(outcome=Outcome(outcome), reason=f"because {number}", score=SCORES[outcome])
    return PartJudgement(id=f"part{number}", weight=weight, required="optional" not in rest, judgement=judgement)


TABLE = {
    "all succeed": (["full_success", "full_success 3"], "full_success", 1.0),
    "the mean is weighted": (["full_success 3", "failure 1"], "failure", 0.75),
    "partial is worse than full": (["full_success", "partial_success"], "partial_success", 0.75),
    "failure is worse than partial": (["failure", "partial_success"], "failure", 0.25),
    "regression is worse than failure": (["failure", "regression"], "regression", 0.125),
    "timeout is worse than regression": (["timeout", "regression"], "timeout", 0.125),
    "an optional failure costs score alone": (["full_success", "failure optional"], "full_success", 0.5),
    "an optional failure without weight costs nothing": (["full_success", "failure optional 0"], "full_success", 1.0),
    "a required part without weight decides alone": (["full_success", "failure 0"], "failure", 1.0),
    "an optional success saves nothing": (["failure", "full_success optional"], "failure", 0.5),
    "an evaluator error ends it": (["full_success", "evaluator_error"], "evaluator_error", None),
    "an error is worse than a timeout": (["timeout", "evaluator_error"], "evaluator_error", None),
    "the machine's error is worst": (["evaluator_error", "infrastructure_error"], "infrastructure_error", None),
    "a weighted optional part that broke is no gain": (
        ["failure", "evaluator_error optional"],
        "evaluator_error",
        None,
    ),
    "an optional part without weight may break": (["full_success", "evaluator_error optional 0"], "full_success", 1.0),
    "nor does the machine's error in it count": (["failure", "infrastructure_error optional 0"], "failure", 0.0),
}


@pytest.mark.parametrize("name", TABLE)
def test_outcome_and_score_of_a_combination(name: str):
    texts, outcome, score = TABLE[name]
    found = combined([part(text, number) for number, text in enumerate(texts)])
    assert (found.outcome, found.score) == (outcome, score)


def test_every_outcome_has_its_rank():
    assert sorted(WORST_FIRST) == sorted(Outcome)


def test_a_single_part_keeps_its_own_judgement():
    judgement = Judgement(outcome=Outcome.FAILURE, reason="as it said", raw={"own": 1})
    alone = PartJudgement(id="tests", weight=1, required=True, judgement=judgement)
    assert combined([alone]) is judgement


def test_a_part_without_a_score_is_left_out_of_the_mean():
    silent = PartJudgement(
        id="silent", weight=9, required=True, judgement=Judgement(outcome=Outcome.FULL_SUCCESS, reason="fine")
    )
    assert combined([part("failure", 0), silent]).score == 0.0


@pytest.mark.parametrize("outcome", ["failure", "regression", "timeout"])
def test_a_part_that_failed_without_a_score_counts_as_nothing_and_not_as_absent(outcome: str):
    lost = PartJudgement(
        id="lost", weight=1, required=True, judgement=Judgement(outcome=Outcome(outcome), reason="it broke a bound")
    )
    assert combined([part("full_success", 0), lost]).score == 0.5


def test_the_decisive_part_comes_first_in_the_reason():
    found = combined([part("failure optional", 0), part("partial_success", 1), part("full_success", 2)])
    assert found.reason == "part1: partial_success: because 1; part0 (optional): failure: because 0"
    assert combined([part("full_success", 0), part("full_success", 1)]).reason == "all parts succeeded: part0, part1"


def test_a_test_that_two_parts_ran_stands_once_with_its_worst_result():
    def of(role: TestRole, status: str, number: int) -> PartJudgement:
        test = TestResult(id="t.py::a", role=role, status=status)
        judgement = Judgement(outcome=Outcome.FULL_SUCCESS, reason="r", score=1.0, tests=(test,))
        return PartJudgement(id=f"p{number}", weight=1, required=True, judgement=judgement)

    found = combined([of(TestRole.TARGET, "passed", 0), of(TestRole.REGRESSION, "failed", 1)])
    assert found.tests == (TestResult(id="t.py::a", role=TestRole.TARGET, status="failed"),)
