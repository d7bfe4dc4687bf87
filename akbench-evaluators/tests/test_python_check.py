"""The evaluator `python`: the check and the product are in different processes, and only questions pass between."""

from __future__ import annotations

import pytest
from evaluator_stage import Judge, tree

from akbench.dataset.tree import Tree
from akbench.spec import InputError, Outcome, TestRole
from akbench_evaluators.python_check import PythonCheck

SECRET = "the-answer-nobody-may-see"
CHECK = f"""
SECRET = "{SECRET}"

def check(product, report):
    with report.test("adds"):
        assert product.call("shop.sums:add", 20, 22) == 42, "no sum"
    with report.test("keeps state", role="regression"):
        assert product.call("shop.sums:count") + 1 == product.call("shop.sums:count")
"""
SUMS = """
calls = 0

def add(a, b):
    return a + b

def count():
    global calls
    calls += 1
    print("counting", calls)
    return calls
"""


@pytest.fixture
def judge(tmp_path) -> Judge:
    return Judge(tmp_path / "room", PythonCheck())


def product(sums: str = SUMS) -> Tree:
    return tree({"shop/__init__.py": "", "shop/sums.py": sums})


def judged(judge: Judge, sums: str = SUMS, check: str = CHECK, **config: object):
    return judge(product(sums), tree({}), {"behaviour.py": check}, check="behaviour.py", **config)


def test_functions_of_the_product_are_called_and_its_prints_disturb_nothing(judge):
    found = judged(judge)
    assert (found.outcome, found.score, found.reason) == (Outcome.FULL_SUCCESS, 1.0, "all 2 tests passed")
    assert [(test.id, test.role, test.status) for test in found.tests] == [
        ("checks/behaviour.py::adds", TestRole.TARGET, "passed"),
        ("checks/behaviour.py::keeps state", TestRole.REGRESSION, "passed"),
    ]
    assert "counting 1" in judge.stderr


def test_a_wrong_product_fails_the_test_with_its_message(judge):
    found = judged(judge, SUMS.replace("a + b", "a - b"))
    assert (found.outcome, found.score) == (Outcome.FAILURE, 0.0)
    assert found.tests[0].message == "AssertionError: no sum (line 6 of checks/behaviour.py)"


def test_a_broken_regression_is_told_from_a_failed_target(judge):
    assert judged(judge, SUMS.replace("calls += 1", "calls += 2")).outcome is Outcome.REGRESSION


WRONGS = {
    "an exception": ("raise KeyError('x')", "add raised KeyError"),
    "an exit": ("raise SystemExit(0)", "add raised SystemExit"),
    "a hard exit": ("import os; os._exit(0)", "process ended (exit code 0)"),
    "a crash": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "process ended (signal 11)"),
    "no JSON": ("return object()", "not JSON serializable"),
    "no end": ("import time; time.sleep(60)", "did not answer in time"),
    "an always equal value": ("return type('E', (int,), {'__eq__': lambda *_: True})(7)", "no sum"),
    "a closed pipe": ("import os; os.closerange(3, 99); return 42", "process ended"),
    "a forged answer": ("import os; [w(n) for n in range(3, 9)]; return 0", "no JSON"),
    "a flood": ("return 'x' * (9 << 20)", "is longer than"),
}
FORGE = """
def w(number):
    import os
    try:
        os.write(number, b"nonsense\\n")
    except OSError:
        pass
"""


@pytest.mark.parametrize("name", WRONGS)
def test_whatever_the_product_does_is_a_failed_test_and_the_check_goes_on(judge, name):
    code, message = WRONGS[name]
    seconds = 2.0 if name == "no end" else 30.0
    check = CHECK.replace('"shop.sums:add", 20, 22', f'"shop.sums:add", 20, 22, timeout={seconds}')
    found = judged(judge, SUMS.replace("return a + b", code) + FORGE, check)
    assert found.tests[0].status == "failed"
    assert message in found.tests[0].message
    assert found.tests[1].status == "passed"
    assert found.outcome is Outcome.FAILURE


def test_programs_are_run_with_input_output_and_a_bound(judge):
    check = """
def check(product, report):
    with report.test("echoes"):
        done = product.run(["python", "-m", "shop.echo", "x"], stdin="in")
        assert (done.exit_code, done.stdout, done.stderr) == (3, "in x", "said")
    with report.test("is bounded"):
        try:
            product.run(["sleep", "60"], timeout=0.3)
        except ProductError as error:
            assert "did not end within 0.3 s" in str(error)
        else:
            raise AssertionError("no bound")
    with report.test("needs a program"):
        product.run(["no-such-program"])
    report.note(runs=3)
"""
    echo = (
        "import sys; print(sys.stdin.read(), sys.argv[1], end=''); print('said', end='', file=sys.stderr); sys.exit(3)"
    )
    files = tree({"shop/__init__.py": "", "shop/echo.py": echo})
    found = judge(files, tree({}), {"behaviour.py": check}, check="behaviour.py")
    assert [test.status for test in found.tests] == ["passed", "passed", "failed"], found
    assert found.outcome is Outcome.PARTIAL_SUCCESS
    assert found.raw["notes"] == {"runs": 3}


