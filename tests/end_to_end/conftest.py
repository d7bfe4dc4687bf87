"""Fixtures of the end-to-end tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all test processes: what is built in it is locked while it is built."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "akbench-cache"
    shared.mkdir(exist_ok=True)
    return shared


@pytest.fixture
def project(tmp_path: Path, cache: Path) -> Iterator[ProjectUnderTest]:
    """What ``akbench init`` writes."""
    made = ProjectUnderTest(tmp_path / "project", {"AKBENCH_CACHE": str(cache)})
    made.root.mkdir()
    assert made.akbench("init").returncode == 0
    yield made
    shutil.rmtree(made.root, ignore_errors=True)
