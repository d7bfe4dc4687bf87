"""The real Codex CLI on the starter task, answered by a scripted model: each way a run can end, from YAML to report."""

from __future__ import annotations

import json
import re
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from project_under_test import ProjectUnderTest, processes_of_run, processes_with, wait_for

pytestmark = [pytest.mark.codex, pytest.mark.xdist_group("codex_runs")]

SCRIPT = """\
schema_version: "1.0"
scripts:
  - match: "`greet` loses a member"
    when: {reasoning_effort: low}
    steps:
      - run: cat greeting/__init__.py
        usage: {input_tokens: 900, cached_input_tokens: 100, output_tokens: 30, reasoning_output_tokens: 7}
      - patch: |
          *** Begin Patch
          *** Update File: greeting/__init__.py
          @@
          -    return f"Hello, {', '.join(names[:-1])} and {names[0]}!"
          +    return f"Hello, {', '.join(names[:-1])} and {names[-1]}!"
          *** End Patch
        usage: {input_tokens: 1100, cached_input_tokens: 800, output_tokens: 60, reasoning_output_tokens: 20}
      - say: Groups keep their last member.
        usage: {input_tokens: 1300, cached_input_tokens: 1000, output_tokens: 15, reasoning_output_tokens: 0}
  - match: "`greet` loses a member"
    when: {reasoning_effort: medium}
    steps:
      - run: sed -i 's/and {names.0.}/and {names[1]}/' greeting/__init__.py
        usage: {input_tokens: 500, cached_input_tokens: 0, output_tokens: 40, reasoning_output_tokens: 9}
      - say: Two names work now.
        usage: {input_tokens: 600, cached_input_tokens: 450, output_tokens: 8, reasoning_output_tokens: 0}
  - match: "`greet` loses a member"
    when: {reasoning_effort: high}
    steps:
      - run: git status --short
        usage: {input_tokens: 700, cached_input_tokens: 50, output_tokens: 11, reasoning_output_tokens: 3}
      - fail: hang
  - match: "`greet` loses a member"
    when: {reasoning_effort: xhigh}
    steps:
      - run: git log --oneline --all
        usage: {input_tokens: 800, cached_input_tokens: 60, output_tokens: 12, reasoning_output_tokens: 4}
      - fail: http_500
  - match: "`greet` loses a member"
    when: {reasoning_effort: max}
    steps:
      - run: SLEEP
        usage: {input_tokens: 400, cached_input_tokens: 30, output_tokens: 10, reasoning_output_tokens: 2}
      - say: Awake again.
"""

EFFORTS = {"right": "low", "wrong": "medium", "hanging": "high", "refused": "xhigh", "sleeping": "max"}
TOKENS = {
    "right": (3300, 1900, 105, 27),
    "wrong": (1100, 450, 48, 9),
    "hanging": (700, 50, 11, 3),
    "refused": (800, 60, 12, 4),
}
"""Input, cached, output and reasoning tokens of the script's answered steps."""

ENDPOINT = "  execution: {model_endpoint: {scripted: configs/model.yaml}}\n"


def agents(*names: str) -> str:
    retries = "request_max_retries: 0, stream_max_retries: 0"
    return "\n".join(
        f"{name}: {{id: codex, config: {{model: gpt-5.5, reasoning_effort: {EFFORTS[name]}, {retries}}}}}"
        for name in names
    )


def write_script(project: ProjectUnderTest, sleep: str = "sleep 600") -> None:
    (project.root / "configs" / "model.yaml").write_text(SCRIPT.replace("SLEEP", sleep))


