"""Stored runs are judged again by today's task: results stay, nothing is judged twice, differences are told."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest, wait_for

TASK = "datasets/starter/bug_fix/greet-001"
HIDDEN = f"{TASK}/hidden_tests/tests/test_groups.py"
STRICTER = """

def test_nobody_is_greeted_silently():
    import time
    time.sleep(SECONDS)
    assert greet([]) == "Hi?"
"""


@pytest.fixture(scope="module")
def graded(shared_project: ProjectUnderTest) -> ProjectUnderTest:
    """The starter's experiment, one repetition: run-0001 solved it, run-0002 did nothing."""
    agents = "oracle: {id: oracle}\nnoop: {id: noop}"
    file = shared_project.experiment("again", agents)
    done = shared_project.akbench("experiment", "run", file)
    assert done.returncode == 0, done.stderr
    return shared_project


@pytest.fixture
def hidden(graded: ProjectUnderTest) -> Iterator[Path]:
    """The hidden test, put back afterwards."""
    path = graded.root / HIDDEN
    text = path.read_text()
    yield path
    path.write_text(text)


def run_folder(project: ProjectUnderTest, run_id: str) -> Path:
    return project.root / "data/artifacts/exp-0001" / run_id


def stored(folder: Path) -> dict[str, bytes]:
    """The files of a run but those of its gradings."""
    files = (path for path in folder.rglob("*") if path.is_file() and "gradings" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


def again(project: ProjectUnderTest, *arguments: str, code: int = 0) -> dict:
    done = project.akbench("evaluate", "exp-0001", *arguments, "--again", "--json")
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


def test_a_run_judged_again_by_the_same_task_has_the_same_verdict_and_keeps_its_result(graded: ProjectUnderTest):
    before = stored(run_folder(graded, "run-0001"))
    (found,) = again(graded, "run-0001")["runs"]
    assert (found["before"]["outcome"], found["after"]["outcome"], found["changed"]) == (
        "full_success",
        "full_success",
        False,
    )
    assert found["tests"] == []
    assert stored(run_folder(graded, "run-0001")) == before
    kept = run_folder(graded, "run-0001") / "gradings/0001"
    assert {path.name for path in kept.iterdir()} == {"grading.json", "evaluation.json", "evaluation"}


def test_a_run_that_was_graded_is_not_judged_once_more(graded: ProjectUnderTest):
    again(graded, "run-0001")
    (found,) = again(graded, "run-0001")["runs"]
    assert found["reused"]
    assert [path.name for path in (run_folder(graded, "run-0001") / "gradings").iterdir()] == ["0001"]


def test_a_stricter_task_changes_the_verdict_and_says_which_test_did(graded: ProjectUnderTest, hidden: Path):
    hidden.write_text(hidden.read_text() + STRICTER.replace("SECONDS", "0"))
    found = again(graded, "run-0001")
    assert found["changed"] == 1
    (run,) = found["runs"]
    assert run["before"] | {"reason": None} == {
        "state": "COMPLETED",
        "outcome": "full_success",
        "score": 1.0,
        "solved": True,
        "reason": None,
    }
    assert (run["after"]["outcome"], run["after"]["score"], run["after"]["solved"]) == ("partial_success", 0.75, False)
    assert run["tests"] == [
        {
            "id": "tests/test_groups.py::test_nobody_is_greeted_silently",
            "role": "target",
            "before": None,
            "after": "failed",
        }
    ]
    told = graded.akbench("evaluate", "exp-0001", "run-0001", "--again")
    assert "1 graded, 1 with another verdict than the first" in told.stdout
    shown = next(run for run in graded.show("exp-0001")["run_list"] if run["id"] == "run-0001")
    assert shown["outcome"] == "full_success"
    assert shown["gradings"][-1]["after"]["outcome"] == "partial_success"


def test_a_killed_command_goes_on_where_it_was(graded: ProjectUnderTest, hidden: Path):
    hidden.write_text(hidden.read_text() + STRICTER.replace("SECONDS", "2"))
    first, second = (run_folder(graded, name) / "gradings" for name in ("run-0001", "run-0002"))
    count = len(list(first.glob("0*")))
    process = graded.start("evaluate", "exp-0001", "--again")
    wait_for(lambda: len(list(first.glob("0*"))) > count)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not list(second.glob("0*"))
    second.mkdir(exist_ok=True)
    (second / ".making-left").mkdir()
    found = again(graded)
    assert [(run["run"], run["reused"]) for run in found["runs"]] == [("run-0001", True), ("run-0002", False)]
    assert [path.name for path in second.iterdir()] == ["0001"]


def test_gradings_are_verified_and_counted_with_the_store(graded: ProjectUnderTest):
    again(graded, "run-0001")
    checked = graded.akbench("store", "verify", "--json")
    assert checked.returncode == 0, checked.stdout
    there = len(list((graded.root / "data/artifacts").glob("exp-*/run-*/gradings/0*")))
    assert json.loads(checked.stdout)["gradings"] == there
    assert json.loads(graded.akbench("store", "rebuild", "--json").stdout)["gradings"] == there
    report = run_folder(graded, "run-0001") / "gradings/0001/evaluation.json"
    content = report.read_bytes()
    report.write_bytes(content + b"\n")
    spoilt = graded.akbench("store", "verify", "--json")
    report.write_bytes(content)
    assert spoilt.returncode == 1
    assert [each["file"] for each in json.loads(spoilt.stdout)["faults"]] == ["gradings/0001/evaluation.json"]


def test_a_task_that_gives_another_tree_now_is_refused(graded: ProjectUnderTest):
    path = graded.root / "datasets/starter/repositories/greeting/notes.txt"
    path.write_text("new\n")
    found = again(graded, code=2)
    path.unlink()
    assert "gives the agent another tree now" in found["error"]["message"]
    assert found["error"]["place"].endswith(TASK)


def test_a_diff_that_was_changed_since_is_refused(graded: ProjectUnderTest):
    patch = run_folder(graded, "run-0001") / "diff.patch"
    content = patch.read_bytes()
    patch.write_bytes(content + b"\n")
    found = again(graded, "run-0001", code=2)
    patch.write_bytes(content)
    assert "is not the file that was recorded" in found["error"]["message"]


def test_a_run_whose_diff_leads_to_another_tree_than_was_left_is_left_out(graded: ProjectUnderTest, hidden: Path):
    hidden.write_text(hidden.read_text() + "\n# another task\n")
    events = run_folder(graded, "run-0002") / "events.jsonl"
    content = events.read_text()
    (line,) = [line for line in content.splitlines() if json.loads(line)["kind"] == "final_tree"]
    left = json.loads(line)["data"]["tree"]
    events.write_text(content.replace(left, "0" * 40))
    found = again(graded, "run-0002")
    events.write_text(content)
    assert found["runs"] == []
    reason = f"diff.patch leads to the tree {left}, the agent left {'0' * 40}"
    assert found["left_out"] == [{"run": "run-0002", "reason": reason}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("exp-0001", "run-001", "--again"), "did you mean 'run-0001'?"),
        (("exp-0009", "--again"), "there is no experiment exp-0009"),
        (("exp-0001",), "--again"),
    ],
)
def test_what_cannot_be_graded_is_bad_input(graded: ProjectUnderTest, arguments: tuple[str, ...], message: str):
    done = graded.akbench("evaluate", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
