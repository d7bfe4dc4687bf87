from __future__ import annotations

from akbench.spec import AgentRequest, VerificationStatus
from akbench_agent_codex.observation import Observation
from akbench_agent_codex.rollout import read_rollout
from akbench_agent_codex.transcript import Transcript, read_transcript


def request(**config):
    folders = {"workspace": "/workspace", "home": "/home/agent", "state": "/home/state", "tmp": "/tmp"}
    return AgentRequest(
        prompt="p",
        config={"model": "gpt-5.5", "reasoning_effort": "low"} | config,
        environ={},
        declared={},
        model=None,
        bounded=True,
        program_root=None,
        timeout_seconds=60,
        **folders,
    )


def observe(recorded, name, *rollouts, **options):
    files = rollouts or (f"{name}.rollout.jsonl",)
    return Observation(
        transcript=read_transcript(recorded(f"{name}.stdout.jsonl")),
        rollouts=tuple(read_rollout(recorded(file)) for file in files),
        **options,
    )


def values(usage):
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "model_requests")
    return [getattr(usage, name).value for name in names]


def test_the_sum_over_requests_equals_what_codex_prints_for_one_thread(recorded):
    observation = observe(recorded, "function_tools")
    printed = observation.transcript.usage
    assert values(observation.usage()) == [
        printed.input_tokens,
        printed.cached_input_tokens,
        printed.output_tokens,
        printed.reasoning_output_tokens,
        6,
    ]


def test_usage_counts_sub_agents_which_the_printed_usage_leaves_out(recorded):
    observation = observe(recorded, "sub_agent", "sub_agent.rollout-1.jsonl", "sub_agent.rollout-0.jsonl")
    assert observation.transcript.usage.input_tokens == 3000
    assert values(observation.usage()) == [6000, 2400, 300, 120, 6]
    assert observation.root.thread_id == observation.session_id


def test_a_killed_run_keeps_its_tokens(recorded):
    usage = observe(recorded, "killed_waiting").usage()
    assert values(usage) == [1000, 400, 50, 20, 1]
    assert "token_usage_record" in usage.input_tokens.source


def test_a_cost_is_never_made_up(recorded):
    assert observe(recorded, "function_tools").usage().cost_usd.unavailable == "Codex reports no cost"


def test_without_session_files_the_printed_usage_is_used_and_says_what_it_lacks(recorded):
    observation = Observation(transcript=read_transcript(recorded("function_tools.stdout.jsonl")), rollouts=())
    usage = observation.usage()
    assert usage.input_tokens.value == 8000
    assert "without sub-agents" in usage.input_tokens.source
    assert usage.model_requests.value is None
    assert [call.name for call in observation.tool_calls()] == ["command_execution", "file_change", "command_execution"]
    assert [event.kind for event in observation.trace()] == ["command", "file_change", "command", "message"]


def test_a_session_file_that_was_not_read_makes_the_sums_unavailable(recorded):
    usage = observe(recorded, "function_tools", left_out=("sessions/rollout-x.jsonl: a link",)).usage()
    assert usage.input_tokens.value is None
    assert "sessions/rollout-x.jsonl" in usage.input_tokens.unavailable
    assert usage.model_requests.value is None


def test_where_nothing_was_seen_nothing_is_claimed():
    observation = Observation(transcript=Transcript(), rollouts=())
    usage = observation.usage()
    assert values(usage) == [None] * 5
    assert usage.tool_calls.value is None
    assert observation.session_id is None
    assert observation.trace() == ()


def test_a_call_that_was_interrupted_is_counted_once(recorded):
    calls = observe(recorded, "interrupted_command").tool_calls()
    assert [(call.name, call.status, call.exit_code) for call in calls] == [("command_execution", "in_progress", None)]


def test_the_trace_shows_warnings_retries_and_what_could_not_be_read(recorded):
    assert "model rerouted" in observe(recorded, "rerouted").trace()[-2].text
    assert observe(recorded, "retried").trace()[-1].kind == "error"
    gaps = observe(recorded, "retried", left_out=("f: too large",), printed_whole=False).trace()[-2:]
    assert [event.kind for event in gaps] == ["warning", "warning"]


def test_a_rerouted_model_is_shown_but_never_taken_for_an_observation(recorded):
    states = {state.key: state for state in observe(recorded, "rerouted").config(request())}
    assert states["model"].observed is None


def test_model_and_effort_are_unverified_though_the_session_file_repeats_them(recorded):
    states = {state.key: state for state in observe(recorded, "function_tools").config(request())}
    for key, value in (("model", "gpt-5.5"), ("reasoning_effort", "low")):
        state = states[key]
        assert (state.requested, state.configured, state.effective, state.observed) == (value, value, value, None)
        assert state.status is VerificationStatus.UNVERIFIED


def test_a_value_that_codex_took_differently_is_a_mismatch(recorded):
    states = {state.key: state for state in observe(recorded, "function_tools").config(request(model="another"))}
    assert states["model"].status is VerificationStatus.MISMATCH
    assert states["model"].effective == "gpt-5.5"


def test_a_default_is_recorded_as_configured_but_not_as_requested(recorded):
    states = {state.key: state for state in observe(recorded, "function_tools").config(request())}
    assert (states["request_max_retries"].requested, states["request_max_retries"].configured) == (None, 4)


def test_a_call_whose_end_only_the_session_file_tells_is_counted_once(recorded):
    started = b'{"type":"item.started","item":{"id":"%d","type":"command_execution","status":"in_progress"}}\n'
    printed = read_transcript(started % 0 + started % 1 + started % 2)
    rollout = read_rollout(recorded("function_tools.rollout.jsonl"))
    calls = Observation(transcript=printed, rollouts=(rollout,)).tool_calls()
    assert [call.status for call in calls if call.name == "command_execution"] == ["failed", "completed", "in_progress"]
