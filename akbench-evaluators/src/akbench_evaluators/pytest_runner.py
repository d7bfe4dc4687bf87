"""Runs a pytest suite inside the evaluation sandbox and reports each test; started by `PytestEvaluator`.

pytest comes first and the workspace's folders come last on `sys.path`, so that no file of the workspace can stand in
for a module of pytest or of the standard library.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from akbench_evaluators.arrangement import Arrangement, arrange, chosen_files
from akbench_evaluators.concealed_input import read_concealed_settings
from akbench_evaluators.node_ids import last_name, path_of, selected
from akbench_evaluators.signed_report import ReportWriter
from akbench_evaluators.test_clock import TestClock

__all__ = ["SuiteReporter", "main"]

_EXCERPT_CHARACTERS = 2_000
_ALL_EXCERPTS_CHARACTERS = 400_000
_FAILED_SUBTESTS_OF_A_TEST = 20


class SuiteReporter:
    """A pytest plugin that keeps the chosen tests with those planted in their files, and reports all phases."""

    def __init__(self, report: ReportWriter, chosen: list[str], deselect: list[str], arrangement: Arrangement) -> None:
        self._report = report
        self._chosen = chosen
        self._deselect = deselect
        self._planted = arrangement.planted
        self._reveal = arrangement.disguise.reveal
        self._canaries: list[pytest.Item] = []
        self._raised: dict[tuple[str, str], bool] = {}
        self._failed_subtests: Counter[str] = Counter()
        self._room = _ALL_EXCERPTS_CHARACTERS

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a file or class whose tests could not be collected."""
        if report.outcome != "passed":
            message = self._excerpt(_explanation(report))
            self._report.write("uncollected", id=self._reveal(report.nodeid), outcome=report.outcome, message=message)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Report a chosen test before anything of the suite can drop it."""
        if self._is_planted(item):
            self._canaries.append(item)
        elif self._is_chosen(item):
            self._report.write("item", id=self._reveal(item.nodeid))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the chosen tests and the planted ones of their modules, whatever else was dropped."""
        chosen = [item for item in items if self._is_chosen(item) and not self._is_planted(item)]
        modules = _modules(chosen)
        canaries = [item for item in self._canaries if item.getparent(pytest.Module) in modules]
        kept = {id(item) for item in (*chosen, *canaries)}
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        lost = {id(item) for item in canaries} - {id(item) for item in items}
        items[:] = [item for item in (*items, *(each for each in canaries if id(each) in lost)) if id(item) in kept]
        for module in modules:
            self._report_canaries(module, canaries)
        self._report.write("collected")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        """Report that no test ended the loop before its turn to end."""
        result: Any = yield
        if result.excinfo is None:
            self._report.write("completed")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Note whether the set-up raised."""
        yield from self._watch(item, "setup")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note whether the test raised."""
        yield from self._watch(item, "call")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Note whether the tear-down raised."""
        yield from self._watch(item, "teardown")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report one phase of one test, or one of the first failed subtests of it: suites have many thousands."""
        subtest, when = hasattr(report, "context"), report.when
        passed = report.outcome == "passed"
        if subtest and not self._is_worth_telling(report):
            return
        self._report.write(
            "phase",
            id=self._reveal(report.nodeid),
            when=when,
            outcome=report.outcome,
            seconds=report.duration,
            raised=self._raised.get((report.nodeid, when), False),
            subtest=subtest,
            message=None if passed else self._excerpt(_explanation(report)),
        )

    def _report_canaries(self, module: pytest.Module, canaries: list[pytest.Item]) -> None:
        """Report those of the module; one that is nowhere to be seen is reported all the same."""
        name = self._planted.get(path_of(module.nodeid))
        found = [item.nodeid for item in canaries if item.getparent(pytest.Module) is module]
        for node_id in found or ([] if name is None else [f"{module.nodeid}::{name}"]):
            self._report.write("canary", id=self._reveal(node_id))

    def _is_planted(self, item: pytest.Item) -> bool:
        name = getattr(item, "originalname", None)
        return name is not None and self._planted.get(path_of(item.nodeid)) == name

    def _is_chosen(self, item: pytest.Item) -> bool:
        node_id = self._reveal(item.nodeid)
        return selected(self._chosen, node_id) and not selected(self._deselect, node_id)

    def _is_worth_telling(self, subtest: pytest.TestReport) -> bool:
        if subtest.outcome == "failed":
            self._failed_subtests[subtest.nodeid] += 1
        return subtest.outcome == "failed" and self._failed_subtests[subtest.nodeid] <= _FAILED_SUBTESTS_OF_A_TEST

    def _watch(self, item: pytest.Item, when: str) -> Iterator[None]:
        result: Any = yield
        self._raised[item.nodeid, when] = result.excinfo is not None

    def _excerpt(self, explanation: str) -> str:
        text = self._reveal(explanation)
        kept = text[-min(_EXCERPT_CHARACTERS, self._room) :] if self._room else ""
        self._room -= len(kept)
        return kept if len(kept) == len(text) else f"…{kept}"


