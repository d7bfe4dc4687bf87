"""From how the agent ended and what the evaluator says to the run's final state. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from akbench.run.lifecycle import RunState
from akbench.spec import AgentOutcome, AgentStatus, Judgement, Outcome

__all__ = ["EVALUATED", "Fault", "Verdict", "judged_verdict", "verdict"]

EVALUATED = frozenset({AgentStatus.COMPLETED, AgentStatus.FAILED})
"""Only work that ended by itself is judged; the rest has its verdict from how it ended."""

STATES = {
    AgentStatus.COMPLETED: RunState.COMPLETED,
    AgentStatus.FAILED: RunState.FAILED,
    AgentStatus.TIMEOUT: RunState.TIMEOUT,
    AgentStatus.CANCELLED: RunState.CANCELLED,
    AgentStatus.EXCEEDED: RunState.FAILED,
    AgentStatus.PROVIDER_ERROR: RunState.INFRASTRUCTURE_ERROR,
    AgentStatus.INFRASTRUCTURE_ERROR: RunState.INFRASTRUCTURE_ERROR,
    AgentStatus.CONFIGURATION_ERROR: RunState.INVALID_CONFIGURATION,
    AgentStatus.UNCLASSIFIED: RunState.FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The end of a run. `solved` is None when the run says nothing about the agent."""

    state: RunState
    reason: str | None = None
    outcome: Outcome | None = None
    solved: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something beside the agent that keeps its run from counting, and the state in which the run then ends."""

    state: RunState
    reason: str


def verdict(agent: AgentOutcome | None, judgement: Judgement | None, faults: Iterable[Fault] = ()) -> Verdict:
    """Whose work it was counts by the evaluator's judgement alone; the agent's own claim never does.

    With a fault in the layers around the agent the run says nothing about the agent, unless it was cancelled anyway.
    """
    for fault in faults:
        if agent is None or agent.status is not AgentStatus.CANCELLED:
            return Verdict(state=fault.state, reason=fault.reason)
    if agent is None:
        return Verdict(state=RunState.INFRASTRUCTURE_ERROR, reason="the agent was not run")
    state = STATES[agent.status]
    if agent.status is AgentStatus.TIMEOUT:
        return Verdict(state=state, reason=agent.reason, outcome=Outcome.TIMEOUT, solved=False)
    if agent.status is AgentStatus.EXCEEDED:
        return Verdict(state=state, reason=agent.reason, outcome=Outcome.FAILURE, solved=False)
    if judgement is None:
        reason = agent.reason or agent.status.value
        if agent.status is AgentStatus.UNCLASSIFIED:
            reason = f"unclassified: {reason}"
        return Verdict(state=state, reason=reason)
    return judged_verdict(agent.status, judgement, agent.reason)


def judged_verdict(status: AgentStatus, judgement: Judgement, agent_reason: str | None = None) -> Verdict:
    """The verdict on work that ended by itself, as `EVALUATED` says, and was judged."""
    if judgement.outcome in {Outcome.EVALUATOR_ERROR, Outcome.INFRASTRUCTURE_ERROR}:
        return Verdict(state=RunState.EVALUATION_ERROR, reason=judgement.reason, outcome=judgement.outcome)
    solved = judgement.outcome is Outcome.FULL_SUCCESS
    reasons = [text for text in (agent_reason, None if solved else judgement.reason) if text]
    return Verdict(state=STATES[status], reason="; ".join(reasons) or None, outcome=judgement.outcome, solved=solved)
