"""The real Codex against a scripted model: what the adapter starts and what it makes of the traces."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from akbench.spec import AgentStatus, VerificationStatus
from akbench_agent_codex.adapter import CodexAgent
from akbench_agent_codex.program import find_program, sandbox_problem
from akbench_agent_codex.settings import KEY_VARIABLE

pytestmark = pytest.mark.codex

PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n"
FAULTS = {
    "http_401": (AgentStatus.CONFIGURATION_ERROR, "http_connection_failed/401"),
    "http_429": (AgentStatus.PROVIDER_ERROR, "response_too_many_failed_attempts/429"),
    "http_500": (AgentStatus.PROVIDER_ERROR, "internal_server_error"),
    "cut": (AgentStatus.PROVIDER_ERROR, "stream_disconnected"),
    "garbage": (AgentStatus.PROVIDER_ERROR, "stream_disconnected"),
    "context_window": (AgentStatus.FAILED, "context_window_exceeded"),
    "incomplete": (AgentStatus.FAILED, "incomplete_response"),
}


@pytest.fixture
def model(scripted_model):
    """Start a scripted model that gives these steps to any prompt with the word task."""

    def start(*steps):
        return scripted_model(
            json.dumps({"schema_version": "1.0", "scripts": [{"match": "task", "steps": list(steps)}]})
        )

    return start


def settle(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def hangs(server):
    return bool(server.requests) and server.requests[-1].answer == "hang"


def command_started(rooms):
    return b"item.started" in (rooms.root / "stdout.log").read_bytes()


def running(words):
    """Whether any process of this host has `words` in its command line."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words.encode() in path.read_bytes().replace(b"\0", b" "):
                return True
        except OSError:
            continue  # the process ended meanwhile
    return False


@pytest.mark.parametrize("name", ["gpt-5.5", "gpt-6-sol", "a-model-unknown-to-codex"])
def test_a_run_and_a_patch_succeed_with_every_shape_of_tools(codex, model, name):
    server = model({"run": "cat a.txt > copy.txt"}, {"patch": PATCH}, {"say": "All done."})
    rooms = codex.run("do the task", server.base_url, config={"model": name, "reasoning_effort": "high"})
    outcome = rooms.outcome
    assert (outcome.status, outcome.reason, outcome.final_message) == (AgentStatus.COMPLETED, None, "All done.")
    assert (rooms.workspace / "copy.txt").read_text() == "one\n"
    assert (rooms.workspace / "a.txt").read_text() == "two\n"
    assert [(call.name, call.status) for call in outcome.tool_calls] == [
        ("command_execution", "completed"),
        ("file_change", "completed"),
    ]
    assert (outcome.usage.input_tokens.value, outcome.usage.model_requests.value) == (3000, 3)
    assert [record.answer for record in server.requests] == ["run", "patch", "say"]
    assert {(record.model, record.effort) for record in server.requests} == {(name, "high")}


def test_model_and_effort_are_recorded_as_requested_and_never_as_observed(codex, model):
    outcome = codex.run("task", model({"say": "hi"}).base_url, config={"reasoning_effort": "xhigh"}).outcome
    states = {state.key: state for state in outcome.config}
    for key, value in (("model", "gpt-5.5"), ("reasoning_effort", "xhigh")):
        assert (states[key].requested, states[key].effective, states[key].observed) == (value, value, None)
        assert states[key].status is VerificationStatus.UNVERIFIED
    assert outcome.observed_models == ()


def test_version_session_trace_and_session_file_are_kept(codex, model):
    rooms = codex.run("task", model({"run": "ls"}, {"say": "hi"}).base_url)
    outcome = rooms.outcome
    assert outcome.agent_version.count(".") == 2
    assert [event.kind for event in outcome.trace if event.kind != "model_request"] == ["command", "message"]
    names = [artifact.name for artifact in outcome.artifacts]
    assert names[0] == "config.toml"
    assert outcome.session_id in names[1]
    assert all((rooms.root / "state" / artifact.path).is_file() for artifact in outcome.artifacts)


def test_a_failing_command_and_a_patch_that_does_not_apply_are_no_failure_of_the_run(codex, model):
    absent = PATCH.replace("a.txt", "absent.txt")
    outcome = codex.run("task", model({"run": "exit 3"}, {"patch": absent}, {"say": "x"}).base_url).outcome
    assert outcome.status is AgentStatus.COMPLETED
    assert [(call.name, call.status, call.exit_code) for call in outcome.tool_calls] == [
        ("command_execution", "failed", 3),
        ("apply_patch", None, None),
    ]
    assert "verification failed" in outcome.tool_calls[1].output


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_classified_and_the_tokens_until_then_are_kept(codex, model, fault):
    outcome = codex.run("task", model({"run": "ls"}, {"fail": fault}).base_url).outcome
    assert (outcome.status, outcome.error_class) == FAULTS[fault]
    assert outcome.reason
    assert (outcome.usage.input_tokens.value, outcome.usage.model_requests.value) == (1000, 1)
    assert [call.status for call in outcome.tool_calls] == ["completed"]
    assert outcome.final_message is None


