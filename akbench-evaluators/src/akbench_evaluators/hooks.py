"""What this distribution registers with AK-Bench; light, as discovery imports it."""

from __future__ import annotations

from akbench.spec import EvaluatorRecord, hookimpl


@hookimpl
def akbench_register_evaluators() -> list[EvaluatorRecord]:
    """The evaluators `pytest` and `command`."""
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
    ]
