"""What a metric may look at: the facts of one finished run."""

from __future__ import annotations

from dataclasses import dataclass

from akbench.spec.evaluator import Judgement
from akbench.spec.measure import Usage

__all__ = ["RunFacts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """One run as metrics see it.

    - `usage`: what the agent consumed, as its adapter read it.
    - `agent_seconds`: wall clock of the agent's process; None when it never started.
    - `judgement`: the evaluation's verdict; None when there was none.
    - `solved`: True or False when the run counts for or against the agent, None when it says nothing about it.
    - `reason`: why there is no verdict, in a sentence.
    """

    usage: Usage
    agent_seconds: float | None
    judgement: Judgement | None
    solved: bool | None
    reason: str | None
