"""The contract of agents: what a session has to keep to, tried with the real agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar, NoReturn, cast

import pytest

from akbench.descriptors.agent import AgentPart
from akbench.descriptors.trial import AgentTrial
from akbench.experiment.configuration import configuration_faults
from akbench.run.outcome_check import outcome_faults
from akbench.spec import (
    AgentOutcome,
    AgentRecord,
    AgentStatus,
    JsonValue,
    ProcessAgent,
    Reading,
    SessionAgent,
    SessionStatus,
    Support,
    Usage,
)
from akbench.testing.contract.agent_stage import AgentLimits, AgentStage, Performance, Result, sandbox_named
from akbench.testing.contract.checks import Described, check_probe
from akbench.testing.contract.contract import (
    allowed_values,
    raised_by,
    refused,
    skip_absent,
    skip_for,
    skip_untold,
    worded,
    wrong_values,
)

__all__ = ["AgentContract"]

TOKENS = ("input_tokens", "output_tokens")
NUMBERS = tuple(each.name for each in fields(Usage))
STOPPED = frozenset({AgentStatus.TIMEOUT, AgentStatus.CANCELLED})


class AgentContract(Described):
    """Subclass it in a test module, with a name that begins with ``Test``, and say in `descriptor` where the agent's
    descriptor lies. What the agent is tried with is the descriptor's ``trial``. Overrides for what a file cannot say:
    the fixture `config` (values that are known only when the test runs), `sandbox` (``auto``, ``local`` or
    ``bubblewrap``) and `limits`.
    """

    record_kind = AgentRecord
    contract_kind = SessionAgent
    sandbox: ClassVar[str] = "auto"
    limits: ClassVar[AgentLimits] = AgentLimits()
    _missing_trial_told: ClassVar[bool] = False

    @pytest.fixture
    def config(self) -> Mapping[str, JsonValue]:
        """Configuration beside the trial's."""
        return {}

    @pytest.fixture
    def whole(self, config: Mapping[str, JsonValue]) -> AgentStage:
        """The agent on its stage, whether or not it can run here."""
        cls = type(self)
        if cls._stage is None:
            part = cast("AgentPart", self.snapshot().model.agent)
            trial = part.trial if cls.trial is None else AgentTrial.model_validate(cls.trial)
            if trial is None:
                cls._tell_missing_trial()
            cls._stage = AgentStage(
                self.built(), part, trial, config, self.world(), sandbox_named(self.sandbox), self.limits
            )
        return cast("AgentStage", cls._stage)

    @classmethod
    def _tell_missing_trial(cls) -> NoReturn:
        """Fail the first test that needs it and skip the others: it is one fault."""
        text = "the descriptor has no trial: say in agent.trial how the agent can be tried"
        if cls._missing_trial_told:
            pytest.skip(text)
        cls._missing_trial_told = True
        pytest.fail(text, pytrace=False)

    @pytest.fixture
    def stage(self, whole: AgentStage) -> AgentStage:
        """The agent on its stage; skips where the real agent is not installed."""
        skip_absent(whole.probe)
        return whole

    def test_the_probe_finds_the_agent(self, whole: AgentStage) -> None:
        """`probe` returns a `Probe` with what is installed, capabilities among the known three values; a problem
        names its mend. Where there is a problem, what needs the agent is skipped and no verdict is kept.
        """
        check_probe(whole.probe)
        skip_absent(whole.probe)

    def test_a_working_configuration_is_accepted(self, stage: AgentStage) -> None:
        """The trial's configuration keeps to the schema, and a session can be opened with it and with each value that
        the schema names (defaults, allowed values).
        """
        schema = stage.part.configuration_schema
        assert configuration_faults("the trial", schema, stage.config) == []
        with stage.opened() as open_session:
            for config in allowed_values(schema, {**stage.config, **stage.trial.task.config}):
                error = raised_by(partial(open_session, config))
                assert error is None, f"{config} is allowed by the schema, but start_session raises {error!r}"

    def test_a_wrong_configuration_is_refused_with_a_message(self, stage: AgentStage) -> None:
        """What the trial calls wrong is refused with an `InputError`; a value of another type or a missing key leads
        to no other error than an `InputError` or a `HostError`.
        """
        config = {**stage.config, **stage.trial.task.config}
        with stage.opened() as open_session:
            for wrong in stage.trial.wrong:
                error = raised_by(partial(open_session, {**config, **wrong}))
                assert refused(error), f"{wrong} must be refused with an InputError, not {error!r}"
            for wrong in wrong_values(stage.part.configuration_schema, config):
                error = raised_by(partial(open_session, wrong))
                assert worded(error), f"{wrong} must be refused with an InputError, not {error!r}"

    def test_the_agent_starts_and_its_end_is_noticed(self, stage: AgentStage) -> None:
        """The quick task ends as COMPLETED, and at that time the work is done and no process of it has to be stopped:
        the end is noticed, and not before it has come.
        """
        quick = stage.quick
        assert isinstance(quick.said, AgentOutcome), f"no account of the work: {_why(quick)}"
        assert quick.outcome is not None
        assert quick.outcome.status == AgentStatus.COMPLETED, quick.outcome.reason
        assert quick.submitting is not None
        assert quick.submitting < stage.limits.call, "submit_task has to return at once"
        assert quick.result is not Result.ABSENT, "the agent was said to be done, and its result was not there"
        process = quick.end.process if quick.end else None
        assert process is None or not process.cancelled, "the agent was said to be done while it was at work"

    def test_the_task_reaches_the_agent(self, stage: AgentStage) -> None:
        """A word that only the prompt tells turns up in the result, or in the request to the scripted model."""
        skip_for("task_submission", stage.part.capabilities["task_submission"])
        if stage.trial.task.result is None and stage.trial.task.model is None:
            pytest.fail(
                "nothing shows that the agent was told: give trial.task.result or trial.task.model, or declare "
                "task_submission: false",
                pytrace=False,
            )
        quick = _completed(stage.quick)
        if quick.model is not None:
            assert quick.model.asked, "the agent's model was asked, if at all, without the prompt"
        assert quick.result is not Result.DIFFERENT, "the result lacks what only the prompt tells"

    def test_work_stays_in_the_given_folders(self, stage: AgentStage) -> None:
        """Nothing is written to the harness's working directory, temporary folder or data."""
        skip_for("workspace_binding", stage.part.capabilities["workspace_binding"])
        assert stage.quick.changed == ()

    def test_what_runs_are_made_from_is_left_alone(self, stage: AgentStage) -> None:
        """The dataset, the cache with the snapshots, and the configuration handed over stay as they were."""
        assert stage.quick.tampered == ()

    def test_the_time_limit_ends_the_work(self, stage: AgentStage) -> None:
        """The slow task under a short limit ends as TIMEOUT, soon after the limit."""
        _need_slow_task(stage)
        late = stage.late
        _accountable(late)
        assert late.end is not None, _why(late)
        assert late.end.outcome.status is AgentStatus.TIMEOUT, "the time was over, and the work was not said to be late"
        assert late.grace_seconds <= stage.limits.stop, "an agent may take no longer than that to stop"
        assert (late.end.seconds or 0.0) < stage.limits.slow + 2 * stage.limits.stop

    def test_cancelling_ends_the_work(self, stage: AgentStage) -> None:
        """The slow task is cancelled under way: it stops soon and ends as CANCELLED. Skipped without the capability
        ``cancellation``.
        """
        skip_for("cancellation", stage.part.capabilities["cancellation"])
        _need_slow_task(stage)
        cancelled = stage.cancelled
        _accountable(cancelled)
        assert cancelled.end is not None, _why(cancelled)
        assert cancelled.end.outcome.status is AgentStatus.CANCELLED, cancelled.end.outcome.reason
        assert cancelled.end.stopped, "; ".join(cancelled.faults) or "the agent did not stop when asked to"
        assert (cancelled.end.seconds or 0.0) < stage.limits.begin + 2 * stage.limits.stop

    def test_waiting_takes_no_longer_than_told(self, stage: AgentStage) -> None:
        """`wait_for_completion` returns after the time it was given, whether or not the work is over."""
        performance = stage.late if stage.can_be_slow else stage.quick
        assert performance.waited < stage.limits.stop / 2

    def test_closing_returns(self, stage: AgentStage) -> None:
        """`close_session` returns without an error."""
        faults = [text for text in stage.quick.faults if "close_session" in text]
        assert faults == []

    def test_nothing_goes_on_after_the_session(self, stage: AgentStage) -> None:
        """No process is left, daemons included, and the workspace does not change any more."""
        assert stage.quick.left == ()
        assert stage.quick.later == ()

    def test_a_session_knows_nothing_of_an_earlier_one(self, stage: AgentStage) -> None:
        """Nothing that the second session writes or says holds what only the first one was told, and the adapter has
        not kept it. Skipped without the capability ``fresh_session``.
        """
        skip_for("fresh_session", stage.part.capabilities["fresh_session"])
        first, second = stage.quick, stage.second
        assert first.word.encode() not in second.marks, "the second session knows the first one's task"
        kept = repr(_kept_by(stage.agent))
        assert first.word not in kept, "the adapter keeps the first session's task"
        assert second.word not in kept, "the adapter keeps the second session's task"
        if first.outcome and second.outcome and first.outcome.session_id:
            assert first.outcome.session_id != second.outcome.session_id

    def test_a_broken_program_has_completed_nothing(self, stage: AgentStage) -> None:
        """A program that breaks or crashes in the agent's place is no COMPLETED; for agents that AK-Bench does not
        start the trial's ``failing_task`` takes its place.
        """
        for performance in _failures(stage):
            if performance.outcome is None:
                skip_untold(_why(performance))
            assert performance.outcome.status is not AgentStatus.COMPLETED

    def test_a_status_comes_with_its_reason(self, stage: AgentStage) -> None:
        """Every status is an `AgentStatus`, and any but COMPLETED says in a sentence why; `get_status` answers in the
        contract's words and does not call a finished session working.
        """
        known = [stage.quick, *_failures(stage, demanded=False)]
        for performance in known:
            outcome = performance.outcome
            if outcome is None:
                continue
            status: object = outcome.status
            assert isinstance(status, AgentStatus)
            assert status is AgentStatus.COMPLETED or status in STOPPED or (outcome.reason or "").strip()
        assert stage.quick.outcome is None or isinstance(stage.quick.status_at_end, SessionStatus)
        assert stage.quick.status_at_end is not SessionStatus.WORKING

    def test_what_is_declared_is_observed(self, stage: AgentStage) -> None:
        """A capability declared ``true`` shows in the account of the quick task: tokens, cost, tool calls, models,
        exported files; every number names its source.
        """
        outcome = _completed(stage.quick).outcome
        assert outcome is not None
        missing = [name for name, seen in _observed(outcome).items() if not seen and _support(stage, name) is YES]
        if stage.trial.task.model is not None and not _calls_tools(stage):
            missing = [name for name in missing if name != "tool_trace"]
        assert missing == [], "declared and not observed"
        told = {name: reading for name in NUMBERS if (reading := _reading(outcome, name)).value is not None}
        unsourced = [name for name, reading in told.items() if not reading.source]
        assert unsourced == [], "numbers without a source"

    def test_what_is_not_declared_is_unavailable_with_a_reason(self, stage: AgentStage) -> None:
        """A capability declared ``false`` has no readings; each missing number says why."""
        outcome = _completed(stage.quick).outcome
        assert outcome is not None
        present = [name for name, seen in _observed(outcome).items() if seen and _support(stage, name) is Support.NO]
        assert present == [], "observed, though declared impossible"
        for name in NUMBERS:
            reading = _reading(outcome, name)
            assert reading.value is not None or (reading.unavailable or "").strip()

    def test_no_number_is_invented(self, stage: AgentStage) -> None:
        """Tokens and requests are those that the scripted model itself counted; where no program of the agent ran,
        there are none.
        """
        quick = stage.quick
        if quick.model is not None and quick.outcome is not None:
            told = {name: _reading(quick.outcome, name).value for name in (*TOKENS, "model_requests")}
            counted: dict[str, object] = {
                "input_tokens": quick.model.input_tokens,
                "output_tokens": quick.model.output_tokens,
                "model_requests": quick.model.requests,
            }
            wrong = {name: value for name, value in told.items() if value is not None and value != counted[name]}
            assert wrong == {}, f"the model's own count is {counted}"
        if isinstance(stage.agent, ProcessAgent) and stage.broken.outcome is not None:
            numbers = {name: _reading(stage.broken.outcome, name).value for name in NUMBERS}
            invented = {name: value for name, value in numbers.items() if value}
            assert invented == {}, "no program of the agent ran"

    def test_times_have_a_time_zone(self, stage: AgentStage) -> None:
        """The times of trace and tool calls are timezone-aware, and no number is below zero."""
        for performance in (stage.quick, *([stage.late] if stage.can_be_slow else [])):
            if performance.outcome is not None:
                assert outcome_faults(performance.outcome) == ()


