"""The adapter keeps to the contract of agents, tried with the real ruff."""

from __future__ import annotations

import pytest

from akbench.spec import InputError, ProbeContext
from akbench.testing import AgentContract
from akbench_agent_ruff.adapter import RuffAgent, find_program


class TestContract(AgentContract):
    """Every point of the contract that the descriptor claims."""

    descriptor = "akbench_agent_ruff:descriptors/ruff.yaml"
    adapter = RuffAgent


def test_a_missing_program_is_a_problem_with_its_mend() -> None:
    (problem,) = RuffAgent().probe(ProbeContext(config={}, environ={"PATH": ""}, bounded=False)).problems
    assert "no executable 'ruff'" in problem.message
    assert problem.mend.startswith("pip install ruff")


def test_a_wrongly_named_program_is_a_fault_of_the_configuration() -> None:
    with pytest.raises(InputError, match="binary: no executable"):
        find_program({"binary": "/no/such/program"}, {})
