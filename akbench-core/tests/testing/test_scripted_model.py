from __future__ import annotations

import hashlib
import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from akbench.testing import ScriptedModel, parse_scripts

SCRIPT = """\
schema_version: "1.0"
scripts:
  - match: "fix it"
    when: {reasoning_effort: low}
    steps: [{say: "low"}]
  - match: "fix it"
    steps:
      - run: "ls"
        usage: {input_tokens: 11, cached_input_tokens: 5, output_tokens: 7, reasoning_output_tokens: 2}
      - patch: "*** Begin Patch\\n*** End Patch\\n"
      - say: "All done."
  - {match: "deny", steps: [{fail: http_401}]}
  - {match: "slow down", steps: [{fail: http_429}]}
  - {match: "break", steps: [{fail: http_500}]}
  - {match: "hang", steps: [{fail: hang}]}
  - {match: "cut", steps: [{fail: cut}]}
  - {match: "garbage", steps: [{fail: garbage}]}
  - {match: "too long", steps: [{fail: context_window}]}
  - {match: "half", steps: [{fail: incomplete}]}
"""
FUNCTIONS = [{"type": "function", "name": "exec_command"}, {"type": "custom", "name": "apply_patch"}]
SHELL_ONLY = [{"type": "function", "name": "exec_command"}]
CODE_MODE = {
    "type": "additional_tools",
    "tools": [{"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}],
}


@pytest.fixture
def server():
    with ScriptedModel(parse_scripts(SCRIPT, source="script.yaml")) as model:
        yield model


def user(text):
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def output(number, text="ok", kind="function_call_output"):
    return {"type": kind, "call_id": f"call_{number}", "output": text}


def request(*items, tools=(), effort="high", stream=True):
    reasoning = {"effort": effort}
    return {
        "model": "m-1",
        "stream": stream,
        "input": list(items),
        "tools": list(tools),
        "reasoning": reasoning,
    }


def post(server, body, *, path=None, headers=None):
    url = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request("POST", path or f"{url.path}/responses", raw, headers or {})
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def stream(server, body):
    status, raw, headers = post(server, body)
    assert (status, headers["Content-Type"]) == (200, "text/event-stream")
    return [json.loads(line[6:]) for line in raw.decode().splitlines() if line.startswith("data: ")]


def item(server, body):
    return next(e["item"] for e in stream(server, body) if e["type"] == "response.output_item.done")


def test_the_number_of_tool_outputs_picks_the_step(server):
    ask = user("please fix it")
    first = item(server, request(ask, tools=FUNCTIONS))
    assert (first["type"], first["name"]) == ("function_call", "exec_command")
    assert json.loads(first["arguments"])["cmd"] == "ls"
    second = item(server, request(ask, first, output(0), tools=FUNCTIONS))
    assert (second["type"], second["name"]) == ("custom_tool_call", "apply_patch")
    assert second["input"] == "*** Begin Patch\n*** End Patch\n"
    third = item(server, request(ask, output(0), output(1, kind="custom_tool_call_output"), tools=FUNCTIONS))
    assert third["content"][0]["text"] == "All done."


def test_a_retried_request_gets_the_same_answer(server):
    body = request(user("fix it"), tools=FUNCTIONS)
    assert post(server, body)[:2] == post(server, body)[:2]


def test_a_stream_ends_with_the_usage_of_its_step(server):
    last = stream(server, request(user("fix it"), tools=FUNCTIONS))[-1]
    assert last["type"] == "response.completed"
    assert last["response"]["usage"] == {
        "input_tokens": 11,
        "input_tokens_details": {"cached_tokens": 5},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 18,
    }


def test_a_patch_goes_through_the_shell_where_there_is_no_patch_tool(server):
    call = item(server, request(user("fix it"), output(0), tools=SHELL_ONLY))
    command = json.loads(call["arguments"])["cmd"]
    assert command.startswith("apply_patch <<'")
    assert "*** Begin Patch\n*** End Patch\n" in command


def test_newer_clients_get_a_program_for_their_only_tool(server):
    run = item(server, request(CODE_MODE, user("fix it")))
    assert (run["type"], run["name"], run["namespace"]) == ("custom_tool_call", "exec", "functions")
    assert 'tools.exec_command({"cmd": "ls"' in run["input"]
    patch = item(server, request(CODE_MODE, user("fix it"), output(0)))
    assert "tools.apply_patch(" in patch["input"]


def test_a_client_without_a_fitting_tool_is_told_so(server):
    status, raw, _ = post(server, request(user("fix it"), tools=[{"type": "function", "name": "look"}]))
    assert status == 400
    assert "among those the client offers: look" in json.loads(raw)["error"]["message"]


def test_a_command_that_still_runs_is_waited_for_and_counts_as_one_step(server):
    waiting = output(0, "Process running with session ID 4711\n")
    poll = item(server, request(user("fix it"), waiting, tools=FUNCTIONS))
    assert poll["name"] == "write_stdin"
    assert json.loads(poll["arguments"])["session_id"] == 4711
    polled = {
        "type": "function_call_output",
        "call_id": poll["call_id"],
        "output": "Process exited with code 0",
    }
    after = item(server, request(user("fix it"), waiting, polled, tools=FUNCTIONS))
    assert after["name"] == "apply_patch"


def test_when_picks_the_script_by_reasoning_effort(server):
    assert item(server, request(user("fix it"), effort="low"))["content"][0]["text"] == "low"


def test_the_newest_prompt_counts_in_a_resumed_conversation(server):
    old = (user("fix it"), output(0), output(1))
    assert item(server, request(*old, user("fix it again"), tools=FUNCTIONS))["name"] == "exec_command"


def test_messages_that_the_client_adds_do_not_hide_the_prompt(server):
    added = user("<notice>something happened</notice>")
    assert item(server, request(user("fix it"), output(0), added, tools=FUNCTIONS))["name"] == "apply_patch"


def test_an_unknown_prompt_is_refused_with_its_start(server):
    status, raw, _ = post(server, request(user("quite another task " + "x" * 900)))
    message = json.loads(raw)["error"]["message"]
    assert status == 400
    assert "no script fits" in message
    assert "quite another task" in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{not json", "not JSON"),
        (b"[]", "not a JSON object"),
        (json.dumps(request(user("fix it"), stream=False)).encode(), "only streamed"),
    ],
)
def test_a_request_it_cannot_read_is_refused(server, body, words):
    status, raw, _ = post(server, body)
    assert status == 400
    assert words in json.loads(raw)["error"]["message"]


def test_an_encoded_body_is_refused(server):
    status, raw, _ = post(server, b"xx", headers={"Content-Encoding": "zstd"})
    assert (status, "zstd" in raw.decode()) == (400, True)


def test_any_path_that_ends_in_responses_is_served_and_no_other(server):
    body = request(user("fix it"), effort="low")
    assert post(server, body, path="/run-42/openai/v1/responses?x=1")[0] == 200
    status, raw, _ = post(server, body, path="/v1/chat/completions")
    assert (status, "no such endpoint" in raw.decode()) == (400, True)


def test_a_get_is_refused_and_recorded(server):
    url = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    connection.request("GET", "/v1/models")
    assert connection.getresponse().status == 400
    connection.close()
    assert server.requests[0].path == "/v1/models"


@pytest.mark.parametrize(("word", "status"), [("deny", 401), ("slow down", 429), ("break", 500)])
def test_http_faults_carry_their_status_and_an_error_body(server, word, status):
    answered, raw, headers = post(server, request(user(word)))
    assert answered == status
    assert json.loads(raw)["error"]["message"]
    assert ("Retry-After" in headers) == (status == 429)


def test_broken_streams_never_complete(server):
    assert [e["type"] for e in stream(server, request(user("cut")))] == ["response.created"]
    assert b"data: " not in post(server, request(user("garbage")))[1]
    overflow = stream(server, request(user("too long")))[-1]
    assert overflow["response"]["error"]["code"] == "context_length_exceeded"
    half = stream(server, request(user("half")))[-1]
    assert half["response"]["incomplete_details"] == {"reason": "max_output_tokens"}


def test_a_hanging_request_gets_no_byte_and_does_not_delay_the_end():
    with ThreadPoolExecutor() as pool, ScriptedModel(parse_scripts(SCRIPT, source="script.yaml")) as server:
        hanging = pool.submit(post, server, request(user("hang")))
        wait_for(lambda: server.requests)
        assert item(server, request(user("fix it"), effort="low"))
        assert not hanging.done()
        started = time.monotonic()
        server.__exit__(None, None, None)
        assert time.monotonic() - started < 5
        assert isinstance(hanging.exception(timeout=5), http.client.RemoteDisconnected)
    assert [t.name for t in threading.enumerate() if "scripted" in t.name] == []
    assert server.requests[0].answer == "hang"


def test_an_idle_connection_does_not_delay_the_end(server):
    url = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    connection.connect()
    connection.send(b"POST /v1/responses HTTP/1.1\r\nContent-Length: 10\r\n\r\n")
    started = time.monotonic()
    server.__exit__(None, None, None)
    assert time.monotonic() - started < 5
    connection.close()


def test_many_conversations_run_at_once_and_each_keeps_its_own_step(server):
    def converse(number):
        history = [user(f"fix it, worker {number}")]
        for step in range(2):
            call = item(server, request(*history, tools=FUNCTIONS))
            history += [call, output(step)]
        return item(server, request(*history, tools=FUNCTIONS))["content"][0]["text"]

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert list(pool.map(converse, range(16))) == ["All done."] * 16
    assert sorted(record.step for record in server.requests) == [0] * 16 + [1] * 16 + [2] * 16


def test_records_hold_what_came_but_never_the_key(server):
    post(server, request(user("fix it"), tools=FUNCTIONS), headers={"Authorization": "Bearer canary-4711"})
    post(server, request(user("unheard of")))
    known, unknown = server.requests
    assert (known.script, known.step, known.answer) == ("fix it", 0, "run")
    assert (known.model, known.effort, known.path) == ("m-1", "high", "/v1/responses")
    assert known.tools == ("exec_command", "apply_patch")
    assert "Authorization" in known.header_names
    assert known.authorized
    assert known.authorization_sha256 == hashlib.sha256(b"Bearer canary-4711").hexdigest()
    assert "canary" not in repr(server.requests)
    assert (unknown.script, unknown.step, unknown.answer) == (None, None, "refused")
    assert not unknown.authorized
    assert known.at <= unknown.at


def test_a_model_that_is_not_running_has_no_address():
    with pytest.raises(RuntimeError, match="not running"):
        _ = ScriptedModel(()).base_url


def test_a_file_is_loaded(tmp_path):
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    with ScriptedModel.load(path) as model:
        assert item(model, request(user("fix it"), effort="low"))["content"][0]["text"] == "low"


def test_the_fixture_starts_a_model_from_text(scripted_model):
    model = scripted_model(SCRIPT)
    assert item(model, request(user("fix it"), effort="low"))["content"][0]["text"] == "low"


def wait_for(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
