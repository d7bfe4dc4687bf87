from __future__ import annotations

import json

import pytest

from akbench_agent_codex.rollout import TurnError, read_rollout


def names(rollout):
    return [(call.name, call.status, call.exit_code) for call in rollout.calls]


def test_the_session_file_tells_version_thread_and_what_was_asked_for(recorded):
    rollout = read_rollout(recorded("function_tools.rollout.jsonl"))
    assert rollout.cli_version == "0.171.0"
    assert (rollout.model, rollout.effort) == ("gpt-5.5", "low")
    assert rollout.parent_thread_id is None
    assert rollout.completed
    assert rollout.unreadable == 0


def test_usage_is_recorded_for_each_request(recorded):
    usages = read_rollout(recorded("function_tools.rollout.jsonl")).usages
    assert [each.tokens.input_tokens for each in usages] == [1000, 1000, 1000, 2000, 2000, 1000]
    assert all(each.at is not None for each in usages)


def test_calls_of_function_tools_are_told_once_with_times(recorded):
    rollout = read_rollout(recorded("function_tools.rollout.jsonl"))
    assert names(rollout) == [
        ("command_execution", "failed", 3),
        ("apply_patch", None, None),
        ("file_change", "completed", None),
        ("command_execution", "completed", 0),
        ("write_stdin", None, None),
    ]
    assert rollout.calls[0].command == "/bin/bash -c 'cat a.txt; exit 3'"
    assert "verification failed" in rollout.calls[1].output
    assert rollout.calls[3].output == "late\n"
    late = rollout.calls[3]
    assert 30 < (late.finished_at - late.started_at).total_seconds() < 40


def test_calls_nested_in_programs_are_told_once_and_a_failed_program_is_told_too(recorded):
    assert names(read_rollout(recorded("code_mode.rollout.jsonl"))) == [
        ("command_execution", "failed", 3),
        ("exec", None, None),
        ("file_change", "completed", None),
        ("command_execution", "completed", 0),
    ]


def test_the_trace_is_in_the_order_of_time(recorded):
    for name in ("function_tools", "code_mode", "reasoning"):
        times = [event.at for event in read_rollout(recorded(f"{name}.rollout.jsonl")).trace]
        assert times == sorted(times)


def test_the_trace_holds_reasoning_tools_and_messages(recorded):
    kinds = [event.kind for event in read_rollout(recorded("reasoning.rollout.jsonl")).trace]
    assert kinds.count("model_request") == 3
    assert [kind for kind in kinds if kind != "model_request"] == ["reasoning", "command", "tool", "message"]


def test_a_killed_run_keeps_the_usage_of_its_answered_requests(recorded):
    rollout = read_rollout(recorded("killed_waiting.rollout.jsonl"))
    assert [each.tokens.output_tokens for each in rollout.usages] == [50]
    assert not rollout.completed
    assert not rollout.aborted


def test_an_interruption_is_noted_and_does_not_end_the_running_call(recorded):
    rollout = read_rollout(recorded("interrupted_command.rollout.jsonl"))
    assert rollout.aborted
    assert [(call.name, call.finished_at) for call in rollout.calls] == [("exec_command", None)]


def test_the_structured_error_is_read(recorded):
    rollout = read_rollout(recorded("overflow.rollout.jsonl"))
    assert rollout.error.name == "context_window_exceeded"
    assert rollout.error.message.startswith("Codex ran out of room")
    assert not rollout.completed


def test_a_sub_agent_knows_its_parent_and_does_not_repeat_its_usage(recorded):
    root = read_rollout(recorded("sub_agent.rollout-0.jsonl"))
    child = read_rollout(recorded("sub_agent.rollout-1.jsonl"))
    assert root.parent_thread_id is None
    assert child.parent_thread_id == root.thread_id
    assert child.thread_id != root.thread_id
    assert {each.thread_id for each in root.usages} == {root.thread_id}
    assert {each.thread_id for each in child.usages} == {child.thread_id}


def ending(info):
    error = {"message": "m", "codex_error_info": info}
    return json.dumps({"type": "event_msg", "payload": {"type": "task_complete", "error": error}}).encode()


@pytest.mark.parametrize(
    ("info", "name", "status"),
    [
        ("internal_server_error", "internal_server_error", None),
        ({"http_connection_failed": {"http_status_code": 401}}, "http_connection_failed", 401),
        ({"http_connection_failed": {"http_status_code": None}}, "http_connection_failed", None),
        ({"http_connection_failed": "odd"}, "http_connection_failed", None),
        ({"a": 1, "b": 2}, None, None),
        (7, None, None),
        (None, None, None),
    ],
)
def test_the_class_of_error_is_a_word_or_an_object_with_a_status(info, name, status):
    assert read_rollout(ending(info)).error == TurnError(message="m", name=name, http_status=status)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00 nothing",
        b"[[[[",
        b"{" * 100_000,
        b'{"type":"session_meta","payload":[]}',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","command":"x"}}}',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":["x"]}}}',
        b'{"type":"token_usage_record","payload":{"usage":{"input_tokens":1e999}}}',
        b'{"type":"token_usage_record","payload":{"usage":{"input_tokens":true,"output_tokens":-4}}}',
        b'{"timestamp":"yesterday","type":"turn_context","payload":{"model":{},"effort":3}}',
        b'{"timestamp":1e300,"type":"response_item","payload":{"type":"function_call","call_id":"c","name":null}}',
        b'{"type":"event_msg","payload":{"type":"item_completed","started_at_ms":99999999999999999999,"item":{"type":"X"}}}',
    ],
)
def test_a_broken_session_file_is_read_without_an_error_and_claims_no_usage(content):
    rollout = read_rollout(content)
    assert rollout.usages == ()
    assert rollout.model is None
    assert not rollout.completed


def test_lines_that_are_no_records_and_usage_without_counts_are_counted():
    assert read_rollout(b'x\n{"type":"token_usage_record","payload":{}}\n{"type":"unheard_of"}').unreadable == 2


def test_long_texts_are_cut_with_a_note():
    item = {"type": "CommandExecution", "id": "i", "command": ["x"], "aggregated_output": "y" * 100_000}
    line = json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": item}}).encode()
    output = read_rollout(line).calls[0].output
    assert len(output) < 40_000
    assert output.endswith("more characters]")
