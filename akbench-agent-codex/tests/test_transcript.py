from __future__ import annotations

import pytest

from akbench_agent_codex.tokens import TokenCounts
from akbench_agent_codex.transcript import read_transcript


def test_a_completed_turn_has_its_thread_items_usage_and_final_message(recorded):
    transcript = read_transcript(recorded("function_tools.stdout.jsonl"))
    assert transcript.thread_id
    assert transcript.completed
    assert transcript.failure is None
    assert [item.kind for item in transcript.items] == [
        "command_execution",
        "file_change",
        "command_execution",
        "agent_message",
    ]
    assert transcript.final_message == "Done."
    assert transcript.usage == TokenCounts(
        input_tokens=8000, cached_input_tokens=4600, output_tokens=340, reasoning_output_tokens=80
    )
    assert transcript.unreadable == 0


def test_a_command_that_fails_is_a_call_with_its_exit_code(recorded):
    call = read_transcript(recorded("function_tools.stdout.jsonl")).items[0].call()
    assert (call.name, call.command, call.status) == ("command_execution", "/bin/bash -c 'cat a.txt; exit 3'", "failed")
    assert (call.exit_code, call.output) == (3, "one\n")


def test_messages_are_no_calls(recorded):
    assert read_transcript(recorded("function_tools.stdout.jsonl")).items[-1].call() is None


def test_an_interrupted_run_leaves_its_command_unfinished_and_no_end(recorded):
    transcript = read_transcript(recorded("interrupted_command.stdout.jsonl"))
    assert [item.finished for item in transcript.items] == [False]
    assert not transcript.completed
    assert transcript.failure is None
    assert transcript.usage is None
    assert transcript.final_message is None


def test_a_failed_turn_tells_its_message_and_no_usage(recorded):
    transcript = read_transcript(recorded("overflow.stdout.jsonl"))
    assert transcript.failure.startswith("Codex ran out of room")
    assert not transcript.completed
    assert transcript.usage is None


def test_an_error_that_was_retried_with_success_is_no_failure(recorded):
    transcript = read_transcript(recorded("retried.stdout.jsonl"))
    assert len(transcript.errors) == 1
    assert "503" in transcript.errors[0]
    assert transcript.completed


def test_warnings_and_reasoning_become_steps_of_the_trace(recorded):
    rerouted = read_transcript(recorded("rerouted.stdout.jsonl"))
    assert [item.event().kind for item in rerouted.items] == ["warning", "warning", "message"]
    assert rerouted.items[0].event().text.startswith("model rerouted: gpt-5.5 -> gpt-other-rerouted")
    reasoning = read_transcript(recorded("reasoning.stdout.jsonl"))
    assert reasoning.items[0].event().kind == "reasoning"
    assert reasoning.items[0].event().text == "**Thinking** hard"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"\x00\xff\xfe garbage",
        b"[" * 100_000,
        b'{"type": 5}\n[]\nnull\n"x"\n{}',
        b'{"type":"thread.started","thread_id":7}\n{"type":"item.completed","item":[]}',
        b'{"type":"turn.completed","usage":{"input_tokens":-1}}\n{"type":"turn.failed"}',
        b'{"type":"turn.completed","usage":{"input_tokens":NaN}}',
        b'{"type":"item.completed","item":{"id":"i","type":"command_execution","exit_code":"x","command":[1]}}',
        b'{"type":"item.started","item":{"id":"i","type":"agent_message","text":"\\ud800"}}',
    ],
)
def test_broken_output_is_read_without_an_error_and_claims_nothing(content):
    transcript = read_transcript(content)
    assert transcript.usage is None
    assert transcript.final_message is None
    for item in transcript.items:
        item.event().text.encode()
        assert item.call() is None or item.call().exit_code is None


def test_lines_that_are_no_events_are_counted():
    assert read_transcript(b'garbage\n{"no": "type"}\n{"type": "turn.started"}').unreadable == 2


def test_a_turn_that_both_completed_and_failed_counts_as_failed():
    both = b'{"type":"turn.completed","usage":{}}\n{"type":"turn.failed","error":{"message":"x"}}'
    assert not read_transcript(both).completed
    assert read_transcript(both).failure == "x"