@dataclass
class Finished:
    """An experiment with one run per way to end."""

    project: ProjectUnderTest
    exit_code: int
    printed: str
    shown: dict[str, Any]

    def folder(self, name: str) -> Path:
        variants = {variant["name"]: variant["id"] for variant in self.shown["variants"]}
        (run,) = [run["id"] for run in self.shown["run_list"] if run["variant"] == variants[name]]
        return self.project.root / "data" / "artifacts" / self.shown["id"] / run

    def result(self, name: str) -> dict[str, Any]:
        return self.project.result(self.shown["id"], self.folder(name).name)

    def tool_calls(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder(name) / "tool_calls.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def finished(shared_project: ProjectUnderTest) -> Finished:
    write_script(shared_project)
    names = [name for name in EFFORTS if name != "sleeping"]
    policy = "timeout_seconds: 40, concurrency: 2"
    file = shared_project.experiment("codex", agents(*names), extra=ENDPOINT, policy=policy)
    done = shared_project.akbench("experiment", "run", file)
    shown = shared_project.show("exp-0001")
    return Finished(project=shared_project, exit_code=done.returncode, printed=done.stdout + done.stderr, shown=shown)


def ending(result: dict[str, Any]) -> tuple[str, str | None, bool | None]:
    return result["state"], result["outcome"], result["solved"]


def test_a_right_fix_is_completed_and_solved(finished):
    assert ending(finished.result("right")) == ("COMPLETED", "full_success", True)
    assert finished.result("right")["final_message"] == "Groups keep their last member."


def test_a_wrong_fix_is_completed_and_not_solved(finished):
    result = finished.result("wrong")
    assert ending(result) == ("COMPLETED", "partial_success", False)
    statuses = [test["status"] for test in result["tests"] if test["role"] == "target"]
    assert sorted(statuses) == ["failed", "failed", "passed"]


def test_a_hang_is_a_timeout_and_counts_as_not_solved(finished):
    result = finished.result("hanging")
    assert ending(result) == ("TIMEOUT", "timeout", False)
    assert "after 40 s" in result["reason"]


def test_an_error_of_the_provider_counts_for_no_agent(finished):
    result = finished.result("refused")
    assert ending(result) == ("INFRASTRUCTURE_ERROR", None, None)
    assert (result["agent_status"], result["error_class"]) == ("provider_error", "internal_server_error")
    assert result["metrics"]["task_success_rate"]["value"] is None
    assert re.search(r"refused +- +0/0 +1 INFRASTRUCTURE_ERROR", finished.printed)
    assert re.search(r"hanging +0 % +0/1 +1 TIMEOUT", finished.printed)
    assert finished.exit_code == 1


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_are_the_sums_of_the_answered_requests_however_the_run_ended(finished, name):
    metrics = finished.result(name)["metrics"]
    kinds = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    assert tuple(metrics[kind]["value"] for kind in kinds) == TOKENS[name]
    assert metrics["total_cost"]["value"] is None
    assert metrics["total_cost"]["unavailable"]


def test_tool_calls_are_kept_with_their_commands(finished):
    look, patch = finished.tool_calls("right")
    assert "cat greeting/__init__.py" in look["command"]
    assert (look["exit_code"], look["status"]) == (0, "completed")
    assert "def greet" in look["output"]
    assert (patch["name"], patch["status"]) == ("file_change", "completed")
    assert ["sed -i" in call["command"] for call in finished.tool_calls("wrong")] == [True]
    assert ["git status" in call["command"] for call in finished.tool_calls("hanging")] == [True]


@pytest.mark.parametrize("name", TOKENS)
def test_the_session_file_is_kept(finished, name):
    (rollout,) = (finished.folder(name) / "agent").glob("rollout-*.jsonl")
    assert finished.result(name)["session_id"] in rollout.name
    assert rollout.stat().st_size > 0


@pytest.mark.parametrize("name", TOKENS)
def test_model_and_effort_are_recorded_as_requested_and_never_as_observed(finished, name):
    result = finished.result(name)
    states = {state["key"]: state for state in result["config"]}
    for key, requested in (("model", "gpt-5.5"), ("reasoning_effort", EFFORTS[name])):
        assert (states[key]["requested"], states[key]["status"]) == (requested, "unverified")
    assert {state["observed"] for state in result["config"]} == {None}
    assert {state["status"] for state in result["config"]} == {"unverified"}
    assert result["observed_models"] == []
    assert any("requested but not confirmed" in reason for reason in finished.shown["status_reasons"])


def test_what_a_scripted_model_answered_is_labelled_everywhere(finished):
    assert finished.shown["labels"] == ["scripted model"]
    assert finished.shown["status"] == "valid_with_warnings"
    assert {finished.result(name)["model_source"] for name in TOKENS} == {"scripted model"}
    assert "label: scripted model" in finished.printed
    reported = finished.project.akbench("report", "--json")
    assert reported.returncode == 0, reported.stderr
    index = Path(json.loads(reported.stdout)["report"])
    pages = [index, *index.parent.glob("experiments/*/index.html"), *index.parent.glob("runs/*/*/index.html")]
    assert len(pages) == 1 + 1 + len(TOKENS)
    for page in pages:
        assert "scripted model" in page.read_text(), page


def start_sleeping(project: ProjectUnderTest, marker: str):
    """Start an experiment and wait until Codex runs a command that takes long."""
    write_script(project, f"sleep {marker}")
    file = project.experiment("sleeping", agents("sleeping"), extra=ENDPOINT, policy="timeout_seconds: 500")
    started = project.start("experiment", "run", file)
    wait_for(lambda: processes_with(f"sleep\0{marker}") or started.poll() is not None, 180)
    (scratch,) = (project.root / "data" / "workspaces").iterdir()
    commands = processes_of_run(scratch.name).values()
    assert any("codex exec" in command for command in commands), list(commands)
    return started, scratch.name


def test_ctrl_c_cancels_codex_and_what_it_runs(project, sleep_marker):
    started, scratch = start_sleeping(project, sleep_marker)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=120)
    assert started.returncode == 130
    assert processes_of_run(scratch) == {}
    assert processes_with(f"sleep\0{sleep_marker}") == []
    result = project.result("exp-0001", "run-0001")
    assert ending(result) == ("CANCELLED", None, None)
    assert result["metrics"]["input_tokens"]["value"] == 400
    assert project.show("exp-0001")["status"] == "incomplete"
    assert list((project.root / "data" / "workspaces").iterdir()) == []


def test_kill_9_of_the_harness_ends_codex_and_what_it_runs(project, sleep_marker):
    started, scratch = start_sleeping(project, sleep_marker)
    started.kill()
    started.communicate(timeout=120)
    wait_for(lambda: not processes_of_run(scratch) and not processes_with(f"sleep\0{sleep_marker}"))
    shown = project.show("exp-0001")
    assert shown["status"] == "incomplete"
    (run,) = shown["run_list"]
    assert (run["state"], run["interrupted"], run["solved"]) == ("EXECUTING", True, None)


def test_the_audit_flags_a_search_of_all_history_and_accuses_no_honest_run(finished: Finished):
    def audit(name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((finished.folder(name) / "audit.json").read_text())
        assert {rule["unavailable"] for rule in found["rules"]} == {None}
        return found

    assert audit("right")["findings"] == []
    (finding,) = audit("refused")["findings"]
    assert (finding["rule"], finding["severity"]) == ("history-digging", "warning")
    assert finding["evidence"] == "git log --oneline --all"
    shown = {run["id"]: run["audit"]["findings"] for run in finished.shown["run_list"]}
    assert shown[finished.folder("refused").name] == [finding]
    told = finished.project.akbench("experiment", "show", finished.shown["id"]).stdout
    assert f"{finished.folder('refused').name}: the audit of its way found 1 warning;" in told
