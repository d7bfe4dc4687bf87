"""Shipping a runner to the evaluation sandbox, where this distribution is not installed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from importlib import resources

from akbench.spec import EvaluationRequest

__all__ = ["runner_argv", "runner_files", "suite_argv"]

_PACKAGE = "akbench_evaluators"
_ARCHIVE = "akbench_check.pyz"
_SETTINGS = "akbench_settings.json"
_ARCHIVE_TIME = (1980, 1, 1, 0, 0, 0)


def runner_argv(request: EvaluationRequest) -> tuple[str, ...]:
    """Start the shipped runner, cut off from PYTHON* variables, user site and workspace.

    It needs the standard library only: where the task's interpreter is a foreign one, or missing, another one runs it.
    """
    return (*(request.runner or (request.python,)), *_arguments(request))


def suite_argv(request: EvaluationRequest) -> tuple[str, ...]:
    """Start it in the task's own interpreter, whose packages it needs, cut off as well."""
    return (request.python, *_arguments(request))


def _arguments(request: EvaluationRequest) -> tuple[str, ...]:
    return ("-I", "-B", f"{request.tools}/{_ARCHIVE}", f"{request.tools}/{_SETTINGS}")


def runner_files(runner: str, *needed: str, settings: Mapping[str, object]) -> dict[str, bytes]:
    """The files that `runner_argv` starts: the module `runner` of this package, what it needs, and its settings."""
    return {_ARCHIVE: _pack(runner, *needed), _SETTINGS: json.dumps(settings).encode()}


def _pack(runner: str, *needed: str) -> bytes:
    """A Python archive that calls ``main()`` of the runner; equal sources give equal bytes."""
    content = {"__main__.py": f"from {_PACKAGE}.{runner} import main\n\nmain()\n".encode()}
    for module in ("__init__", runner, *needed):
        content[f"{_PACKAGE}/{module}.py"] = resources.files(_PACKAGE).joinpath(f"{module}.py").read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, _ARCHIVE_TIME), data)
    return packed.getvalue()
