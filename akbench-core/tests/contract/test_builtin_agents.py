"""The core's own agents keep to the contract."""

import pytest

from akbench.testing import AgentContract


class TestCommand(AgentContract):
    descriptor = "akbench.builtin:descriptors/command.yaml"


class TestNoop(AgentContract):
    descriptor = "akbench.builtin:descriptors/noop.yaml"


class TestOracle(AgentContract):
    descriptor = "akbench.builtin:descriptors/oracle.yaml"
    sandbox = "local"


def test_a_descriptor_without_a_trial_is_one_failure_and_not_many():
    class Untried(AgentContract):
        pass

    with pytest.raises(pytest.fail.Exception, match="the descriptor has no trial"):
        Untried._tell_missing_trial()
    with pytest.raises(pytest.skip.Exception, match="the descriptor has no trial"):
        Untried._tell_missing_trial()
