"""What the judgements of a task's states say about the task, and in which words."""

import pytest

from akbench.dataset.verdict import Verdict, VerdictKey
from akbench.publish.findings import Findings, Judged, conclude
from akbench.publish.states import DELETED, EMPTIED, ORIGINAL, SOLVED, UNSOLVED
from akbench.spec import Judgement, Outcome, TestResult, TestRole

TARGET, REGRESSION = TestRole.TARGET, TestRole.REGRESSION


def result(name: str, status: str = "passed", role: TestRole = TARGET, message: str | None = None) -> TestResult:
    return TestResult(id=f"tests/test_{name}", role=role, status=status, duration_seconds=0.01, message=message)


def judgement(*tests: TestResult, outcome: Outcome | None = None, score: float | None = None) -> Judgement:
    targets = [test.status == "passed" for test in tests if test.role is TARGET]
    kept = all(test.status == "passed" for test in tests if test.role is REGRESSION)
    found = Outcome.FULL_SUCCESS if all(targets) else Outcome.FAILURE
    return Judgement(
        outcome=outcome or (found if kept else Outcome.REGRESSION),
        reason="as the tests say",
        score=score if score is not None else sum(targets) / len(targets) if targets else 0.0,
        tests=tests,
    )


GOOD_SOLVED = judgement(result("new.py::a"), result("old.py::b", role=REGRESSION))
GOOD_UNSOLVED = judgement(result("new.py::a", "failed"), result("old.py::b", role=REGRESSION))
RUINED = judgement(result("new.py", "error"), result("old.py", "error", REGRESSION))


def states(**changed: tuple[Judgement, ...]) -> dict[str, Judged]:
    found = {
        SOLVED: (GOOD_SOLVED,) * 3,
        UNSOLVED: (GOOD_UNSOLVED,) * 3,
        EMPTIED: (RUINED,),
        DELETED: (RUINED,),
        **changed,
    }
    return {name: Judged(judgements=each, seconds=(1.0,) * len(each)) for name, each in found.items()}


def concluded(**changed: tuple[Judgement, ...]) -> Findings:
    naive = {
        f"naive/{name.removeprefix('naive_')}" if name.startswith("naive_") else name: each
        for name, each in changed.items()
    }
    return conclude(states(**naive), visible=lambda name: "old" in name, has_original=True)


def test_a_good_task_has_no_problem_and_its_tests_are_sorted():
    found = concluded()
    assert found.problems == ()
    assert (found.fail_to_pass, found.pass_to_pass) == (("tests/test_new.py::a",), ("tests/test_old.py::b",))
    assert found.states[ORIGINAL].same_as == SOLVED
    assert found.states[UNSOLVED].outcomes == ("failure",) * 3
    assert (found.state_seconds[SOLVED], found.test_seconds[SOLVED]["tests/test_new.py::a"]) == (1.0, 0.01)


