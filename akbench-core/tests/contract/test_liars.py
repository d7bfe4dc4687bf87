"""Each liar fails exactly the contract test that is there to catch it, and the honest ones fail none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent
KINDS = ("agents",)

pytestmark = pytest.mark.xdist_group("liars")

type Outcomes = dict[str, dict[str, str]]
"""Class -> test -> passed, skipped or the text of its failure."""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> Outcomes:
    """One run of pytest over all liars, several at once: most of their time is waiting."""
    folder = tmp_path_factory.mktemp("liars")
    report = folder / "report.xml"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(HERE), "-p", "no:cacheprovider"]
        + ["-n", "4", "--dist", "loadgroup", "--import-mode=importlib", f"--junitxml={report}"]
        + [f"--basetemp={folder / 'tmp'}", *(str(HERE / f"lying_{kind}.py") for kind in KINDS)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "AKBENCH_STATE": str(folder / "state")},
    )
    assert report.exists(), done.stdout + done.stderr
    found: Outcomes = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("classname", "").rpartition(".")[2]
        outcome = "passed"
        for each in case:
            if each.tag in ("failure", "error"):
                outcome = each.text or each.tag
            elif each.tag == "skipped":
                outcome = "skipped"
        found.setdefault(name, {})[str(case.get("name")).partition("[")[0].partition("@")[0]] = outcome
    return found


def liars() -> dict[str, str]:
    """Every class of the modules with the test that it must fail ('' for an honest one)."""
    import importlib.util

    found: dict[str, str] = {}
    for kind in KINDS:
        spec = importlib.util.spec_from_file_location(f"lying_{kind}", HERE / f"lying_{kind}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        found |= {
            name: value.fails
            for name, value in vars(module).items()
            if name.startswith("Test") and isinstance(value, type) and hasattr(value, "fails")
        }
    return found


@pytest.mark.parametrize(("name", "expected"), liars().items())
def test_exactly_the_right_test_catches_the_liar(outcomes, name, expected):
    failed = {test: text for test, text in outcomes[name].items() if text not in ("passed", "skipped")}
    assert set(failed) == ({expected} if expected else set()), "\n".join(failed.values())


def test_every_contract_test_has_a_liar():
    from akbench.testing import AgentContract

    tests = {name for name in dir(AgentContract) if name.startswith("test_")}
    without = {"test_the_descriptor_says_the_same_twice", "test_the_hooks_are_light_and_say_the_same_twice"}
    assert tests - set(liars().values()) == without