def main() -> None:
    """Run the suite that standard input describes; never returns."""
    settings = read_concealed_settings()
    sys.path.remove(sys.argv[0])
    sys.argv = ["pytest"]
    report = ReportWriter(settings["report_fd"])
    os.chdir(settings["workspace"])
    chosen = settings["target"] + settings["regression"]
    selectors = [_selector(each) for each in chosen]
    arrangement = arrange(chosen, settings["hidden_files"])
    report.write("started", python=platform.python_version(), pytest=pytest.__version__)
    for selector in selectors:
        report.write("selector", **selector)
    if all(selector["exists"] for selector in selectors):
        report.write("finished", exit_code=_run(report, settings, arrangement))
    # Threads and exit handlers of the tested code have no say any more.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _selector(selector: str) -> dict[str, Any]:
    """Whether the tree has what the selector names, judged without running anything."""
    path, name = Path(path_of(selector)), last_name(selector)
    exists = path.is_dir() if name is None and path.suffix != ".py" else path.is_file()
    named = exists and (name is None or re.search(rf"\b{re.escape(name)}\b", _text(path)) is not None)
    return {"selector": selector, "exists": exists, "named": named}


def _run(report: ReportWriter, settings: dict[str, Any], arrangement: Arrangement) -> int:
    workspace = settings["workspace"]
    sys.path.extend(str(Path(workspace, folder)) for folder in settings["python_path"])
    chosen = settings["target"] + settings["regression"]
    paths = list(dict.fromkeys(arrangement.where(path_of(selector)) for selector in chosen))
    sys.path.extend(str(Path(workspace, folder)) for folder in _folders_outside_packages(paths))
    arguments = [
        *("-c", settings["ini"], "--rootdir", workspace, "--confcutdir", workspace),
        *("--import-mode=importlib", "--continue-on-collection-errors", "-p", "no:cacheprovider"),
        *("--tb=short", "--", *paths),
    ]
    plugins: list[object] = [SuiteReporter(report, chosen, settings["deselect"], arrangement)]
    if settings["test_timeout_seconds"] is not None:
        plugins.append(TestClock(settings["test_timeout_seconds"]))
    return int(pytest.main(arguments, plugins=plugins))


def _folders_outside_packages(paths: list[str]) -> list[Path]:
    """The folders of test files whose neighbours are imported by bare name, as pytest's default import mode allows."""
    folders = dict.fromkeys(file.parent for file in chosen_files(paths))
    return [folder for folder in folders if not (folder / "__init__.py").exists()]


def _modules(items: list[pytest.Item]) -> list[pytest.Module]:
    parents = dict.fromkeys(item.getparent(pytest.Module) for item in items)
    return [parent for parent in parents if parent is not None]


def _explanation(report: pytest.CollectReport | pytest.TestReport) -> str:
    expected_failure = getattr(report, "wasxfail", None)
    if expected_failure is not None:
        return f"expected to fail: {expected_failure}"
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    return report.longreprtext


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
