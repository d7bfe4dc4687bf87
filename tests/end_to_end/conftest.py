"""Fixtures of the end-to-end tests."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import cache as remembered
from pathlib import Path
from typing import cast

import pytest
from project_under_test import ProjectUnderTest

from akbench.catalogue import Catalogue
from akbench.descriptors.kinds import AgentDescriptor
from akbench.sandbox.bubblewrap import BubblewrapSandbox
from akbench.spec import HostError
from akbench.verdict import Verdict, keep_verdict, subject_of
from akbench_agent_codex.program import find_program
from akbench_sandbox_docker.testing import NoEngineError, some_engine

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs like this; what the tests start would inherit it and never see a Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@remembered
def _codex_lack() -> str | None:
    try:
        find_program({}, os.environ)
    except HostError as error:
        return f"needs the real Codex: {error}"
    return None


@remembered
def _bubblewrap_lack() -> str | None:
    problems = BubblewrapSandbox().probe().problems
    return "; ".join(problem.message for problem in problems) or None


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[None]:
    """A Docker engine, started by hand where none runs; skips visibly where none can be started."""
    try:
        with some_engine():
            yield
    except NoEngineError as error:
        pytest.skip(str(error))


LACKS: dict[str, Callable[[], str | None]] = {"codex": _codex_lack, "bubblewrap": _bubblewrap_lack}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, with the reason, what needs a program that is missing here."""
    for marker, lack in LACKS.items():
        if item.get_closest_marker(marker) and (reason := lack()):
            pytest.skip(reason)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all test processes: what is built in it is locked while it is built."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "akbench-cache"
    shared.mkdir(exist_ok=True)
    return shared


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder in which every installed agent has passed its contract tests; those have runs of their own."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AKBENCH_STATE", str(folder))
        for snapshot in Catalogue.load().descriptors("agent"):
            adapter, _ = Catalogue.load().agent_adapter(cast("AgentDescriptor", snapshot.model).agent.adapter)
            at = "2026-01-01T00:00:00+00:00"
            keep_verdict(Verdict(subject=subject_of(adapter), at=at, passed=1, skipped=0, failed=()))
    return folder


@pytest.fixture
def project(tmp_path: Path, cache: Path, state: Path) -> Iterator[ProjectUnderTest]:
    """What ``akbench init`` writes."""
    yield from _starter(tmp_path / "project", cache, state)


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory: pytest.TempPathFactory, cache: Path, state: Path) -> Iterator[ProjectUnderTest]:
    """The same for all tests of a module: for runs that many tests look at and none changes."""
    yield from _starter(tmp_path_factory.mktemp("shared") / "project", cache, state)


def _starter(root: Path, cache: Path, state: Path) -> Iterator[ProjectUnderTest]:
    made = ProjectUnderTest(root, {"AKBENCH_CACHE": str(cache), "AKBENCH_STATE": str(state)})
    made.root.mkdir()
    assert made.akbench("init").returncode == 0
    yield made
    shutil.rmtree(made.root, ignore_errors=True)


@pytest.fixture
def sleep_marker(tmp_path: Path) -> str:
    """A number of seconds that no other process sleeps."""
    return f"{600 + os.getpid() % 1000}.{abs(hash(tmp_path)) % 10**6}"
