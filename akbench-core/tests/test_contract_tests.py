"""Contract tests run in a process of their own, and their verdict says what really passed."""

import os
import time
from pathlib import Path

import pytest

from akbench.catalogue import Adapter
from akbench.contract_tests import run_contract_tests
from akbench.spec import AgentRecord, HostError
from akbench.verdict import Verdict, subject_of

ADAPTER = Adapter(
    record=AgentRecord(id="some", target="some.adapter:Some", summary="some"), distribution="some-dist", version="1.0.0"
)


def verdict(folder: Path, tests: str, seconds: float = 60) -> Verdict:
    (folder / "test_it.py").write_text(tests)
    environ = {**os.environ, "PYTEST_ADDOPTS": ""}
    return run_contract_tests(ADAPTER, [str(folder / "test_it.py")], environ=environ, timeout_seconds=seconds)


def test_passed_skipped_and_failed_tests_are_told_apart(tmp_path: Path):
    found = verdict(
        tmp_path,
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 'said' == 'done', 'it lied'\n"
        "@pytest.mark.skip(reason='not declared')\n"
        "def test_left_out(): pass\n"
        "@pytest.fixture\n"
        "def broken(): raise RuntimeError('no start')\n"
        "def test_never_began(broken): pass\n",
    )
    assert found.subject == subject_of(ADAPTER)
    assert (found.passed, found.skipped) == (1, 1)
    assert {
        each.name.rpartition(".")[2]: "it lied" in each.message or "no start" in each.message for each in found.failed
    } == {
        "test_it::test_bad": True,
        "test_it::test_never_began": True,
    }
    assert not found.is_pass


ABSENT = "import pytest\ndef test_tried(): pytest.skip('cannot run here: no program (install it)')\n"


def test_where_the_real_thing_is_not_installed_there_is_no_verdict(tmp_path: Path):
    with pytest.raises(HostError, match=r"cannot run here: no program \(install it\)"):
        verdict(tmp_path, ABSENT + "def test_light(): pass\n")


def test_what_fails_without_the_real_thing_fails(tmp_path: Path):
    found = verdict(tmp_path, ABSENT + "def test_heavy(): assert False, 'heavy'\n")
    assert [each.name.rpartition("::")[2] for each in found.failed] == ["test_heavy"]


def test_all_good_is_a_pass(tmp_path: Path):
    assert verdict(tmp_path, "def test_good(): pass\n").is_pass


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ("", "no tests ran"),
        ("import os; os._exit(0)", "ended with exit code 0"),
        ("def test_leaves(): import os; os._exit(0)", "ended with exit code 0"),
    ],
    ids=["none", "leaves_while_read", "leaves_in_a_test"],
)
def test_a_run_that_proves_nothing_is_no_pass(tmp_path: Path, tests: str, message: str):
    found = verdict(tmp_path, tests)
    assert not found.is_pass
    assert message in found.failed[-1].message


def test_a_file_that_cannot_be_imported_is_a_failure(tmp_path: Path):
    assert "no_such_module" in verdict(tmp_path, "import no_such_module").failed[0].message


def test_tests_that_never_end_are_given_up_with_all_they_started(tmp_path: Path):
    pid = tmp_path / "pid"
    found = verdict(
        tmp_path,
        "import subprocess, time, pathlib\n"
        "def test_endless():\n"
        f"    child = subprocess.Popen(['sleep', '600'])\n    pathlib.Path({str(pid)!r}).write_text(str(child.pid))\n"
        "    time.sleep(600)\n",
        seconds=15,
    )
    assert found.failed[-1].message == "not done after 15 seconds"
    assert ended(int(pid.read_text()))


def ended(pid: int) -> bool:
    for _ in range(100):
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except FileNotFoundError:
            return True
        if status.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False
