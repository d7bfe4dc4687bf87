"""Environment descriptors choose where runs take place, and a plan keeps what they promise or is refused."""

from __future__ import annotations

import json

import pytest
from project_under_test import ProjectUnderTest

CONTROLS = """
oracle: {id: oracle}
noop: {id: noop}
"""
OWN = """\
schema_version: "1.0"
id: own
version: "1.2.0"
environment:
  sandbox: %s
%s"""


def own_environment(project: ProjectUnderTest, sandbox: str, more: str) -> str:
    folder = project.root / "descriptors"
    folder.mkdir(exist_ok=True)
    (folder / "own.yaml").write_text(OWN % (sandbox, more))
    return "  isolation: {environment: own}\n"


@pytest.mark.docker
@pytest.mark.usefixtures("docker_engine")
def test_controls_are_judged_right_in_docker_and_what_ran_is_recorded(project: ProjectUnderTest):
    more = "  limits: {memory_bytes: 1073741824, cpus: 1.5, processes: 200, disk_bytes: 500000000, files: 20000}\n"
    file = project.experiment("docker", CONTROLS, extra=own_environment(project, "docker", more))
    done = project.akbench("experiment", "run", file)
    assert done.returncode == 0, done.stderr
    assert [run["solved"] for run in project.show("exp-0001")["run_list"]] == [True, False]
    folder = project.root / "data" / "artifacts" / "exp-0001"
    manifest = json.loads((folder / "run-0001" / "manifest.json").read_text())
    assert manifest["sandbox"] == "docker"
    assert manifest["sandbox_facts"]["image"].startswith("sha256:")
    assert "akbench-sandbox-docker" in manifest["extensions"]
    experiment = json.loads((folder / "experiment.json").read_text())
    assert experiment["plan"]["environment"] == "own"
    assert experiment["snapshots"]["environment/own"]["version"] == "1.2.0"
    assert list((project.root / "data" / "workspaces").iterdir()) == []


@pytest.mark.bubblewrap
def test_an_agent_that_fills_the_disk_is_ended_and_counts_as_failed(project: ProjectUnderTest):
    filler = """
    filler:
      id: command
      config:
        command: [sh, -c, "head -c 30000000 /dev/zero > big; sleep 60"]
    """
    agents = "\n".join(line[4:] for line in filler.splitlines())
    more = "  limits: {disk_bytes: 20000000}\n"
    file = project.experiment("filler", agents, extra=own_environment(project, "bubblewrap", more))
    assert project.akbench("experiment", "run", file).returncode == 0
    result = project.result("exp-0001", "run-0001")
    assert (result["state"], result["agent_status"], result["outcome"], result["solved"]) == (
        "FAILED",
        "exceeded",
        "failure",
        False,
    )
    assert result["reason"] == "the agent broke a bound: its folders hold more than 20000000 bytes"
