"""The evaluators keep to the contract."""

from akbench.testing import EvaluatorContract


class TestPytest(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/pytest.yaml"


class TestCommand(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/command.yaml"


class TestPython(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/python.yaml"


class TestStaticAnalysis(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/static-analysis.yaml"


class TestDiff(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/diff.yaml"


class TestReward(EvaluatorContract):
    descriptor = "akbench_evaluators:descriptors/reward.yaml"
