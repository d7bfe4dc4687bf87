"""The project's chores. `nox` runs those that CI runs; `nox -l` lists all."""

import os
import tempfile
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
DISTRIBUTIONS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]["members"]
PINS = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["dev"]
SOURCES = [f"{name}/src" for name in DISTRIBUTIONS if (ROOT / name / "src").is_dir()]

nox.options.sessions = ["lint", "types", "docs", "tests", "build"]
nox.options.default_venv_backend = "none"
UV = os.environ.get("UV", "uv")
# Modules in the order of the paths: those of the whole program take longest and come first.
ON_ALL_CORES = ("-n", "auto", "--dist", "loadscope", "--no-loadscope-reorder")


@nox.session
def lint(session: nox.Session) -> None:
    """Format, lint rules, and the direction of imports."""
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Strict types of everything that is shipped."""
    session.run("mypy", *SOURCES)


@nox.session
def docs(session: nox.Session) -> None:
    """Links and generated parts of the documentation."""
    session.run("pytest", "-q", "tests/docs", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """All tests but the slow ones, on all cores."""
    session.run("pytest", "-q", *ON_ALL_CORES, "-m", "not slow", *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """The tests that take long and repeat in full what shorter ones try in part; run before a release."""
    session.run("pytest", "-q", *ON_ALL_CORES, "-m", "slow", *session.posargs)


@nox.session
def adversaries(session: nox.Session) -> None:
    """Let every adversary try bubblewrap and docker; prints what each got, ends with 1 if one got anything."""
    with tempfile.TemporaryDirectory() as folder:
        for sandbox in session.posargs or ("bubblewrap", "docker"):
            session.run("akbench", "adversaries", f"{folder}/{sandbox}", "--sandbox", sandbox)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Try many random inputs on everything that reads a user's file."""
    session.run("pytest", "-q", "-m", "fuzz", *session.posargs, env={"AKBENCH_FUZZ_EXAMPLES": "5000"})


@nox.session
def build(session: nox.Session) -> None:
    """Build every wheel, install each alone into a clean environment, and ask the doctor where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = f"{folder}/wheels"
        session.run(UV, "build", "--quiet", "--all-packages", "--wheel", "--out-dir", wheels, external=True)
        for path in DISTRIBUTIONS:
            install_alone(session, tomllib.loads((ROOT / path / "pyproject.toml").read_text())["project"], folder)
        try_third_party(session, folder)


def install_alone(session: nox.Session, project: dict, folder: str) -> None:
    """Install one distribution from its wheel; what it needs of ours comes from the wheels too."""
    name = project["name"]
    venv = f"{folder}/{name}"
    session.run(UV, "venv", "--quiet", venv, external=True)
    target = ("--python", f"{venv}/bin/python")
    session.run(UV, "pip", "install", "--quiet", *target, "--find-links", f"{folder}/wheels", name, external=True)
    programs = [program for program in ("akbench", "abv3") if Path(venv, "bin", program).exists()]
    for program in programs:
        session.run(f"{venv}/bin/{program}", "--version", external=True)
    if "akbench" in programs:
        session.run(f"{venv}/bin/akbench", "doctor", external=True)
        session.run(f"{venv}/bin/akbench", "agent", "list", external=True)


def try_third_party(session: nox.Session, folder: str) -> None:
    """Build the example of somebody else's adapter, install its wheel as a user does, and try it by its contract."""
    source, venv = ROOT / "examples" / "akbench-agent-ruff", f"{folder}/third-party"
    session.run(UV, "build", "--quiet", "--wheel", "--out-dir", f"{folder}/wheels", str(source), external=True)
    session.run(UV, "venv", "--quiet", venv, external=True)
    wanted = ("akbench-agent-ruff", "akbench-core[testing]", *(pin for pin in PINS if pin.startswith("ruff==")))
    target = ("--python", f"{venv}/bin/python", "--find-links", f"{folder}/wheels")
    session.run(UV, "pip", "install", "--quiet", *target, *wanted, external=True)
    own = {"PATH": f"{venv}/bin:{os.environ['PATH']}", "AKBENCH_STATE": f"{folder}/state"}
    session.run(f"{venv}/bin/akbench", "agent", "list", external=True, env=own)
    session.run(f"{venv}/bin/akbench", "extension", "check", "akbench-agent-ruff", external=True, env=own)
    session.run(f"{venv}/bin/pytest", "-q", "-p", "no:cacheprovider", str(source / "tests"), external=True, env=own)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Measure the harness's own overhead, its start and its workspaces; prints figures, judges nothing."""
    session.run("python", "benchmarks/run_overhead.py", *session.posargs)
    session.run("python", "benchmarks/run_startup.py", *session.posargs)
    session.run("python", "benchmarks/run_workspaces.py", *session.posargs)
