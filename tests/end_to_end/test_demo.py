"""``akbench demo`` ends as its documentation says, with the Codex CLI and without it."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest

pytestmark = [pytest.mark.network, pytest.mark.xdist_group("demo")]

CONTROLS = {"oracle": (12, 12), "noop": (0, 12), "one_liner": (2, 12)}
"""Variant -> solved runs and runs that count."""


@pytest.fixture
def demo(tmp_path: Path, cache: Path) -> ProjectUnderTest:
    root = tmp_path / "demo"
    root.mkdir()
    return ProjectUnderTest(root, {"AKBENCH_CACHE": str(cache)})


def solved(shown: dict) -> dict[str, tuple[int, int]]:
    found = {}
    for variant in shown["variants"]:
        counted = [run for run in runs_of(shown, variant["name"]) if run["solved"] is not None]
        found[variant["name"]] = (sum(run["solved"] for run in counted), len(counted))
    return found


def runs_of(shown: dict, name: str) -> list[dict]:
    (variant,) = [variant["id"] for variant in shown["variants"] if variant["name"] == name]
    return [run for run in shown["run_list"] if run["variant"] == variant]


def states(runs: list[dict]) -> Counter:
    return Counter(run["state"] for run in runs)


def assert_reported(project: ProjectUnderTest, printed: str) -> None:
    report = project.root / "reports" / "index.html"
    assert report.is_file()
    assert f"report: {report}" in printed


@pytest.mark.slow
@pytest.mark.codex
def test_the_demo_with_codex_ends_as_documented(demo):
    done = demo.akbench("demo", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = demo.show("exp-0001")
    assert solved(shown) == CONTROLS | {"codex · low": (8, 10), "codex · high": (10, 12)}
    low, high = runs_of(shown, "codex · low"), runs_of(shown, "codex · high")
    assert states(low) == {"COMPLETED": 10, "INFRASTRUCTURE_ERROR": 2}
    assert states(high) == {"COMPLETED": 10, "TIMEOUT": 2}
    for run in high:
        assert run["metrics"]["input_tokens"]["value"] > 0, run
    assert shown["labels"] == ["scripted model"]
    assert_reported(demo, done.stdout)


@pytest.mark.slow
def test_the_demo_without_codex_says_so_and_runs_the_rest(demo):
    folders = [folder for folder in os.environ["PATH"].split(":") if shutil.which("codex", path=folder) is None]
    done = demo.akbench("demo", ".", PATH=":".join(folders), AKBENCH_CODEX_BINARY="")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the Codex CLI cannot take part: no executable 'codex' on PATH" in done.stderr
    shown = demo.show("exp-0001")
    assert (shown["descriptor"], solved(shown)) == ("demo-without-codex", CONTROLS)
    assert states(shown["run_list"]) == {"COMPLETED": 36}
    assert shown["labels"] == []
    assert_reported(demo, done.stdout)
