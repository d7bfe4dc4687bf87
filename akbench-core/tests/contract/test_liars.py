"""Each liar fails exactly the contract test that is there to catch it, and the honest ones fail none."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from akbench.testing import AgentContract, EvaluatorContract, PluginContract, RuntimeContract, SandboxContract

HERE = Path(__file__).parent
KINDS = ("agents", "evaluators", "plugins", "runtimes", "sandboxes")
CONTRACTS = (AgentContract, EvaluatorContract, PluginContract, RuntimeContract, SandboxContract)
LONG = ("agents", "evaluators", "runtimes", "sandboxes")
"""Kinds whose liars take a minute; the honest ones of these are in every run, see test_builtin_agents.py."""
TRIED_ELSEWHERE = {
    "test_the_descriptor_says_the_same_twice",  # a file says the same twice, whoever wrote it
    "test_its_default_environment_has_its_id",  # only of what is installed
    "test_the_hooks_are_light_and_say_the_same_twice",  # only of what is installed; see tests/discovery
    "test_read_only_is_read_only",  # needs a sandbox that confines; see test_confinement.py
}

type Outcomes = dict[str, dict[str, str]]
"""Class -> test -> passed, skipped or the text of its failure."""


def run_all(kind: str, folder: Path) -> Outcomes:
    """One run of pytest over all liars of a kind, several at once: most of their time is waiting."""
    report = folder / "report.xml"
    arguments = (
        *("-q", "-c", os.devnull, "--rootdir", str(HERE), "-p", "no:cacheprovider", "--import-mode=importlib"),
        *("-p", "xdist", "-n", "3", "--dist", "loadscope", f"--junitxml={report}", f"--basetemp={folder / 'tmp'}"),
        str(HERE / f"lying_{kind}.py"),
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "AKBENCH_STATE": str(folder / "state"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert report.exists(), done.stdout + done.stderr
    found: Outcomes = {}
    for case in ET.parse(report).iter("testcase"):
        name = case.get("classname", "").rpartition(".")[2]
        outcome = "passed"
        for each in case:
            if each.tag in ("failure", "error"):
                outcome = each.text or each.tag
            elif each.tag == "skipped":
                outcome = "skipped"
        found.setdefault(name, {})[str(case.get("name")).partition("[")[0].partition("@")[0]] = outcome
    return found


def liars(*kinds: str) -> dict[str, str]:
    """Every class of the modules with the test that it must fail ('' for an honest one)."""
    found: dict[str, str] = {}
    for kind in kinds:
        spec = spec_from_file_location(f"lying_{kind}", HERE / f"lying_{kind}.py")
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        found |= {name: value.fails for name, value in vars(module).items() if name.startswith("Test")}
    return found


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind in LONG)) for kind in KINDS])
def test_exactly_the_right_contract_test_catches_each_liar_and_none_an_honest_adapter(kind, tmp_path):
    outcomes = run_all(kind, tmp_path)
    wrong = {}
    for name, expected in liars(kind).items():
        failed = {test: text for test, text in outcomes[name].items() if text not in ("passed", "skipped")}
        if set(failed) != ({expected} if expected else set()):
            wrong[name] = f"expected {expected or 'no failure'}, failed: {failed}"
    assert not wrong, "\n\n".join(f"{name}: {text}" for name, text in wrong.items())


def test_every_contract_test_has_a_liar():
    caught = set(liars(*KINDS).values())
    tests = {name for contract in CONTRACTS for name in dir(contract) if name.startswith("test_")}
    assert tests - caught == TRIED_ELSEWHERE
