"""The project's chores. `nox` runs those that CI runs; `nox -l` lists all."""

import os
import tempfile
from pathlib import Path

import nox

ROOT = Path(__file__).parent
DISTRIBUTIONS = sorted(path.parent.name for path in ROOT.glob("*/pyproject.toml"))
SOURCES = [f"{name}/src" for name in DISTRIBUTIONS if (ROOT / name / "src").is_dir()]

nox.options.sessions = ["lint", "types", "docs", "tests", "build"]
nox.options.default_venv_backend = "none"
UV = os.environ.get("UV", "uv")


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
    """All tests, on all cores."""
    session.run("pytest", "-q", "-n", "auto", "--dist", "loadgroup", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build every wheel, install them alone into a clean environment, and ask the doctor."""
    with tempfile.TemporaryDirectory() as folder:
        session.run(UV, "build", "--quiet", "--all-packages", "--wheel", "--out-dir", f"{folder}/wheels", external=True)
        session.run(UV, "venv", "--quiet", f"{folder}/venv", external=True)
        constraints = ROOT / "constraints.txt"
        extra = ["--constraints", str(constraints)] if constraints.exists() else []
        session.run(
            UV,
            "pip",
            "install",
            "--quiet",
            "--python",
            f"{folder}/venv/bin/python",
            "--find-links",
            f"{folder}/wheels",
            *extra,
            "akbench",
            external=True,
        )
        session.chdir(folder)
        session.run(f"{folder}/venv/bin/akbench", "doctor", external=True)
        session.run(f"{folder}/venv/bin/akbench", "agent", "list", external=True)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Measure the harness's own overhead; prints figures, judges nothing."""
    session.run("python", "benchmarks/run_overhead.py", *session.posargs)
