"""The evaluator `pytest`: target and regression tests, judged test by test."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import ClassVar

from akbench.spec import (
    EvaluationEvidence,
    EvaluationInvocation,
    EvaluationRequest,
    Evaluator,
    InputError,
    JsonValue,
    Judgement,
)
from akbench_evaluators.config import flag, reject_unknown_keys, require_seconds, texts
from akbench_evaluators.node_ids import path_of
from akbench_evaluators.process_ending import judge_unstarted
from akbench_evaluators.shipment import runner_files, suite_argv
from akbench_evaluators.signed_report import read_report
from akbench_evaluators.suite_verdict import RECORDS, Suite, SuiteRun, judge_suite

__all__ = ["PytestEvaluator"]

_KEYS = ("target", "regression", "deselect", "timeout_seconds", "test_timeout_seconds", "random_names")
_INI = "akbench_pytest.ini"
_RUNNER = (
    *("pytest_runner", "arrangement", "concealed_input", "disguise"),
    *("node_ids", "planting", "signed_report", "test_clock"),
)
_STEERING = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


class PytestEvaluator(Evaluator):
    """Runs the selected tests with the pytest of the task's environment."""

    needs_packages: ClassVar[tuple[str, ...]] = ("pytest",)

    def check_config(self, config: Mapping[str, JsonValue]) -> None:
        """Raise `InputError` with the key and the mend if `config` cannot be used."""
        reject_unknown_keys(config, _KEYS)
        require_seconds(config, "timeout_seconds")
        require_seconds(config, "test_timeout_seconds")
        flag(config, "random_names", default=True)
        suite = _suite(config)
        for key, selectors in (
            ("target", suite.target),
            ("regression", suite.regression),
            ("deselect", suite.deselect),
        ):
            for selector in selectors:
                _check_selector(key, selector)
        for selector in suite.target:
            if selector in suite.deselect:
                raise InputError(f"evaluator config: {selector!r} is in 'target' and 'deselect'; remove it from one")

    def prepare(self, request: EvaluationRequest) -> EvaluationInvocation:
        """Say how to run the suite: isolated interpreter, harness-owned configuration, no plugin but pytest's own."""
        suite = _suite(request.config, request.quarantined)
        settings = {
            "workspace": request.workspace,
            "report_fd": request.report_fd,
            "ini": f"{request.tools}/{_INI}",
            "python_path": [folder for folder in request.environ.get("PYTHONPATH", "").split(os.pathsep) if folder],
            "target": suite.target,
            "regression": suite.regression,
            "deselect": suite.deselect,
            "test_timeout_seconds": request.config.get("test_timeout_seconds"),
            "hidden_files": request.hidden_files if flag(request.config, "random_names", default=True) else (),
        }
        return EvaluationInvocation(
            argv=suite_argv(request),
            environ=_environ(request.environ),
            files={**runner_files(*_RUNNER, settings={}), _INI: b"[pytest]\n"},
            stdin=json.dumps(settings).encode(),
        )

    def judge(self, evidence: EvaluationEvidence) -> Judgement:
        """Judge from the signed report; what the suite printed and its exit code are not evidence."""
        report = read_report(evidence.report, RECORDS)
        if report is None or not report.records:
            return judge_unstarted(evidence.process)
        return judge_suite(
            _suite(evidence.request.config, evidence.request.quarantined),
            SuiteRun.read(report),
            evidence.process,
            truncated=evidence.report_truncated,
        )

    def with_roles(
        self, config: Mapping[str, JsonValue], target: Collection[str], regression: Collection[str]
    ) -> Mapping[str, JsonValue]:
        """The configuration that names these tests one by one."""
        return {**config, "target": [*target], "regression": [*regression]}


def _suite(config: Mapping[str, JsonValue], quarantined: tuple[str, ...] = ()) -> Suite:
    return Suite(
        target=texts(config, "target", required=True),
        regression=texts(config, "regression"),
        deselect=(*texts(config, "deselect"), *quarantined),
    )


def _check_selector(key: str, selector: str) -> None:
    path = path_of(selector)
    clean = PurePosixPath(path)
    is_option = path.startswith("-")
    if is_option or clean.is_absolute() or ".." in clean.parts or str(clean) != path or "\\" in path:
        mend = "write it relative to the repository, like tests/test_x.py or tests/test_x.py::test_y"
        raise InputError(f"evaluator config: {key!r} holds {selector!r}; {mend}")
    if "::" in selector and clean.suffix != ".py":
        raise InputError(f"evaluator config: {key!r} holds {selector!r}; only a .py file has tests after '::'")


def _environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The request's environment without what steers pytest; PYTHONPATH stays for the suite's own child processes."""
    kept = {name: value for name, value in environ.items() if name not in _STEERING}
    return {
        **kept,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }
