"""Whatever interrupts an experiment, its store can be read and no process stays behind."""

from __future__ import annotations

import signal

import pytest
from project_under_test import ProjectUnderTest, processes_with, wait_for

SLEEPER = """
sleeper:
  id: command
  config:
    command: [sh, -c, "setsid sleep {marker} & sleep {marker}"]
"""


def sleeping(project: ProjectUnderTest, marker: str, sandbox: str) -> str:
    return project.experiment(
        "sleep", SLEEPER.replace("{marker}", marker), extra=f"  isolation: {{environment: {sandbox}}}\n"
    )


@pytest.mark.parametrize("sandbox", ["bubblewrap", pytest.param("local", marks=pytest.mark.slow)])
def test_ctrl_c_ends_the_agent_and_records_the_run_as_cancelled(project: ProjectUnderTest, sleep_marker, sandbox):
    started = project.start("experiment", "run", sleeping(project, sleep_marker, sandbox))
    wait_for(lambda: processes_with(f"sleep\0{sleep_marker}"))
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=60)
    assert started.returncode == 130
    assert processes_with(sleep_marker) == []
    shown = project.show("exp-0001")
    assert shown["status"] == "incomplete"
    assert [run["state"] for run in shown["run_list"]] == ["CANCELLED"]
    assert shown["run_list"][0]["solved"] is None
    assert list((project.root / "data" / "workspaces").iterdir()) == []


@pytest.mark.parametrize("sandbox", ["bubblewrap", pytest.param("local", marks=pytest.mark.slow)])
def test_kill_9_leaves_a_readable_store_and_no_process(project: ProjectUnderTest, sleep_marker, sandbox):
    started = project.start("experiment", "run", sleeping(project, sleep_marker, sandbox))
    wait_for(lambda: processes_with(f"sleep\0{sleep_marker}"))
    started.kill()
    started.communicate(timeout=60)
    wait_for(lambda: not processes_with(sleep_marker), 20)
    shown = project.show("exp-0001")
    assert shown["status"] == "incomplete"
    (run,) = shown["run_list"]
    assert (run["state"], run["interrupted"], run["solved"]) == ("EXECUTING", True, None)
    assert project.akbench("experiment", "list").returncode == 0
    assert "EXECUTING (interrupted)" in project.akbench("experiment", "show", "exp-0001").stdout
    (left,) = (project.root / "data" / "workspaces").iterdir()
    assert left.name in project.akbench("clean").stdout
    assert not left.exists()


def test_a_timeout_ends_the_agent_and_counts_as_not_solved(project: ProjectUnderTest, sleep_marker):
    file = project.experiment("slow", SLEEPER.replace("{marker}", sleep_marker), policy="timeout_seconds: 2")
    assert project.akbench("experiment", "run", file).returncode == 0
    assert processes_with(sleep_marker) == []
    result = project.result("exp-0001", "run-0001")
    assert (result["state"], result["outcome"], result["solved"]) == ("TIMEOUT", "timeout", False)
    assert "after 2 s" in result["reason"]
