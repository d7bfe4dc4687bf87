"""From the reports of pytest to the verdict that is kept: all tests of a contract class, or none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from akbench.catalogue import Adapter
from akbench.spec import AkbenchError
from akbench.verdict import FailedTest, Verdict, keep_verdict, subject_of

__all__ = ["CANNOT_RUN", "Recorder"]

CANNOT_RUN = "cannot run here"
"""How the reason of a skip begins that comes from this machine and not from a declared capability."""

_NAME = "akbench-contract"
_LONGEST = 300


@dataclass(slots=True)
class _Class:
    """What is known of one contract class in this session."""

    adapter: Adapter
    expected: frozenset[str]
    passed: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def note(self, name: str, report: pytest.TestReport) -> None:
        """Take in one report of one test."""
        if report.failed:
            self.failed[name] = _message(report)
        elif report.skipped:
            self.skipped[name] = _reason(report)
        elif report.when == "call":
            self.passed.add(name)

    def verdict(self) -> Verdict | None:
        """None where tests were left out, or could not run here: that is no verdict on the adapter.

        A failure is one, whatever else was left out.
        """
        seen = self.passed | self.skipped.keys() | self.failed.keys()
        absent = any(reason.startswith(CANNOT_RUN) for reason in self.skipped.values())
        if not self.failed and (absent or not self.expected <= seen):
            return None
        return Verdict(
            subject=subject_of(self.adapter),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            passed=len(self.passed - self.failed.keys()),
            skipped=len(self.skipped),
            failed=tuple(FailedTest(name=name, message=text) for name, text in sorted(self.failed.items())),
        )


class Recorder:
    """A pytest plugin that the first contract test of a session registers."""

    def __init__(self) -> None:
        self._classes: dict[str, _Class] = {}
        self._said: list[str] = []

    @classmethod
    def of(cls, config: pytest.Config) -> Recorder:
        """The session's recorder."""
        found: Any = config.pluginmanager.get_plugin(_NAME)
        if found is None:
            found = cls()
            config.pluginmanager.register(found, _NAME)
        assert isinstance(found, Recorder)
        return found

    def expect(self, node: str, adapter: Adapter, tests: Iterable[str]) -> None:
        """Tests of the class `node` are running for `adapter`."""
        self._classes.setdefault(node, _Class(adapter=adapter, expected=frozenset(tests)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in one report."""
        node, _, name = report.nodeid.rpartition("::")
        if node in self._classes:
            self._classes[node].note(name.partition("[")[0], report)

    def pytest_sessionfinish(self) -> None:
        """Keep the verdicts."""
        for known in self._classes.values():
            verdict = known.verdict()
            what = f"contract of {known.adapter.record.id} ({known.adapter.distribution} {known.adapter.version})"
            if verdict is None:
                self._said.append(f"{what}: no verdict, since tests were left out or cannot run here")
                continue
            try:
                path = keep_verdict(verdict)
            except AkbenchError as error:
                self._said.append(f"{what}: {error}")
            else:
                self._said.append(f"{what}: {'passed' if verdict.is_pass else 'failed'}, kept in {path}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was kept."""
        if self._said:
            terminalreporter.section("akbench verdicts")
            for line in self._said:
                terminalreporter.write_line(line)


def _message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash else report.longreprtext or report.when)
    return " ".join(text.split())[:_LONGEST]


def _reason(report: pytest.TestReport) -> str:
    longrepr: Any = report.longrepr
    text = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return str(text).removeprefix("Skipped: ")[:_LONGEST]
