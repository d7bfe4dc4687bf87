"""The evaluator `pytest` on honest trees: what a person would call the result is what it says."""

import sys

import pytest

from akbench import spec

ADD = "def add(a, b):\n    return a + b\n"
BROKEN_ADD = "def add(a, b):\n    return a - b\n"
TARGETS = """
import pytest
from calc import add

@pytest.mark.parametrize("a, b, total", [(1, 2, 3), (2, 2, 4), (5, 0, 5)])
def test_add(a, b, total):
    assert add(a, b) == total
"""
REGRESSION = """
import calc

class TestModule:
    def test_has_add(self):
        assert callable(calc.add)

def test_zero():
    assert calc.add(0, 0) == 0
"""
SUITE = {"tests/test_target.py": TARGETS, "tests/test_old.py": REGRESSION}
CONFIG = {"target": ["tests/test_target.py"], "regression": ["tests/test_old.py"]}


def statuses(judgement):
    return {test.id: test.status for test in judgement.tests}


def of_role(judgement, role):
    return [test.id for test in judgement.tests if test.role is role]


def test_a_solved_tree_is_a_full_success(bench):
    bench.lay({"calc.py": ADD, **SUITE})
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement
    assert judgement.score == 1.0
    assert judgement.reason == "all 3 target and 2 regression tests passed"
    assert of_role(judgement, spec.TestRole.TARGET) == [
        "tests/test_target.py::test_add[1-2-3]",
        "tests/test_target.py::test_add[2-2-4]",
        "tests/test_target.py::test_add[5-0-5]",
    ]
    assert of_role(judgement, spec.TestRole.REGRESSION) == [
        "tests/test_old.py::TestModule::test_has_add",
        "tests/test_old.py::test_zero",
    ]
    assert all(test.duration_seconds >= 0 and test.message is None for test in judgement.tests)
    assert judgement.raw["pytest"] == pytest.__version__
    assert judgement.raw["planted_failures"] == 2


def test_hidden_tests_run_under_other_names_and_are_told_by_their_own(bench):
    suite = "import calc, os\ndef test_wrong():\n    assert calc.add(1, 1) == os.environ['PYTEST_CURRENT_TEST']\n"
    bench.lay({"calc.py": ADD, "tests/test_target.py": suite, "tests/test_old.py": REGRESSION})
    bench.hidden = ("tests/test_target.py",)
    judgement = bench.pytest(target=["tests/test_target.py::test_wrong"], regression=["tests/test_old.py"])
    assert list(statuses(judgement)) == [
        "tests/test_target.py::test_wrong",
        "tests/test_old.py::TestModule::test_has_add",
        "tests/test_old.py::test_zero",
    ]
    assert "tests/test_target.py:3: in test_wrong" in judgement.tests[0].message
    assert not (bench.workspace / "tests/test_target.py").exists()
    bench.lay({"tests/test_target.py": suite.replace("test_wrong():", "test_wrong():  # is")})
    kept = bench.pytest(target=["tests/test_target.py::test_wrong"], random_names=False)
    assert (bench.workspace / "tests/test_target.py").exists()
    assert list(statuses(kept)) == ["tests/test_target.py::test_wrong"]


def test_some_targets_of_several_are_a_partial_success_with_their_fraction(bench):
    bench.lay({"calc.py": BROKEN_ADD, **SUITE})
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.PARTIAL_SUCCESS, judgement
    assert judgement.score == pytest.approx(1 / 3)
    assert statuses(judgement)["tests/test_target.py::test_add[1-2-3]"] == "failed"
    assert statuses(judgement)["tests/test_target.py::test_add[5-0-5]"] == "passed"
    failed = next(test for test in judgement.tests if test.status == "failed")
    assert "assert -1 == 3" in failed.message


def test_no_target_passed_is_a_failure(bench):
    bench.lay({"calc.py": BROKEN_ADD, **SUITE})
    judgement = bench.pytest(**CONFIG | {"target": ["tests/test_target.py::test_add[1-2-3]"]})
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.score == 0.0
    assert "tests/test_target.py::test_add[1-2-3] (failed)" in judgement.reason


