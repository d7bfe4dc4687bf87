from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from akbench.spec import AgentStatus, ProcessEvidence
from akbench_agent_codex.ending import judge_ending, judge_error
from akbench_agent_codex.rollout import Rollout, TurnError
from akbench_agent_codex.transcript import Transcript


def process(**changes):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    fields = {"exit_code": 0, "signal": None, "timed_out": False, "cancelled": False, "start_error": None} | changes
    paths = {"stdout": Path("out"), "stderr": Path("err")}
    return ProcessEvidence(started_at=now, finished_at=now, duration_seconds=0.0, **paths, **fields)


def body(code, kind="invalid_request_error"):
    return json.dumps({"error": {"message": "no", "type": kind, "code": code}})


@pytest.mark.parametrize(
    ("error", "status", "error_class"),
    [
        (("x", "http_connection_failed", 401), AgentStatus.CONFIGURATION_ERROR, "http_connection_failed/401"),
        (("x", "http_connection_failed", 503), AgentStatus.PROVIDER_ERROR, "http_connection_failed/503"),
        (("x", "http_connection_failed", None), AgentStatus.PROVIDER_ERROR, "http_connection_failed"),
        (("x", "response_too_many_failed_attempts", 429), AgentStatus.PROVIDER_ERROR, None),
        (("x", "internal_server_error", None), AgentStatus.PROVIDER_ERROR, "internal_server_error"),
        (("x", "usage_limit_exceeded", None), AgentStatus.PROVIDER_ERROR, "usage_limit_exceeded"),
        (("x", "model_not_found", None), AgentStatus.CONFIGURATION_ERROR, "model_not_found"),
        (("x", "context_window_exceeded", None), AgentStatus.FAILED, "context_window_exceeded"),
        (("x", "cyber_policy", None), AgentStatus.FAILED, "cyber_policy"),
        (("x", "sandbox_error", None), AgentStatus.INFRASTRUCTURE_ERROR, "sandbox_error"),
        (
            ("stream disconnected before completion", "other", None),
            AgentStatus.PROVIDER_ERROR,
            "stream_disconnected",
        ),
        (("Incomplete response returned, reason: z", "other", None), AgentStatus.FAILED, "incomplete_response"),
        (("Missing environment variable: `K`.", "other", None), AgentStatus.CONFIGURATION_ERROR, None),
        (
            (body("unsupported_value"), "other", None),
            AgentStatus.CONFIGURATION_ERROR,
            "invalid_request/unsupported_value",
        ),
        ((body(None), "other", None), AgentStatus.CONFIGURATION_ERROR, "invalid_request/unspecified"),
        ((body("x", "mystery"), "other", None), AgentStatus.UNCLASSIFIED, "other"),
        (("something new", "brand_new_class", None), AgentStatus.UNCLASSIFIED, "brand_new_class"),
        (("something new", None, None), AgentStatus.UNCLASSIFIED, "unknown"),
        (("[" * 100_000, "other", None), AgentStatus.UNCLASSIFIED, "other"),
    ],
)
def test_the_class_of_an_error_says_whose_fault_it_is(error, status, error_class):
    message, name, http_status = error
    ending = judge_error(TurnError(message=message, name=name, http_status=http_status))
    assert ending.status is status
    assert ending.reason == message
    if error_class is not None:
        assert ending.error_class == error_class


def test_a_completed_turn_with_exit_code_zero_is_completed():
    ending = judge_ending(process(), Transcript(thread_id="t", completed=True), None, "")
    assert (ending.status, ending.reason) == (AgentStatus.COMPLETED, None)


@pytest.mark.parametrize("exit_code", [0, 1, 101, None])
def test_an_end_without_the_end_of_a_turn_is_unclassified(exit_code):
    ending = judge_ending(process(exit_code=exit_code, signal=9), Transcript(thread_id="t"), None, "boom")
    assert ending.status is AgentStatus.UNCLASSIFIED
    assert "without the end of its turn: boom" in ending.reason


def test_a_crash_after_the_turn_is_unclassified():
    ending = judge_ending(process(exit_code=101), Transcript(thread_id="t", completed=True), None, "")
    assert ending.status is AgentStatus.UNCLASSIFIED
    assert "exit code 101 after its turn completed" in ending.reason


@pytest.mark.parametrize(("code", "name"), [(1, "configuration"), (2, "command_line")])
def test_an_end_before_the_session_is_a_configuration_error(code, name):
    ending = judge_ending(process(exit_code=code), Transcript(), None, "unknown field `x`")
    assert (ending.status, ending.error_class) == (AgentStatus.CONFIGURATION_ERROR, name)
    assert "unknown field `x`" in ending.reason


def test_a_program_that_says_nothing_is_not_completed():
    assert judge_ending(process(), Transcript(), None, "").status is AgentStatus.UNCLASSIFIED


def test_time_and_cancellation_win_over_what_codex_says():
    done = Transcript(thread_id="t", completed=True)
    assert judge_ending(process(timed_out=True), done, None, "").status is AgentStatus.TIMEOUT
    assert judge_ending(process(cancelled=True), done, None, "").status is AgentStatus.CANCELLED


def test_a_program_that_never_started_is_an_infrastructure_error():
    ending = judge_ending(process(exit_code=None, start_error="no such file"), Transcript(), None, "")
    assert (ending.status, ending.reason) == (AgentStatus.INFRASTRUCTURE_ERROR, "no such file")


def test_the_session_file_knows_the_class_better_than_the_printed_message():
    root = Rollout(error=TurnError(message="high demand", name="internal_server_error"))
    failed = Transcript(thread_id="t", failure="high demand")
    assert judge_ending(process(exit_code=1), failed, root, "").status is AgentStatus.PROVIDER_ERROR
    assert judge_ending(process(exit_code=1), failed, None, "").status is AgentStatus.UNCLASSIFIED
