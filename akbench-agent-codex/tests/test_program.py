from __future__ import annotations

import os
import platform
import sys

import pytest

from akbench.spec import HostError, ProbeContext
from akbench_agent_codex.adapter import MEASURED_VERSION, CodexAgent
from akbench_agent_codex.program import BINARY_VARIABLE, PLATFORMS, find_program, sandbox_problem

NATIVE = b"\x7fELF and more"
here = (sys.platform, platform.machine())
known_platform = pytest.mark.skipif(here not in PLATFORMS, reason=f"no Codex package is known for {here}")


def put(path, content, mode=0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def npm(root, *, nested=False, platform_package=True):
    """The layout that npm makes, with the launcher linked into .bin."""
    modules = root / "node_modules"
    launcher = put(modules / "@openai/codex/bin/codex.js", b"#!/usr/bin/env node\n//")
    package, target = PLATFORMS[here]
    inner = modules / "@openai/codex/node_modules" if nested else modules
    native = inner / "@openai" / package / "vendor" / target / "bin/codex"
    if platform_package:
        put(native, NATIVE)
        (native.parent.parent / "codex-resources").mkdir()
    (modules / ".bin").mkdir()
    (modules / ".bin/codex").symlink_to(launcher)
    return modules / ".bin", native


@known_platform
@pytest.mark.parametrize("nested", [False, True])
def test_codex_on_path_is_followed_to_the_native_program(tmp_path, nested):
    bin_folder, native = npm(tmp_path, nested=nested)
    program = find_program({}, {"PATH": str(bin_folder)})
    assert program.executable == native
    assert program.root == native.parent.parent
    assert program.at("/opt/codex") == "/opt/codex/bin/codex"


def test_a_lone_native_program_stands_for_itself(tmp_path):
    native = put(tmp_path / "tools/codex", NATIVE)
    program = find_program({"binary": str(native)}, {})
    assert (program.root, program.at("/opt/codex")) == (native, "/opt/codex")


def test_configuration_wins_over_the_variable_and_that_over_path(tmp_path):
    first, second, third = (put(tmp_path / name / "codex", NATIVE) for name in ("a", "b", "c"))
    environ = {BINARY_VARIABLE: str(second), "PATH": str(third.parent)}
    assert find_program({"binary": str(first)}, environ).executable == first
    assert find_program({}, environ).executable == second
    assert find_program({}, {"PATH": str(third.parent)}).executable == third


def test_variables_that_are_not_handed_over_are_not_read(tmp_path, monkeypatch):
    native = put(tmp_path / "codex", NATIVE)
    monkeypatch.setenv(BINARY_VARIABLE, str(native))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="no executable 'codex' on PATH"):
        find_program({}, {})


@known_platform
def test_a_launcher_without_its_platform_package_is_named(tmp_path):
    bin_folder, _ = npm(tmp_path, platform_package=False)
    with pytest.raises(HostError, match=r"lacks its platform package @openai/codex-"):
        find_program({}, {"PATH": str(bin_folder)})


def test_any_other_script_is_refused(tmp_path):
    script = put(tmp_path / "codex", b"#!/bin/sh\nexec codex\n")
    with pytest.raises(HostError, match="neither the codex program nor npm's launcher"):
        find_program({"binary": str(script)}, {})


def probe(environ, *, bounded=True):
    return CodexAgent().probe(ProbeContext(config={"model": "m"}, environ=environ, bounded=bounded))


def test_a_missing_program_is_a_problem_with_the_command_that_mends_it():
    found = probe({"PATH": "/nowhere"})
    assert found.version is None
    assert found.problems[0].message == "no executable 'codex' on PATH"
    assert found.problems[0].mend.startswith("npm install --global @openai/codex")


def test_a_program_that_is_not_codex_is_a_problem(tmp_path):
    broken = put(tmp_path / "codex", NATIVE)
    assert "cannot run" in probe({BINARY_VARIABLE: str(broken)}).problems[0].message
    other = probe({BINARY_VARIABLE: os.path.realpath("/bin/cat")})
    assert "does not answer as Codex does" in other.problems[0].message


def test_a_program_whose_sandbox_does_not_start_is_a_problem_only_where_it_is_needed(tmp_path):
    program = find_program({"binary": os.path.realpath("/bin/cat")}, {"PATH": ""})
    problem = sandbox_problem(program)
    assert "own sandbox cannot start commands here: exit code 1" in problem.message


@pytest.mark.codex
def test_the_real_program_tells_its_version(codex, declared):
    found = probe(declared)
    assert found.problems == ()
    assert found.version.count(".") == 2
    assert found.facts["measured_version"] == MEASURED_VERSION
    assert found.facts["own_sandbox"] == "off"


@pytest.mark.codex
def test_without_an_outer_sandbox_the_real_programs_own_one_is_tried(codex, declared):
    problem = sandbox_problem(find_program({}, declared))
    found = probe(declared, bounded=False)
    assert found.problems == (() if problem is None else (problem,))
    assert found.facts["own_sandbox"] == "workspace-write"