def test_a_broken_regression_test_is_a_regression_and_the_target_fraction_stays(bench):
    bench.lay({"calc.py": "def add(a, b):\n    return a + b or 7\n", **SUITE})
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.REGRESSION, judgement
    assert judgement.score == 1.0
    assert judgement.reason == "1 of 2 regression tests broke: tests/test_old.py::test_zero (failed)"


def test_a_name_that_the_product_lacks_fails_the_targets_that_import_it(bench):
    bench.lay({"calc.py": "PI = 3\n", "tests/test_target.py": TARGETS, "tests/test_old.py": "def test_it(): pass\n"})
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.FAILURE, judgement
    assert statuses(judgement) == {"tests/test_target.py": "error", "tests/test_old.py::test_it": "passed"}
    assert "cannot import name 'add'" in judgement.tests[1].message


def test_a_node_id_in_a_file_that_does_not_load_fails_under_its_own_name(bench):
    bench.lay({"calc.py": "PI = 3\n", **SUITE})
    judgement = bench.pytest(target=["tests/test_target.py::test_add"])
    assert judgement.outcome is spec.Outcome.FAILURE
    assert statuses(judgement) == {"tests/test_target.py::test_add": "error"}


def test_a_syntax_error_in_the_product_is_its_own_fault(bench):
    bench.lay({"calc.py": "def add(a, b:\n", **SUITE})
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.REGRESSION, judgement
    assert judgement.score == 0.0
    assert set(statuses(judgement).values()) == {"error"}
    assert all("SyntaxError" in test.message for test in judgement.tests)


def test_a_broken_conftest_import_is_a_failure_of_the_tree(bench):
    bench.lay({"calc.py": "def add(a, b:\n", "conftest.py": "import calc\n", **SUITE})
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.FAILURE, judgement
    assert judgement.reason.startswith("pytest stopped early (exit code 4)")
    assert set(statuses(judgement).values()) == {"missing"}


def test_a_file_that_does_not_load_inside_a_selected_folder_counts(bench):
    bench.lay({"calc.py": ADD, **SUITE, "tests/old/test_b.py": "import nowhere\n", "tests/old/test_c.py": REGRESSION})
    judgement = bench.pytest(target=["tests/test_target.py"], regression=["tests/old"])
    assert judgement.outcome is spec.Outcome.REGRESSION
    assert statuses(judgement)["tests/old/test_b.py"] == "error"
    assert statuses(judgement)["tests/old/test_c.py::test_zero"] == "passed"


def test_a_test_that_both_lists_select_is_a_target(bench):
    bench.lay({"calc.py": BROKEN_ADD, **SUITE})
    judgement = bench.pytest(
        target=["tests/test_target.py::test_add[1-2-3]"],
        regression=["tests"],
        deselect=["tests/test_target.py::test_add[2-2-4]"],
    )
    assert of_role(judgement, spec.TestRole.TARGET) == ["tests/test_target.py::test_add[1-2-3]"]
    assert judgement.outcome is spec.Outcome.FAILURE, judgement


def test_deselected_tests_do_not_run(bench):
    bench.lay({"calc.py": BROKEN_ADD, **SUITE})
    deselect = ["tests/test_target.py::test_add[1-2-3]", "tests/test_target.py::test_add[2-2-4]"]
    judgement = bench.pytest(**CONFIG, deselect=deselect)
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS
    assert len(judgement.tests) == 3


@pytest.mark.parametrize(
    "selector",
    ["tests/test_nowhere.py", "tests/test_nowhere.py::test_x", "nowhere"],
)
def test_a_selector_without_a_file_is_an_evaluator_error_that_names_it(bench, selector):
    bench.lay({"calc.py": ADD, **SUITE})
    judgement = bench.pytest(target=["tests/test_target.py"], regression=[selector])
    assert judgement.outcome is spec.Outcome.EVALUATOR_ERROR
    assert judgement.score is None
    assert selector in judgement.reason


