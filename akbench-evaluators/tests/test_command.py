"""The evaluator `command`: success is what the runner saw, not what the command says."""

import os
import sys

import pytest
from evaluator_stage import Judge, tree

from akbench import spec
from akbench_evaluators.command import CommandEvaluator


def test_exit_code_zero_is_a_full_success(bench):
    bench.lay({"check.py": "print('fine')\n"})
    judgement = bench.command("python", "check.py")
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS, judgement
    assert judgement.score == 1.0
    assert judgement.raw == {"exit_code": 0}
    assert (bench.root / "stdout").read_text() == "fine\n"


def test_another_exit_code_is_a_failure(bench):
    judgement = bench.command("sh", "-c", "echo all good; exit 3")
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.score == 0.0
    assert judgement.reason == "the command ended with exit code 3"


def test_the_configuration_may_name_other_exit_codes(bench):
    judgement = bench.command("sh", "-c", "exit 3", success_exit_codes=[1, 3])
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS
    assert bench.command("true", success_exit_codes=[1, 3]).outcome is spec.Outcome.FAILURE


def test_a_signal_is_a_failure_that_names_it(bench):
    judgement = bench.command("sh", "-c", "kill -SEGV $$")
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.reason == "the command ended with SIGSEGV"


def test_a_command_out_of_time_is_a_timeout(bench):
    judgement = bench.command("sleep", "60", timeout=2)
    assert judgement.outcome is spec.Outcome.TIMEOUT
    assert judgement.score == 0.0


def test_a_cancelled_command_is_no_failure_of_the_tree(bench):
    bench.cancel_after = 2
    judgement = bench.command("sleep", "60")
    assert judgement.outcome is spec.Outcome.INFRASTRUCTURE_ERROR
    assert judgement.score is None


def test_a_program_that_does_not_exist_is_an_evaluator_error(bench):
    judgement = bench.command("no-such-program")
    assert judgement.outcome is spec.Outcome.EVALUATOR_ERROR
    assert "no-such-program" in judgement.reason
    assert judgement.score is None


def test_an_interpreter_that_does_not_start_is_an_evaluator_error(bench):
    bench.python = "/bin/false"
    judgement = bench.command("true")
    assert judgement.outcome is spec.Outcome.EVALUATOR_ERROR
    assert judgement.reason == "the check did not begin (exit code 1): nothing on standard error"


def test_the_command_does_not_inherit_the_report(bench):
    code = "import os; print([fd for fd in range(3, 256) if os.path.exists(f'/proc/self/fd/{fd}')])"
    judgement = bench.command("python", "-c", code)
    assert judgement.outcome is spec.Outcome.FULL_SUCCESS
    assert (bench.root / "stdout").read_text() == "[]\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reaches for the report through /proc")
def test_the_report_of_the_runner_cannot_be_opened_by_the_command(bench):
    attack = """
import os, stat
parent = f"/proc/{os.getppid()}/fd"
for fd in os.listdir(parent):
    path = f"{parent}/{fd}"
    if stat.S_ISSOCK(os.stat(path).st_mode):
        try:
            open(path, "wb")
        except OSError as error:
            print(error.strerror)
raise SystemExit(1)
"""
    bench.lay({"attack.py": attack})
    judgement = bench.command("python", "attack.py")
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.reason == "the command ended with exit code 1"
    if os.geteuid() == 0:  # nothing keeps root out; for everybody else the runner's descriptors are closed
        assert (bench.root / "stdout").read_text() == "No such device or address\n"


PEEK = """
import os
opened = []
for name in ("mem", "environ", "fd/3"):
    try:
        opened.append(open(f"/proc/{os.getppid()}/{name}", "rb"))
    except OSError:
        pass
raise SystemExit(bool(opened))
"""


def test_the_command_cannot_look_into_the_runner_that_holds_the_report(tmp_path):
    judge = Judge(tmp_path / "room", CommandEvaluator())
    found = judge(tree({}), tree({}), command=["python", "-c", PEEK])
    assert found.outcome is spec.Outcome.FULL_SUCCESS, found


CHECK = """
import json
import subprocess
import sys
done = subprocess.run([sys.executable, "-m", "shop"], capture_output=True)
sys.exit(json.dumps(done.stdout.decode()) != '"4\\n"')
"""
SHADOW = "import os\nos._exit(0)\n"


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        (("python", "-I", "check.py"), spec.Outcome.FAILURE),
        (("python", "check.py"), spec.Outcome.FULL_SUCCESS),
    ],
)
def test_only_an_isolated_interpreter_keeps_modules_of_the_tree_out_of_a_check(bench, command, outcome):
    """As EVALUATORS.md says: the second is what not to do."""
    bench.lay({"check.py": CHECK, "shop/__main__.py": "print(5)\n", "json.py": SHADOW})
    assert bench.command(*command).outcome is outcome


def test_killing_the_runner_is_a_failure(bench):
    judgement = bench.command("sh", "-c", "kill -KILL $PPID")
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.reason == "the tested code ended the check (SIGKILL)"


def test_modules_of_the_workspace_do_not_reach_the_runner(bench):
    bench.lay(dict.fromkeys(("subprocess.py", "sitecustomize.py", "json.py"), "import os\nos._exit(0)\n"))
    judgement = bench.command("false")
    assert judgement.outcome is spec.Outcome.FAILURE
    assert judgement.reason == "the command ended with exit code 1"
