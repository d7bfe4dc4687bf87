"""The built-in metrics: pure functions from the facts of a run to a reading."""

from __future__ import annotations

from akbench.spec import Reading, RunFacts, TestRole, unavailable

__all__ = [
    "cached_input_tokens",
    "execution_time",
    "hidden_test_pass_rate",
    "input_tokens",
    "model_requests",
    "output_tokens",
    "reasoning_output_tokens",
    "task_success_rate",
    "tool_calls",
    "total_cost",
]


def task_success_rate(facts: RunFacts) -> Reading:
    """1 for a solved task, 0 for an unsolved one; unavailable when the run says nothing about the agent."""
    if facts.solved is None:
        return unavailable(facts.reason or "the run says nothing about the agent")
    return Reading(value=int(facts.solved), source="evaluation")


def hidden_test_pass_rate(facts: RunFacts) -> Reading:
    """Passed target tests over all target tests, in [0, 1]."""
    if facts.judgement is None:
        return unavailable(facts.reason or "not evaluated")
    targets = [test for test in facts.judgement.tests if test.role is TestRole.TARGET]
    if not targets:
        return unavailable("the evaluation reports no single target tests")
    passed = sum(test.status == "passed" for test in targets)
    return Reading(value=passed / len(targets), source="evaluation")


def execution_time(facts: RunFacts) -> Reading:
    """Wall clock of the agent's process, in seconds."""
    if facts.agent_seconds is None:
        return unavailable("the agent was not started")
    return Reading(value=round(facts.agent_seconds, 3), source="harness clock")


def input_tokens(facts: RunFacts) -> Reading:
    """Tokens sent to models, cached ones included."""
    return facts.usage.input_tokens


def cached_input_tokens(facts: RunFacts) -> Reading:
    """The part of the input tokens that came from the provider's cache."""
    return facts.usage.cached_input_tokens


def output_tokens(facts: RunFacts) -> Reading:
    """Tokens produced by models, reasoning included."""
    return facts.usage.output_tokens


def reasoning_output_tokens(facts: RunFacts) -> Reading:
    """The part of the output tokens spent on reasoning."""
    return facts.usage.reasoning_output_tokens


def model_requests(facts: RunFacts) -> Reading:
    """Requests to models that were answered with usage (count)."""
    return facts.usage.model_requests


def tool_calls(facts: RunFacts) -> Reading:
    """Tool calls in the agent's trace (count)."""
    return facts.usage.tool_calls


def total_cost(facts: RunFacts) -> Reading:
    """Cost of the agent's model requests, in USD."""
    return facts.usage.cost_usd