def test_a_selector_whose_name_is_not_in_its_file_is_an_evaluator_error_that_names_it(bench):
    bench.lay({"calc.py": ADD, **SUITE})
    judgement = bench.pytest(target=["tests/test_target.py::test_ad"], regression=["tests/test_old.py"])
    assert judgement.outcome is spec.Outcome.EVALUATOR_ERROR
    assert "tests/test_target.py::test_ad" in judgement.reason


def test_a_selected_test_that_the_product_made_disappear_is_missing_not_an_evaluator_error(bench):
    suite = (
        "import calc\nif hasattr(calc, 'add'):\n    def test_add(): assert calc.add(1, 2) == 3\ndef test_b(): pass\n"
    )
    bench.lay({"calc.py": "", "tests/test_target.py": suite})
    judgement = bench.pytest(target=["tests/test_target.py::test_add"], regression=["tests/test_target.py::test_b"])
    assert judgement.outcome is spec.Outcome.FAILURE, judgement
    assert statuses(judgement)["tests/test_target.py::test_add"] == "missing"


def test_skipped_targets_do_not_count_as_passed(bench):
    suite = "import calc, pytest\ndef test_add():\n    if not hasattr(calc, 'add'): pytest.skip('no add')\n"
    bench.lay({"calc.py": "", "tests/test_target.py": suite})
    judgement = bench.pytest(target=["tests/test_target.py"])
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.tests[0].status == "skipped"
    assert judgement.tests[0].message == "Skipped: no add"


def test_a_module_skipped_by_the_product_does_not_count_as_passed(bench):
    bench.lay({"calc.py": "import unittest\nraise unittest.SkipTest('not today')\n", **SUITE})
    judgement = bench.pytest(target=["tests/test_target.py"])
    assert judgement.outcome is spec.Outcome.FAILURE
    assert statuses(judgement) == {"tests/test_target.py": "skipped"}


def test_an_expected_failure_does_not_count_as_passed(bench):
    suite = "import pytest\n@pytest.mark.xfail(reason='known')\ndef test_add(): assert 0\n"
    bench.lay({"tests/test_target.py": suite})
    judgement = bench.pytest(target=["tests/test_target.py"])
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.tests[0].status == "skipped"
    assert "known" in judgement.tests[0].message


def test_errors_of_set_up_and_tear_down_are_told_from_failures(bench):
    suite = """
import pytest
@pytest.fixture
def bad_before(): raise OSError("before")
@pytest.fixture
def bad_after():
    yield
    raise OSError("after")
def test_before(bad_before): pass
def test_after(bad_after): pass
"""
    bench.lay({"tests/test_target.py": suite})
    judgement = bench.pytest(target=["tests/test_target.py"])
    assert statuses(judgement) == {
        "tests/test_target.py::test_before": "error",
        "tests/test_target.py::test_after": "error",
    }
    assert ["OSError: before" in judgement.tests[0].message, "OSError: after" in judgement.tests[1].message] == [
        True,
        True,
    ]


def test_unittest_classes_and_failing_subtests_are_judged(bench):
    suite = """
import unittest
class Case(unittest.TestCase):
    def test_good(self):
        for i in range(3):
            with self.subTest(i=i): self.assertLess(i, 3)
    def test_skipped_part(self):
        with self.subTest(): self.skipTest("part")
    def test_bad_part(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    def test_bad(self): self.fail("no")
"""
    bench.lay({"tests/test_case.py": suite})
    judgement = bench.pytest(target=["tests/test_case.py"])
    assert judgement.outcome is spec.Outcome.PARTIAL_SUCCESS, judgement
    assert {name.rsplit("::")[-1]: status for name, status in statuses(judgement).items()} == {
        "test_good": "passed",
        "test_skipped_part": "passed",
        "test_bad_part": "failed",
        "test_expected": "skipped",
        "test_bad": "failed",
    }


