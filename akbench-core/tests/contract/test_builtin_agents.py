"""The core's own agents keep to the contract."""

from akbench.testing import AgentContract


class TestCommand(AgentContract):
    descriptor = "akbench.builtin:descriptors/command.yaml"


class TestNoop(AgentContract):
    descriptor = "akbench.builtin:descriptors/noop.yaml"


class TestOracle(AgentContract):
    descriptor = "akbench.builtin:descriptors/oracle.yaml"
    sandbox = "local"