ATTACK = f"""
import ctypes, glob, os, signal

def look(what):
    parent = os.getppid()
    if what == "kill":
        os.kill(parent, signal.SIGKILL)
        return "sent"
    if what == "trace":
        return ctypes.CDLL(None, use_errno=True).ptrace(16, parent, 0, 0)
    seen = []
    for process in [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]:
        for name in ("environ", "mem", "maps", "cmdline"):
            try:
                with open(f"/proc/{{process}}/{{name}}", "rb") as file:
                    if name == "mem":
                        seen.append("mem")
                    else:
                        seen += ["content"] if b"{SECRET[:9]}" in file.read() else []
            except OSError:
                pass
        try:
            seen += [f"fd {{n}}" for n in os.listdir(f"/proc/{{process}}/fd")]
        except OSError:
            pass
    for folder, _, names in os.walk("/ak"):
        for name in names:
            if b"{SECRET[9:]}" in open(os.path.join(folder, name), "rb").read():
                seen.append(name)
    for number in range(3, 64):
        try:
            seen += ["pipe"] if os.pread(number, 9, 0) else []
        except OSError:
            pass
    return seen
"""
LOOKING = f"""
SECRET = "{SECRET}"

def check(product, report):
    with report.test("finds nothing"):
        assert product.call("shop.sums:look", "files") == []
    with report.test("cannot trace"):
        assert product.call("shop.sums:look", "trace") == -1
"""
KILLING = """
def check(product, report):
    with report.test("passes"):
        pass
    with report.test("is ended"):
        product.call("shop.sums:look", "kill")
"""


@pytest.mark.bubblewrap
def test_the_product_can_read_neither_the_check_nor_its_process(tmp_path):
    judge = Judge(tmp_path / "room", PythonCheck(), sandbox="bubblewrap")
    found = judged(judge, ATTACK, LOOKING)
    assert [(test.id.rpartition(":")[2], test.status) for test in found.tests] == [
        ("finds nothing", "passed"),
        ("cannot trace", "passed"),
    ], found.tests
    assert found.raw["isolated"] is True
    assert found.outcome is Outcome.FULL_SUCCESS


def test_a_product_that_kills_the_check_gains_nothing(judge):
    found = judged(judge, ATTACK, KILLING)
    assert (found.outcome, found.score) == (Outcome.FAILURE, 0.0)
    assert "the tested code ended the check" in found.reason


def test_where_the_product_could_look_into_the_check_the_judgement_says_so(tmp_path):
    """Whoever is root outside of any sandbox sees every process; a plain user does not."""
    found = judged(
        Judge(tmp_path / "room", PythonCheck(), sandbox="local"),
        ATTACK,
        LOOKING.partition('    with report.test("cannot trace')[0],
    )
    assert found.tests[0].status == ("passed" if found.raw["isolated"] else "failed")
    assert ("could have looked into the check" in found.reason) is not found.raw["isolated"]
    assert found.raw["isolated"] is (found.raw["seen_by_product"] == [])


BROKEN_CHECKS = {
    "no function": ("x = 1", "KeyError: 'check'"),
    "no Python": ("def check(:", "SyntaxError"),
    "an exception between tests": (
        CHECK + "    raise ValueError('here')\n",
        "ValueError: here (line 9 of checks/behaviour.py)",
    ),
    "two tests of a name": (CHECK + CHECK.partition("report):\n")[2].replace("keeps", "holds"), "two tests 'adds'"),
    "an unknown role": (CHECK.replace('"regression"', '"other"'), "the role of test 'keeps state' is 'other'"),
}


@pytest.mark.parametrize("name", BROKEN_CHECKS)
def test_a_check_that_ends_outside_its_tests_is_a_failure_without_score(judge, name):
    check, message = BROKEN_CHECKS[name]
    found = judged(judge, check=check)
    assert (found.outcome, found.score) == (Outcome.FAILURE, 0.0)
    assert message in found.reason


def test_a_check_without_target_tests_is_an_evaluator_error(judge):
    found = judged(judge, check="def check(product, report):\n    pass\n")
    assert (found.outcome, found.score) == (Outcome.EVALUATOR_ERROR, None)


def test_a_check_out_of_time_is_a_timeout_that_keeps_the_tests_before(judge):
    check = CHECK + '    with report.test("never"):\n        __import__("time").sleep(60)\n'
    found = judged(judge, check=check, timeout_seconds=3)
    assert (found.outcome, found.score) == (Outcome.TIMEOUT, 0.0)
    assert [test.status for test in found.tests] == ["passed", "passed"]


@pytest.mark.parametrize("name", ["", "/a.py", "../a.py", "a.txt", "./a.py", None])
def test_a_wrong_name_is_refused(name):
    with pytest.raises(InputError, match="'check' is"):
        PythonCheck().check_config({} if name is None else {"check": name})
