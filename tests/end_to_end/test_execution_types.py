"""Every way to run an agent, with real programs and servers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest

REFERENCE = Path(__file__).with_name("reference")
FIX = r"sed -i 's/names\[0\]}!\"$/names[-1]}!\"/' greeting/__init__.py"
SCRIPT = f"""\
schema_version: "1.0"
scripts:
  - match: "name both"
    steps: [{{say: "the last name is wanted", usage: {{input_tokens: 70}}}}]
  - match: "Give the command"
    steps: [{{say: {json.dumps(FIX)}, usage: {{input_tokens: 30}}}}]
"""


@contextmanager
def server(name: str) -> Iterator[str]:
    """One of the reference servers, for as long as the block lasts; its address."""
    program = REFERENCE / "reference_adapters" / name
    with subprocess.Popen([sys.executable, program, "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


@pytest.fixture
def equipped(project: ProjectUnderTest) -> ProjectUnderTest:
    project.environ |= {"PYTHONPATH": str(REFERENCE), "REMOTE_API_KEY": "let-me-in"}
    (project.root / "configs" / "models.yaml").write_text(SCRIPT)
    return project


def run(project: ProjectUnderTest, agents: str, *, execution: str = "", dimensions: str = "", **policy: str) -> dict:
    """Run an experiment; its results by variant name."""
    file = project.experiment("reference", agents, policy=policy.get("policy", "timeout_seconds: 30"))
    path = project.root / file
    section = f"  execution: {execution}\n" if execution else ""
    text = path.read_text().replace("  dataset:", f"{section}  dataset:")
    path.write_text(text.replace("    dimensions:\n", f"    dimensions:\n{dimensions}"))
    done = project.akbench("experiment", "run", file, "--json")
    assert done.returncode in {0, 1}, done.stderr
    shown = project.show(json.loads(done.stdout)["id"])
    names = {variant["id"]: variant["name"] for variant in shown["variants"]}
    found = {names[each["variant"]]: project.result(shown["id"], each["id"]) for each in shown["run_list"]}
    return {"": shown, **found}


def metadata(project: ProjectUnderTest, result: dict) -> dict:
    folder = project.root / "data" / "artifacts" / result["experiment_id"] / result["run_id"]
    return json.loads((folder / "metadata.json").read_text())


def test_an_agent_behind_an_api_is_sent_the_task_and_its_changes_are_fetched(equipped: ProjectUnderTest):
    with server("remote_api_server.py") as url:
        agents = f"quick: {{id: remote_api, config: {{url: '{url}'}}}}\n"
        agents += f"slow: {{id: remote_api, config: {{url: '{url}', seconds: 600}}}}"
        found = run(equipped, agents, policy="timeout_seconds: 3")
    assert (found["quick"]["state"], found["quick"]["solved"]) == ("COMPLETED", True)
    assert (found["slow"]["state"], found["slow"]["solved"]) == ("TIMEOUT", False)
    assert found["quick"]["agent_version"] == "2.4.1"
    told = metadata(equipped, found["quick"])
    assert told["exit_code"] is None
    assert told["observations"]["input_tokens"]["value"] == 321
    assert told["observations"]["output_tokens"]["unavailable"]
    assert told["workspace_changes"] == [{"path": "greeting/__init__.py", "change": "modified"}]
    assert found[""]["status"] == "valid_with_warnings"
    assert any("works outside the sandbox" in reason for reason in found[""]["status_reasons"])


def test_a_service_has_one_session_for_each_of_several_runs_at_once(equipped: ProjectUnderTest):
    with server("local_service_server.py") as url:
        policy = "timeout_seconds: 30, repetitions: 3, concurrency: 3"
        found = run(equipped, f"service: {{id: local_service, config: {{url: '{url}'}}}}", policy=policy)
        told = subprocess.run(["curl", "-s", f"{url}/version"], capture_output=True, text=True, check=True)
    service = json.loads(told.stdout)
    assert [each["solved"] for each in found[""]["run_list"]] == [True] * 3
    assert service["open"] == 0
    assert service["most"] > 1
    assert found["service"]["final_message"] == "prompts: 1"


def test_a_service_that_is_not_there_is_named_before_anything_runs(equipped: ProjectUnderTest):
    file = equipped.experiment("reference", "service: {id: local_service, config: {url: 'http://127.0.0.1:9'}}")
    done = equipped.akbench("experiment", "run", file)
    assert done.returncode == 3
    assert "agent 'local_service' cannot run here" in done.stderr
    assert "start the service" in done.stderr
    assert not list((equipped.root / "data").rglob("run-*"))


def test_an_agent_with_two_models_has_both_observed(equipped: ProjectUnderTest):
    execution = "{model_endpoint: {scripted: configs/models.yaml}}"
    found = run(equipped, "pair: {id: two_models}", execution=execution)
    assert (found["pair"]["solved"], found["pair"]["observed_models"]) == (True, ["large", "small"])
    assert found["pair"]["metrics"]["input_tokens"]["value"] == 100


def test_a_router_carries_the_model_requests_and_its_configuration_is_verified(equipped: ProjectUnderTest):
    execution = (
        "{mode: router, runtime: {id: switchboard}, plugins: [{id: annotator}],"
        " model_endpoint: {scripted: configs/models.yaml}}"
    )
    dimensions = (
        "      - {id: label_of_router, values: [red, blue]}\n"
        "      - {id: annotator_mark, values: [{mark: m}, {connected: false}]}\n"
    )
    found = run(equipped, "pair: {id: two_models}\nnoop: {id: noop}", execution=execution, dimensions=dimensions)
    marked = found["red · mark=m · pair"]
    assert marked["solved"] is True
    states = {(each["component"], each["key"]): each["status"] for each in marked["config"]}
    assert states["runtime switchboard", "label"] == "verified"
    assert states["plugin annotator", "active"] == "verified"
    assert states["plugin annotator", "mark"] == "verified"
    assert marked["metrics"]["annotated_requests"]["value"] == 2
    silent = found["blue · connected=False · pair"]
    assert (silent["state"], silent["solved"]) == ("INVALID_CONFIGURATION", None)
    assert "nothing shows that plugin annotator was at work" in silent["reason"]
    assert found["noop"]["config"] == []
    folder = equipped.root / "data" / "artifacts" / "exp-0001" / marked["run_id"]
    assert len((folder / "runtime_trace.jsonl").read_text().splitlines()) == 2
    assert len((folder / "runtime" / "requests.jsonl").read_text().splitlines()) == 2
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["variant"]["runtime"]["config"]["label"] == "red"
    assert manifest["agent_facts"]["runtime 'switchboard'"]["version"] == "4.0"


@pytest.mark.slow
def test_a_router_that_runs_otherwise_than_asked_or_dies_spoils_no_number(equipped: ProjectUnderTest):
    execution = (
        "{mode: router, runtime: {id: switchboard, config: {%s: true}}, "
        "model_endpoint: {scripted: configs/models.yaml}}"
    )
    other = run(equipped, "pair: {id: two_models}", execution=execution % "ignores")
    assert other[""]["status"] == "invalid"
    assert "runtime switchboard: label was observed to differ from what was asked for" in other[""]["status_reasons"]
    dead = run(equipped, "pair: {id: two_models}", execution=execution % "dies")
    assert (dead["pair"]["state"], dead["pair"]["solved"]) == ("INFRASTRUCTURE_ERROR", None)
    assert "the runtime was not well after the agent's work" in dead["pair"]["reason"]


def test_a_runtime_carries_the_agent_itself(equipped: ProjectUnderTest):
    agents = "shell: {id: command, config: {command: [sh, -c, 'echo in $BERTH']}}"
    found = run(equipped, agents, execution="{mode: runtime, runtime: {id: carrier, config: {berth: b7}}}")
    folder = equipped.root / "data" / "artifacts" / "exp-0001" / found["shell"]["run_id"]
    assert (folder / "stdout.log").read_text() == "in b7\n"
    assert (folder / "stderr.log").read_text() == "carried in b7\n"