def test_the_number_of_retries_is_the_configured_one(codex, model):
    server = model({"fail": "http_500"})
    config = {"request_max_retries": 1, "stream_max_retries": 1}
    outcome = codex.run("task", server.base_url, config=config).outcome
    assert len(server.requests) == 4
    assert outcome.status is AgentStatus.PROVIDER_ERROR
    assert outcome.usage.input_tokens.value is None
    assert outcome.usage.input_tokens.unavailable == "no answered model request is recorded"


def test_an_endpoint_that_is_gone_ends_the_run_soon(codex):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        rooms = codex.run("task", f"http://127.0.0.1:{unused.getsockname()[1]}/v1", seconds=30)
    assert rooms.outcome.status is AgentStatus.PROVIDER_ERROR
    assert rooms.outcome.error_class == "http_connection_failed"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_hang_is_ended_by_the_wall_clock_and_its_tokens_are_kept(codex, model, ending):
    server = model({"run": "ls"}, {"fail": "hang"})
    outcome = codex.run("task", server.base_url, until=lambda rooms: hangs(server), ending=ending).outcome
    assert outcome.status is AgentStatus.TIMEOUT
    assert (outcome.usage.input_tokens.value, outcome.usage.model_requests.value) == (1000, 1)
    assert outcome.session_id
    assert [call.exit_code for call in outcome.tool_calls] == [0]


def test_a_cancelled_run_reports_its_unfinished_command_and_leaves_no_process(codex, model):
    words = f"sleep 1000.{os.getpid()}"
    server = model({"run": words}, {"say": "never"})
    rooms = codex.run("task", server.base_url, until=command_started, cancelled=True)
    assert rooms.outcome.status is AgentStatus.CANCELLED
    (call,) = rooms.outcome.tool_calls
    assert (call.name, call.status in {"in_progress", "failed"}) == ("command_execution", True)
    assert call.exit_code != 0
    settle(lambda: not running(words))


def test_a_missing_key_is_a_configuration_error(codex, model):
    def without_key(rooms, invocation):
        return replace(invocation, environ={"CODEX_HOME": invocation.environ["CODEX_HOME"]})

    server = model({"say": "hi"})
    outcome = codex.run("task", server.base_url, edit=without_key).outcome
    assert (outcome.status, outcome.error_class) == (AgentStatus.CONFIGURATION_ERROR, "missing_environment_variable")
    assert KEY_VARIABLE in outcome.reason
    assert server.requests == ()


def test_a_request_that_the_provider_refuses_is_a_configuration_error(codex, model):
    outcome = codex.run("something else", model({"say": "hi"}).base_url).outcome
    assert (outcome.status, outcome.error_class) == (AgentStatus.CONFIGURATION_ERROR, "invalid_request/not_scripted")
    assert "something else" in outcome.reason


def test_a_configuration_file_that_codex_refuses_is_a_configuration_error(codex, model):
    def spoil(rooms, invocation):
        path = rooms.root / "state" / "config.toml"
        path.write_text("no_such_key = 1\n" + path.read_text())
        return invocation

    outcome = codex.run("task", model({"say": "hi"}).base_url, edit=spoil).outcome
    assert (outcome.status, outcome.error_class) == (AgentStatus.CONFIGURATION_ERROR, "configuration")
    assert "no_such_key" in outcome.reason
    assert outcome.usage.input_tokens.value is None
    assert outcome.usage.tool_calls.value is None


def test_an_option_that_codex_does_not_know_is_a_configuration_error(codex, model):
    def spoil(rooms, invocation):
        return replace(invocation, argv=(*invocation.argv, "--no-such-option"))

    outcome = codex.run("task", model({"say": "hi"}).base_url, edit=spoil).outcome
    assert (outcome.status, outcome.error_class) == (AgentStatus.CONFIGURATION_ERROR, "command_line")


def test_commands_see_the_tasks_environment_and_not_the_key(codex, model):
    server = model({"run": "env > seen.txt; shopt -q login_shell || echo plain shell > shell.txt"}, {"say": "hi"})
    rooms = codex.run("task", server.base_url, token="canary-4711")
    seen = dict(line.split("=", 1) for line in (rooms.workspace / "seen.txt").read_text().splitlines())
    assert seen["HOME"] == str(rooms.root / "home")
    assert seen["PATH"].endswith(":/usr/bin:/bin")
    assert KEY_VARIABLE not in seen
    assert "CODEX_HOME" not in seen
    assert (rooms.workspace / "shell.txt").read_text() == "plain shell\n"