def test_many_thousand_subtests_do_not_fill_the_report(bench):
    suite = """
def test_good(subtests):
    for i in range(600):
        with subtests.test(i=i): pass
def test_bad(subtests):
    for i in range(600):
        with subtests.test(i=i): assert i < 0
"""
    bench.lay({"tests/test_sub.py": suite})
    bench.report_limit = 40_000
    judgement = bench.pytest(target=["tests/test_sub.py"])
    assert statuses(judgement) == {"tests/test_sub.py::test_good": "passed", "tests/test_sub.py::test_bad": "failed"}


def test_failing_subtests_of_the_fixture_fail_their_test(bench):
    bench.lay({"tests/test_sub.py": "def test_parts(subtests):\n    with subtests.test('a'): assert 0\n"})
    judgement = bench.pytest(target=["tests/test_sub.py"])
    assert statuses(judgement) == {"tests/test_sub.py::test_parts": "failed"}


def test_an_endless_loop_is_a_timeout_and_keeps_what_was_known(bench):
    bench.lay({"tests/test_target.py": "def test_a(): pass\ndef test_b():\n    while True: pass\ndef test_c(): pass\n"})
    judgement = bench.pytest(target=["tests/test_target.py"], timeout=8)
    assert judgement.outcome is spec.Outcome.TIMEOUT, judgement
    assert [test.status for test in judgement.tests] == ["passed", "missing", "missing"]
    assert judgement.reason == "out of time; 2 tests did not run to the end"
    assert judgement.score == pytest.approx(1 / 3)


def test_a_cancelled_suite_is_no_failure_of_the_tree(bench):
    bench.lay({"tests/test_target.py": "def test_a():\n    while True: pass\n"})
    bench.cancel_after = 4
    judgement = bench.pytest(target=["tests/test_target.py"])
    assert judgement.outcome is spec.Outcome.INFRASTRUCTURE_ERROR, judgement
    assert judgement.score is None


def test_a_hang_while_the_product_is_imported_is_a_timeout(bench):
    bench.lay({"calc.py": "import time\ntime.sleep(60)\n", **SUITE})
    judgement = bench.pytest(**CONFIG, timeout=4)
    assert judgement.outcome is spec.Outcome.TIMEOUT, judgement
    assert judgement.score == 0.0