YES = Support.YES


def _why(performance: Performance) -> str:
    return repr(performance.error) if performance.error else "; ".join(performance.faults) or "nothing tells why"


def _completed(performance: Performance) -> Performance:
    """Skips where the quick task did not end well: another test says so."""
    if performance.outcome is None or performance.outcome.status != AgentStatus.COMPLETED:
        skip_untold("the quick task did not end as completed")
    return performance


def _accountable(performance: Performance) -> None:
    if performance.end is None and performance.outcome is not None and outcome_faults(performance.outcome):
        skip_untold("the account of the work cannot be used")


def _failures(stage: AgentStage, *, demanded: bool = True) -> tuple[Performance, ...]:
    if isinstance(stage.agent, ProcessAgent):
        return stage.broken, stage.crashed
    if stage.trial.failing_task is not None:
        return (stage.failed,)
    if demanded:
        pytest.fail("give trial.failing_task: a task that the agent cannot do", pytrace=False)
    return ()


def _need_slow_task(stage: AgentStage) -> None:
    if not stage.can_be_slow:
        pytest.fail("give trial.slow_task: a task that takes minutes", pytrace=False)


def _kept_by(agent: SessionAgent[Any]) -> dict[str, Any]:
    own = getattr(agent, "__dict__", {})
    return {**own, **{name: value for name, value in vars(type(agent)).items() if not callable(value)}}


def _reading(outcome: AgentOutcome, name: str) -> Reading:
    return cast("Reading", getattr(outcome.usage, name))


def _support(stage: AgentStage, capability: str) -> Support:
    found = stage.probe.capabilities.get(capability)
    return stage.part.capabilities[capability] if found is None else found


def _observed(outcome: AgentOutcome) -> dict[str, bool]:
    """Capability -> whether the account shows it."""
    return {
        "token_usage": any(_reading(outcome, name).value is not None for name in TOKENS),
        "cost_usage": outcome.usage.cost_usd.value is not None,
        "tool_trace": bool(outcome.tool_calls),
        "model_observation": bool(outcome.observed_models),
        "session_export": bool(outcome.artifacts),
    }


def _calls_tools(stage: AgentStage) -> bool:
    return any("run" in step or "patch" in step for step in stage.trial.task.model or ())
