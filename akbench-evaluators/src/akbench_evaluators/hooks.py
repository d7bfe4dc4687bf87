"""What this distribution registers with AK-Bench; light, as discovery imports it."""

from __future__ import annotations

from akbench.spec import EvaluatorRecord, hookimpl


@hookimpl
def akbench_register_evaluators() -> list[EvaluatorRecord]:
    """The evaluators `pytest`, `command`, `python`, `static-analysis`, `diff` and `reward`."""
    return [
        EvaluatorRecord(
            id="pytest",
            target="akbench_evaluators.pytest_suite:PytestEvaluator",
            summary="Runs target and regression tests with pytest and judges each by its own report",
            descriptors=("akbench_evaluators:descriptors/pytest.yaml",),
        ),
        EvaluatorRecord(
            id="command",
            target="akbench_evaluators.command:CommandEvaluator",
            summary="Runs one command and judges by its exit code",
            descriptors=("akbench_evaluators:descriptors/command.yaml",),
        ),
        EvaluatorRecord(
            id="python",
            target="akbench_evaluators.python_check:PythonCheck",
            summary="Runs a check script that reaches the product's code in other processes alone",
            descriptors=("akbench_evaluators:descriptors/python.yaml",),
        ),
        EvaluatorRecord(
            id="static-analysis",
            target="akbench_evaluators.static_analysis:StaticAnalysis",
            summary="Counts what an analysis tool finds in the work and did not find before",
            descriptors=("akbench_evaluators:descriptors/static-analysis.yaml",),
        ),
        EvaluatorRecord(
            id="diff",
            target="akbench_evaluators.diff:DiffEvaluator",
            summary="Measures how much was changed, where, and what was left lying about",
            descriptors=("akbench_evaluators:descriptors/diff.yaml",),
        ),
        EvaluatorRecord(
            id="reward",
            target="akbench_evaluators.reward:RewardEvaluator",
            summary="Runs a command of the task's own that writes its reward into a file",
            descriptors=("akbench_evaluators:descriptors/reward.yaml",),
        ),
    ]