REFUSED = {
    "the solution fails a target": (
        {SOLVED: (judgement(result("new.py::a", "failed", message="x\nE   assert 1 == 2\nmore")),)},
        "target test tests/test_new.py::a does not pass on the reference solution (failed: assert 1 == 2)",
    ),
    "the solution breaks a regression test": (
        {SOLVED: (judgement(result("new.py::a"), result("old.py::b", "error", REGRESSION)),)},
        "regression test tests/test_old.py::b does not pass on the reference solution (error)",
    ),
    "a regression test is skipped": (
        {SOLVED: (judgement(result("new.py::a"), result("old.py::b", "skipped", REGRESSION, "needs a printer")),)},
        (
            "regression test tests/test_old.py::b does not pass on the reference solution "
            "(skipped; deselect what the suite skips)"
        ),
    ),
    "the solution runs out of time": (
        {SOLVED: (judgement(outcome=Outcome.TIMEOUT),)},
        "the reference solution is not a full success (timeout: as the tests say)",
    ),
    "the upstream tree fails": (
        {ORIGINAL: (judgement(result("new.py::a", "missing")),)},
        "target test tests/test_new.py::a does not pass on the tree before the mutations (missing)",
    ),
    "a target passes unsolved": (
        {UNSOLVED: (judgement(result("new.py::a"), result("new.py::c", "failed")),)},
        "target test tests/test_new.py::a passes on the unsolved tree",
    ),
    "nothing is to be done": (
        {UNSOLVED: (GOOD_SOLVED,)},
        "the unsolved tree is judged a full success: there is nothing to do",
    ),
    "a regression test fails unsolved": (
        {UNSOLVED: (judgement(result("new.py::a", "failed"), result("old.py::b", "failed", REGRESSION)),)},
        "regression test tests/test_old.py::b does not pass on the unsolved tree (failed)",
    ),
    "doing nothing scores": (
        {UNSOLVED: (judgement(outcome=Outcome.FAILURE, score=0.5),)},
        "doing nothing is scored 0.5 instead of 0",
    ),
    "a flaky target": (
        {SOLVED: (GOOD_SOLVED, judgement(result("new.py::a", "failed")), GOOD_SOLVED)},
        "target test tests/test_new.py::a is flaky: on the reference solution it passed 2 of 3 times (failed)",
    ),
    "a naive fix that is a solution": (
        {"naive_quick": (GOOD_SOLVED,)},
        "the naive fix 'quick' is a full success: the hidden tests do not tell it from a solution",
    ),
    "a naive fix that looks wrong": (
        {"naive_quick": (judgement(result("new.py::a", "failed"), result("old.py::b", "failed", REGRESSION)),)},
        "the naive fix 'quick' fails the visible test tests/test_old.py::b (failed)",
    ),
    "an evaluator that cannot judge": (
        {UNSOLVED: (judgement(outcome=Outcome.EVALUATOR_ERROR),)},
        "the evaluator could not judge the unsolved tree: as the tests say",
    ),
    "an emptied tree that scores": (
        {EMPTIED: (judgement(result("new.py::a"), result("new.py::c", "failed")),)},
        "an agent that empties every source file is scored 0.5 instead of 0: target test tests/test_new.py::a passes",
    ),
    "a deleted tree that nobody judges": (
        {DELETED: (judgement(outcome=Outcome.EVALUATOR_ERROR),)},
        "an agent that deletes every source file is not scored 0 but not judged at all: as the tests say",
    ),
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "_"))
def test_what_is_wrong_with_a_task_is_said_in_words(case: str):
    changed, words = REFUSED[case]
    assert words in concluded(**changed).problems


def test_a_flaky_regression_test_is_quarantined_and_the_task_stays_valid():
    broken = judgement(result("new.py::a"), result("old.py::b", "failed", REGRESSION))
    found = concluded(**{SOLVED: (GOOD_SOLVED, broken, GOOD_SOLVED)})
    assert found.problems == ()
    assert [(test.id, test.state, test.passed, test.of) for test in found.quarantined] == [
        ("tests/test_old.py::b", SOLVED, 2, 3)
    ]
    assert found.pass_to_pass == ()


def test_a_naive_fix_that_looks_right_and_fails_is_no_problem():
    assert concluded(naive_quick=(GOOD_UNSOLVED,)).problems == ()


def test_many_problems_of_one_kind_are_counted():
    many = judgement(*(result(f"new.py::t{number}") for number in range(8)), result("new.py::last", "failed"))
    problems = concluded(**{UNSOLVED: (many,)}).problems
    assert len(problems) == 6
    assert problems[-1] == "and 3 more of this kind"


def test_the_digest_of_a_verdict_is_that_of_what_was_found_and_not_of_the_time_it_took():

    key = VerdictKey(content="c", evaluator="pytest", distribution="d", version="1")
    verdict = Verdict(task="t", task_version="1.0.0", valid=True, key=key, state_seconds={"solved": 1.0})
    assert verdict.model_copy(update={"state_seconds": {"solved": 2.0}}).digest == verdict.digest
    assert verdict.model_copy(update={"valid": False}).digest != verdict.digest