def test_a_thread_left_running_does_not_hold_up_the_check(bench):
    bench.lay(
        {"calc.py": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n" + ADD, **SUITE}
    )
    judgement = bench.pytest(**CONFIG, timeout=30)
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement


def test_an_environment_without_pytest_is_an_evaluator_error(bench):
    bench.lay({"calc.py": ADD, **SUITE})
    bench.python = sys._base_executable
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.EVALUATOR_ERROR
    assert "No module named 'pytest'" in judgement.reason


def test_a_report_longer_than_the_harness_keeps_is_an_evaluator_error(bench):
    bench.lay({"calc.py": ADD, **SUITE})
    bench.report_limit = 1_000
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.EVALUATOR_ERROR
    assert "longer than the harness keeps" in judgement.reason


def test_long_explanations_keep_their_end_and_many_of_them_stay_bounded(bench):
    suite = (
        "import pytest\n@pytest.mark.parametrize('n', range(500))\n"
        "def test_it(n): raise ValueError('x' * 3000 + 'END')\n"
    )
    bench.lay({"tests/test_long.py": suite})
    judgement = bench.pytest(target=["tests/test_long.py"])
    messages = [test.message for test in judgement.tests]
    assert messages[0].startswith("…")
    assert "END" in messages[0]
    assert sum(map(len, messages)) <= 401_000
    assert {test.status for test in judgement.tests} == {"failed"}


def test_relative_imports_between_test_modules_work(bench):
    bench.lay(
        {
            "calc.py": ADD,
            "tests/__init__.py": "",
            "tests/cases.py": "CASES = [(1, 2, 3)]\n",
            "tests/unit/__init__.py": "",
            "tests/unit/test_a.py": (
                "from ..cases import CASES\nfrom tests.cases import CASES as SAME\nfrom calc import add\n"
                "def test_add(one):\n    assert CASES is SAME and one == 1\n"
                "    assert all(add(a, b) == c for a, b, c in CASES)\n"
            ),
            "tests/unit/conftest.py": (
                "import pytest\nfrom ..cases import CASES\n@pytest.fixture\ndef one(): return len(CASES)\n"
            ),
            "conftest.py": "import calc\n",
        }
    )
    judgement = bench.pytest(target=["tests/unit/test_a.py"])
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement


def test_equal_file_names_in_folders_without_init_work(bench):
    bench.lay({"a/test_x.py": "def test_a(): pass\n", "b/test_x.py": "def test_b(): pass\n"})
    judgement = bench.pytest(target=["a", "b"])
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement
    assert list(statuses(judgement)) == ["a/test_x.py::test_a", "b/test_x.py::test_b"]


@pytest.mark.parametrize("selector", ["tests/unit/test_a.py", "tests"])
def test_imports_between_neighbours_work_in_folders_that_are_no_packages(bench, selector):
    bench.lay(
        {
            "tests/unit/cases.py": "X = 1\n",
            "tests/unit/conftest.py": "import pytest\nfrom cases import X\n@pytest.fixture\ndef one(): return X\n",
            "tests/unit/test_a.py": "from cases import X\ndef test_x(one): assert X is one\n",
        }
    )
    judgement = bench.pytest(target=[selector])
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement


def test_child_processes_of_the_suite_find_the_product(bench):
    suite = """
import subprocess, sys
def test_main(tmp_path):
    out = subprocess.run([sys.executable, "-m", "calc"], capture_output=True, text=True, cwd=tmp_path)
    assert out.stdout == "hello\\n", out
"""
    bench.lay({"calc.py": "print('hello')\n", "tests/test_main.py": suite})
    judgement = bench.pytest(target=["tests/test_main.py"])
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement


def test_child_processes_that_are_spawned_or_forked_do_not_report(bench):
    suite = """
import multiprocessing, os
import calc, pytest
@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_pool(way):
    with multiprocessing.get_context(way).Pool(1) as pool:
        assert pool.starmap(calc.add, [(1, 2)]) == [3]
def test_fork_that_runs_on():
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
"""
    bench.lay({"calc.py": ADD, "tests/test_pool.py": suite})
    judgement = bench.pytest(target=["tests/test_pool.py"])
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement
    assert len(judgement.tests) == 3


def test_nothing_is_written_into_the_workspace(bench):
    bench.lay({"calc.py": ADD, **SUITE})
    before = sorted(bench.workspace.rglob("*"))
    bench.pytest(**CONFIG)
    assert sorted(bench.workspace.rglob("*")) == before


def test_a_test_that_the_suite_itself_drops_is_missing(bench):
    conftest = "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'zero' not in i.name]\n"
    bench.lay({"calc.py": ADD, "conftest.py": conftest, **SUITE})
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.REGRESSION
    assert statuses(judgement)["tests/test_old.py::test_zero"] == "missing"


ENDLESS = """
import time

def test_first():
    while True:
        pass

def test_swallows_everything():
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            if len(caught) == 2:
                raise
            caught.append(1)

caught = []

class TestSetUp:
    def setup_method(self):
        while True:
            pass

    def test_is_never_reached(self):
        pass

def test_last():
    assert True
"""


def test_endless_tests_fail_one_by_one_and_the_ones_after_them_still_report(bench):
    bench.lay({"tests/test_endless.py": ENDLESS})
    judgement = bench.pytest(target=["tests/test_endless.py"], test_timeout_seconds=0.3)
    assert judgement.outcome is spec.Outcome.PARTIAL_SUCCESS, judgement
    assert [test.status for test in judgement.tests] == ["failed", "failed", "error", "passed"]
    assert "ran longer than 0.3 s (test_timeout_seconds)" in judgement.tests[0].message


def test_a_quarantined_test_counts_for_nothing(bench):
    bench.lay({"calc.py": "def add(a, b):\n    return a + b or 7\n", **SUITE})
    bench.quarantined = ("tests/test_old.py::test_zero",)
    judgement = bench.pytest(**CONFIG)
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement
    assert of_role(judgement, spec.TestRole.REGRESSION) == ["tests/test_old.py::TestModule::test_has_add"]
