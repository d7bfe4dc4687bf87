"""Running contract tests on an installed adapter: pytest in a process of its own, its report as a verdict."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

from akbench.catalogue import Adapter
from akbench.spec import HostError
from akbench.spec.hooks import AgentRecord, EvaluatorRecord, PluginRecord, RuntimeRecord, SandboxRecord
from akbench.verdict import FailedTest, Verdict, subject_of

__all__ = ["check_contract", "has_contract", "run_contract_tests"]

_LONGEST_MESSAGE = 500
_LONGEST_SECONDS = 1800.0
_CANNOT_RUN = "cannot run here"
_CLASSES = {
    AgentRecord: "AgentContract",
    RuntimeRecord: "RuntimeContract",
    PluginRecord: "PluginContract",
    EvaluatorRecord: "EvaluatorContract",
    SandboxRecord: "SandboxContract",
}
_SOURCE = """\
from akbench.testing import {contract}


class TestInstalled({contract}):
    {attribute} = {value!r}
"""


def has_contract(adapter: Adapter) -> bool:
    """Whether there are contract tests for this kind of adapter."""
    return type(adapter.record) in _CLASSES


def check_contract(adapter: Adapter) -> Verdict:
    """Try an installed adapter by the contract tests of its kind, with the trial of its own descriptor.

    The verdict is not kept yet. Raises `HostError` where pytest or the real thing is not installed.
    """
    record, contract = adapter.record, _CLASSES[type(adapter.record)]
    if isinstance(record, SandboxRecord):
        attribute, value = "sandbox_id", record.id
    elif record.descriptors:
        attribute, value = "descriptor", record.descriptors[0]
    else:
        missing = FailedTest(name="descriptor", message="the record names no descriptor, so nothing says how to try it")
        return Verdict(subject=subject_of(adapter), at=_now(), passed=0, skipped=0, failed=(missing,))
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
    }
    with tempfile.TemporaryDirectory(prefix="akbench-contract-") as name:
        source = Path(name) / "test_installed.py"
        source.write_text(_SOURCE.format(contract=contract, attribute=attribute, value=value))
        where = ("-c", os.devnull, "--rootdir", name, f"--basetemp={Path(name, 'made')}", str(source))
        return run_contract_tests(adapter, where, environ=environ, timeout_seconds=_LONGEST_SECONDS)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_contract_tests(
    adapter: Adapter, arguments: Sequence[str], *, environ: Mapping[str, str], timeout_seconds: float
) -> Verdict:
    """Run pytest with `arguments`, which select the contract tests of `adapter`, and say how they ended.

    The tests run in an empty folder. Whatever keeps them from ending by themselves is a failed test. The verdict is
    not kept yet; see `keep_verdict`. Raises `HostError` where pytest or the real thing is not installed.
    """
    if find_spec("pytest") is None:
        raise HostError("contract tests need pytest; install it: pip install 'akbench-core[testing]'")
    with tempfile.TemporaryDirectory(prefix="akbench-contract-") as name:
        report = Path(name) / "report.xml"
        (Path(name) / "empty").mkdir()
        ending = _run(arguments, report, Path(name) / "empty", environ, timeout_seconds)
        passed, skipped, failed = _counted(report) if report.exists() else (0, 0, ())
    if ending is not None:
        failed = (*failed, FailedTest(name="pytest", message=ending))
    return Verdict(subject=subject_of(adapter), at=_now(), passed=passed, skipped=skipped, failed=failed)


def _run(
    arguments: Sequence[str], report: Path, folder: Path, environ: Mapping[str, str], timeout_seconds: float
) -> str | None:
    """Why the run says less than its report, or None."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    output = report.with_name("output.log")
    with output.open("wb") as out:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return f"not done after {timeout_seconds:g} seconds"
        finally:
            _end(process)
    if code in (0, 1) and report.exists():
        return None
    lines = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return _short(f"ended with exit code {code}: {lines[-1] if lines else 'it printed nothing'}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing that the tests left in their process group stays behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def _counted(report: Path) -> tuple[int, int, tuple[FailedTest, ...]]:
    passed = skipped = 0
    failed = []
    absent = None
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it, on this machine
        faults = [*case.iterfind("failure"), *case.iterfind("error")]
        if faults:
            name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
            failed.append(FailedTest(name=name, message=_short(_said(faults[0]))))
        elif (skip := case.find("skipped")) is not None and (skip.get("message") or "").startswith(_CANNOT_RUN):
            absent = _short(str(skip.get("message")))
        elif skip is not None:
            skipped += 1
        else:
            passed += 1
    if absent is not None and not failed:
        raise HostError(absent)
    return passed, skipped, tuple(failed)


def _said(fault: ET.Element) -> str:
    """The lines that pytest marks as the error; its own message leaves out what kept a file from being read."""
    lines = [line.removeprefix("E").strip() for line in (fault.text or "").splitlines() if line.startswith("E ")]
    return " ".join(lines) or fault.get("message") or "no message"


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_MESSAGE]
