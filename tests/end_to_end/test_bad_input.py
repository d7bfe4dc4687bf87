"""Bad input gets one clear message with the place and the mend, and the right exit code."""

from __future__ import annotations

import shutil

import pytest
from project_under_test import ProjectUnderTest

FIRST = "configs/experiments/first.yaml"
TASK = "datasets/starter/bug_fix/greet-001"


def edit(project: ProjectUnderTest, name: str, old: str, new: str) -> None:
    path = project.root / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


CASES = {
    "a typo in the experiment": (
        lambda p: edit(p, FIRST, "repetitions: 2", "repetition: 2"),
        2,
        "configs/experiments/first.yaml:43:5: unknown key 'repetition'; did you mean 'repetitions'?",
    ),
    "broken YAML": (
        lambda p: edit(p, FIRST, "values: [oracle, noop]", "values: [oracle, noop"),
        2,
        "configs/experiments/first.yaml:40:13: not valid YAML",
    ),
    "an unknown agent": (
        lambda p: edit(p, FIRST, "{id: oracle}", "{id: oracel}"),
        2,
        "unknown agent 'oracel'; did you mean 'oracle'?",
    ),
    "an unknown dataset": (
        lambda p: edit(p, FIRST, "id: starter", "id: startre"),
        2,
        "no dataset 'startre'",
    ),
    "no hidden tests": (
        lambda p: shutil.rmtree(p.root / TASK / "hidden_tests"),
        2,
        f"{TASK}: the task has no hidden tests; put at least one test file into hidden_tests/",
    ),
    "no reference solution": (
        lambda p: shutil.rmtree(p.root / TASK / "mutations"),
        2,
        "the task has no reference solution",
    ),
    "an evaluator's bad configuration": (
        lambda p: edit(p, f"{TASK}/evaluator.yaml", "target: [tests/test_groups.py]", "targt: [x]"),
        2,
        f"{TASK}/evaluator.yaml:7:5: ",
    ),
    "a mutation of another file": (
        lambda p: edit(p, f"{TASK}/mutations/mutation-001.yaml", "file_sha256: ", "file_sha256: 0000000000#"),
        2,
        f"{TASK}/mutations/mutation-001.yaml:6:16: ",
    ),
    "a mutated line that is not there": (
        lambda p: edit(p, f"{TASK}/mutations/mutation-001.yaml", "line: 10", "line: 9"),
        2,
        "`before` is",
    ),
    "a requirement that is not pinned": (
        lambda p: edit(p, f"{TASK}/task.yaml", "pytest==9.2.0", "pytest"),
        2,
        f"{TASK}/task.yaml:11:20: task.environment.requirements.0: 'pytest' is not pinned; write name==version",
    ),
    "an incomplete closure": (
        lambda p: edit(p, f"{TASK}/task.yaml", "iniconfig==2.3.0, ", ""),
        2,
        "the requirements are not complete",
    ),
    "an unwritable data folder": (
        lambda p: (shutil.rmtree(p.root / "data"), (p.root / "data").write_text("")),
        3,
        "cannot be written to",
    ),
    "a missing program": (
        lambda p: edit(
            p,
            FIRST,
            "    oracle: {id: oracle} ",
            "    oracle: {id: command, config: {command: [x], programs: {x: /nowhere/x}}} ",
        ),
        3,
        "agent 'command' cannot run here: /nowhere/x does not exist",
    ),
    "an unset key": (
        lambda p: edit(
            p,
            FIRST,
            "  dataset:\n",
            "  execution: {model_endpoint: {base_url: 'http://127.0.0.1:9/v1', api_key_env: NO_SUCH_KEY}}\n"
            "  dataset:\n",
        ),
        3,
        "the environment variable NO_SUCH_KEY is not set",
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_a_fault_is_told_once_with_its_place_and_nothing_is_half_written(project: ProjectUnderTest, case):
    break_it, code, message = CASES[case]
    break_it(project)
    done = project.akbench("experiment", "run", FIRST, "--yes")
    assert message in done.stderr, done.stdout
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert not list(project.root.glob("data/artifacts/exp-*"))


def test_a_missing_experiment_file_is_named(project: ProjectUnderTest):
    done = project.akbench("experiment", "run", "configs/experiments/nowhere.yaml")
    assert (done.returncode, "nowhere.yaml: no such file" in done.stderr) == (2, True)


def test_a_folder_that_is_no_project_is_named(project: ProjectUnderTest, tmp_path):
    done = project.akbench("experiment", "list", "--project", str(tmp_path / "elsewhere"))
    assert done.returncode == 2
    assert "no AK-Bench project here; make one with: akbench init" in done.stderr


def test_a_mistyped_command_is_answered_with_the_nearest_one(project: ProjectUnderTest):
    done = project.akbench("experimnt")
    assert done.returncode == 2
    assert "experiment" in done.stderr


def test_init_never_changes_a_file_that_is_already_there(project: ProjectUnderTest):
    edit(project, FIRST, "repetitions: 2", "repetitions: 7")
    done = project.akbench("init")
    assert done.returncode == 2
    assert "already there and different" in done.stderr
    assert "repetitions: 7" in (project.root / FIRST).read_text()


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_cache_that_is_no_folder_is_named_with_the_mend(project: ProjectUnderTest, tmp_path, below):
    (tmp_path / "file").write_text("kept")
    cache = tmp_path / "file" / below
    done = project.akbench("experiment", "run", FIRST, AKBENCH_CACHE=str(cache))
    assert done.returncode == 3
    assert f"error: cannot use the cache {cache}: " in done.stderr
    assert "set AKBENCH_CACHE to another one" in done.stderr
    assert not list(project.root.glob("data/artifacts/exp-*"))
    assert (tmp_path / "file").read_text() == "kept"
