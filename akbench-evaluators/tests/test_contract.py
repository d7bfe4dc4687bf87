"""The evaluators keep to the contract."""

from akbench.testing import EvaluatorContract


class TestPytest(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/pytest.yaml"


class TestCommand(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/command.yaml"
