"""What the commands share that make tasks by running tests: options, and everything the tests need."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.dataset.environment import prepare_environment
from akbench.pipeline import strongest_sandbox
from akbench.project import Project, cache_faults, cache_folder
from akbench.publish.test_runs import EVALUATOR, TestBench
from akbench.workspace.removal import remove_tree

__all__ = ["PYTEST", "Surroundings", "environment_options", "opened_bench", "task_options"]

PYTEST = ("iniconfig==2.3.0", "packaging==26.0", "pluggy==1.6.0", "pygments==2.19.2", "pytest==9.2.0")
"""The closure of the pytest that the evaluator is tested with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The environment in which a repository's tests run."""

    python: str
    requirements: tuple[str, ...]
    python_path: tuple[str, ...]


def environment_options[F: Callable[..., Any]](function: F) -> F:
    """``--python``, ``--requirement`` and ``--python-path``."""
    for option in (
        click.option("--python-path", multiple=True, help="Folder on the import path (repeatable).  [default: .]"),
        click.option("--requirement", "requirements", multiple=True, help="Pinned name==version beside pytest's own."),
        click.option("--python", help="Python version.  [default: 3.12]"),
    ):
        function = option(function)
    return function


def task_options[F: Callable[..., Any]](function: F) -> F:
    """What the written tasks are called and said to be, and how carefully tests are run."""
    for option in (
        click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Test runs at a time."),
        click.option("--test-timeout", type=click.FloatRange(0.1, 3600), default=10.0, show_default=True,
                     help="Seconds for one test."),
        click.option("--timeout", type=click.FloatRange(1, 86400), default=300.0, show_default=True,
                     help="Seconds for all tests of the unchanged repository."),
        click.option("--repetitions", type=click.IntRange(1, 20), default=2, show_default=True,
                     help="How often the same must come out."),
        click.option("--difficulty", type=click.Choice(["easy", "medium", "hard", "expert"]), default="medium",
                     show_default=True, help="Difficulty of the written tasks."),
        click.option("--category", default="bug_fix", show_default=True, help="Category of the written tasks."),
        click.option("--prefix", help="Tasks are called PREFIX-001 and so on.  [default: the repository's id]"),
        click.option("--keep", type=click.IntRange(1, 1000), default=5, show_default=True, help="Stop at this many."),
        click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True,
                     help="Try at most this many."),
    ):  # fmt: skip
        function = option(function)
    return function


@contextmanager
def opened_bench(
    project: Project, surroundings: Surroundings, *, forbidden: str | None, test_seconds: float
) -> Iterator[TestBench]:
    """Prepare the environment and the strongest sandbox. Raises `InputError` and `HostError` as these do."""
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    cache = cache_folder()
    with cache_faults(cache):
        environment = prepare_environment(
            python=surroundings.python, requirements=surroundings.requirements, cache=cache, forbidden=forbidden
        )
    project.require_writable()
    scratch = Path(tempfile.mkdtemp(prefix="making-", dir=project.workspaces))
    scratch.chmod(0o755)
    try:
        yield TestBench(
            evaluator=catalogue.evaluator_adapter(EVALUATOR)[1],
            environment=environment,
            python_path=surroundings.python_path,
            sandbox=strongest_sandbox(catalogue)[1],
            scratch=scratch,
            cancelled=threading.Event(),
            test_seconds=test_seconds,
        )
    finally:
        remove_tree(scratch)