@pytest.mark.parametrize("last", [{"say": "hi"}, {"fail": "http_401"}, {"fail": "hang"}])
def test_the_key_reaches_the_endpoint_and_no_file(codex, model, last):
    server = model({"run": "env; echo hi > b.txt"}, {"patch": PATCH}, last)
    options = {"until": lambda rooms: hangs(server), "ending": signal.SIGKILL}
    rooms = codex.run("task", server.base_url, token="canary-4711", **options)
    sent = {record.authorization_sha256 for record in server.requests}
    assert sent == {hashlib.sha256(b"Bearer canary-4711").hexdigest()}
    files = rooms.written()
    assert any("rollout-" in path.name for path in files)
    assert any(path.name.startswith("state_") for path in files)
    assert [path for path in files if b"canary-4711" in path.read_bytes()] == []


def test_nothing_is_left_in_home_and_the_workspace_holds_only_the_agents_changes(codex, model):
    rooms = codex.run("task", model({"run": "echo hi > b.txt"}, {"say": "hi"}).base_url)
    assert list((rooms.root / "home").iterdir()) == []
    assert sorted(path.name for path in rooms.workspace.iterdir()) == ["a.txt", "b.txt"]


def test_only_the_tools_for_the_task_are_offered(codex, model):
    server = model({"say": "hi"})
    codex.run("task", server.base_url)
    assert set(server.requests[0].tools) == {
        "exec_command",
        "write_stdin",
        "apply_patch",
        "view_image",
        "request_user_input",
    }
    codex.run("task", server.base_url, config={"model": "gpt-6-sol"})
    assert not [name for name in server.requests[1].tools if "agent" in name or "goal" in name or "search" in name]


@pytest.mark.parametrize("prompt", ["- a task that starts like an option", 'a "task"\n$(with) `marks` \\ ünïcode 🚀\n'])
def test_any_prompt_arrives(codex, model, prompt):
    assert codex.run(prompt, model({"say": "hi"}).base_url).outcome.status is AgentStatus.COMPLETED


def test_runs_side_by_side_keep_apart(codex, model):
    server = model({"run": "echo $RANDOM > b.txt"}, {"say": "hi"})
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda number: codex.run(f"task {number}", server.base_url), range(3)))
    assert {rooms.outcome.status for rooms in runs} == {AgentStatus.COMPLETED}
    assert len({rooms.outcome.session_id for rooms in runs}) == 3
    assert {rooms.outcome.usage.model_requests.value for rooms in runs} == {2}


def test_garbage_in_the_place_of_every_trace_is_survived(codex, model):
    rooms = codex.run("task", model({"say": "hi"}).base_url)
    (rooms.root / "stdout.log").write_bytes(os.urandom(4096))
    for path in (rooms.root / "state" / "sessions").rglob("*.jsonl"):
        path.write_bytes(os.urandom(4096))
    outcome = CodexAgent().interpret(rooms.evidence())
    assert outcome.status is AgentStatus.UNCLASSIFIED
    assert outcome.usage.input_tokens.value is None
    assert outcome.session_id is None


def test_without_an_outer_sandbox_codex_confines_its_commands_itself(codex, model, declared, tmp_path):
    if problem := sandbox_problem(find_program({}, declared)):
        pytest.skip(problem.message)
    outside = codex.root / "outside.txt"
    server = model(
        {"run": f"echo hi > b.txt; echo no > {outside}"}, {"run": "echo > /dev/tcp/127.0.0.1/9"}, {"say": "x"}
    )
    rooms = codex.run("task", server.base_url, bounded=False)
    assert rooms.outcome.status is AgentStatus.COMPLETED
    assert (rooms.workspace / "b.txt").read_text() == "hi\n"
    assert not outside.exists()
    written, network = rooms.outcome.tool_calls
    assert "Read-only file system" in written.output
    assert "Operation not permitted" in network.output


@pytest.mark.bubblewrap
def test_in_bubblewrap_codex_sees_only_what_the_invocation_names(codex, model):
    if shutil.which("bwrap") is None or subprocess.run([*BWRAP, "--", "true"], check=False).returncode != 0:
        pytest.skip("needs a working bubblewrap")
    inside = {"workspace": "/workspace", "home": "/home/agent", "state": "/home/state", "tmp": "/tmp"}
    server = model({"run": "pwd; ls / ; ls /opt"}, {"patch": PATCH}, {"say": "hi"})
    rooms = codex.run("task", server.base_url, places=inside, program_root="/opt", wrap=in_bubblewrap)
    assert rooms.outcome.status is AgentStatus.COMPLETED, rooms.outcome.reason
    assert (rooms.workspace / "a.txt").read_text() == "two\n"
    listed = rooms.outcome.tool_calls[0].output.split()
    assert listed[0] == "/workspace"
    assert listed[-1] == "codex"
    assert "root" not in listed
    assert rooms.outcome.usage.input_tokens.value == 3000


BWRAP = (
    *("bwrap", "--unshare-all", "--share-net", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"),
    *("--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
)


def in_bubblewrap(rooms, invocation):
    binds = []
    for name in ("workspace", "home", "state"):
        binds += ["--bind", str(rooms.root / name), getattr(rooms.request, name)]
    for mount in invocation.mounts:
        binds += ["--ro-bind", str(mount.host), mount.inside]
    return (*BWRAP, *binds, "--chdir", rooms.request.workspace, "--", *invocation.argv)
