"""The real Codex keeps to the contract, against a scripted model."""

import pytest

from akbench.testing import AgentContract


@pytest.mark.codex
class TestCodex(AgentContract):
    descriptor = "akbench_agent_codex:descriptors/codex.yaml"
