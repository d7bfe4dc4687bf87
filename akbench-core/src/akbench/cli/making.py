"""What the commands share that make tasks by running tests: options, and everything the tests need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, get_args

import click
from pydantic import TypeAdapter, ValidationError

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.dataset.environment import prepare_environment
from akbench.descriptors.scalars import Difficulty, Identifier
from akbench.environments import strongest_environment
from akbench.project import Project, cache_faults, cache_folder
from akbench.publish.task_writing import TaskTerms
from akbench.publish.test_runs import EVALUATOR, TestBench
from akbench.spec import InputError
from akbench.workspace.scratch import scratch_folder

__all__ = ["PYTEST", "GivenEnvironment", "Making", "Surroundings", "making_options", "opened_bench"]

PYTEST = ("iniconfig==2.3.0", "packaging==26.2", "pluggy==1.6.0", "pygments==2.20.0", "pytest==9.2.0")
"""The closure of the pytest that the evaluator is tested with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenEnvironment:
    """The environment as far as it was given."""

    python: str | None
    requirements: tuple[str, ...]
    python_path: tuple[str, ...]

    def with_pytest(self) -> Surroundings:
        """The whole environment: what was not given by default, and pytest beside it."""
        return Surroundings(
            python=self.python or "3.12",
            requirements=(*PYTEST, *self.requirements),
            python_path=self.python_path or (".",),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The environment in which a repository's tests run."""

    python: str
    requirements: tuple[str, ...]
    python_path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """What is asked of the tasks that are made, and of the making; times in seconds."""

    keep: int
    limit: int
    prefix: str | None
    category: str
    difficulty: str
    repetitions: int
    timeout: float
    test_timeout: float
    jobs: int

    def prefix_or(self, name: str) -> str:
        """The prefix of the tasks' ids. Raises `InputError` if it cannot be one."""
        try:
            return TypeAdapter[str](Identifier).validate_python(self.prefix or name)
        except ValidationError as error:
            message = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
            raise InputError(f"the prefix of the tasks' names cannot be used: {message}; give --prefix") from error

    def terms(self, surroundings: Surroundings) -> TaskTerms:
        """What every task that is written has in common."""
        return TaskTerms(
            category=self.category,
            difficulty=self.difficulty,
            python=surroundings.python,
            requirements=surroundings.requirements,
            python_path=surroundings.python_path,
            timeout_seconds=self.timeout,
            test_timeout_seconds=self.test_timeout,
        )


def _count(name: str, default: int, most: int, text: str) -> Callable[[Any], Any]:
    return click.option(name, type=click.IntRange(1, most), default=default, show_default=True, help=text)


def _seconds(name: str, default: float, text: str) -> Callable[[Any], Any]:
    return click.option(name, type=click.FloatRange(0.1, 86400), default=default, show_default=True, help=text)


_ENVIRONMENT = (
    click.option("--python-path", multiple=True, help="Folder on the import path (repeatable).  [default: .]"),
    click.option("--requirement", "requirements", multiple=True, help="Pinned name==version beside pytest's own."),
    click.option("--python", help="Python version.  [default: 3.12]"),
)
_MAKING = (
    _count("--jobs", 1, 64, "Test runs at a time."),
    _seconds("--test-timeout", 10.0, "Seconds for one test."),
    _seconds("--timeout", 300.0, "Seconds for all tests of the repository as it is."),
    _count("--repetitions", 2, 20, "How often the same must come out."),
    click.option(
        "--difficulty",
        type=click.Choice(get_args(Difficulty.__value__)),
        default="medium",
        show_default=True,
        help="Difficulty of the written tasks.",
    ),
    click.option("--category", default="bug_fix", show_default=True, help="Category of the written tasks."),
    click.option("--prefix", help="Tasks are called PREFIX-001 and so on.  [default: the repository's name]"),
    _count("--limit", 100, 100_000, "Try at most this many."),
    _count("--keep", 5, 1000, "Stop when this many are kept."),
)


def making_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options that both commands have; the function is given them as `given` (environment) and `making`."""

    @wraps(function)
    def gathered(**values: Any) -> None:
        given = GivenEnvironment(**{each.name: values.pop(each.name) for each in fields(GivenEnvironment)})
        making = Making(**{each.name: values.pop(each.name) for each in fields(Making)})
        function(given=given, making=making, **values)

    for option in (*_MAKING, *_ENVIRONMENT):
        gathered = option(gathered)
    return gathered


@contextmanager
def opened_bench(
    project: Project, surroundings: Surroundings, making: Making, *, forbidden: str | None
) -> Iterator[TestBench]:
    """Prepare the environment and the strongest sandbox. Raises `InputError` and `HostError` as these do."""
    catalogue = Catalogue.load(project.root)
    report_failures(catalogue)
    catalogue.find("category", making.category)
    cache = cache_folder()
    with cache_faults(cache):
        environment = prepare_environment(
            python=surroundings.python, requirements=surroundings.requirements, cache=cache, forbidden=forbidden
        )
    project.require_writable()
    with scratch_folder("making-", project.workspaces) as scratch:
        scratch.chmod(0o755)
        yield TestBench(
            evaluator=catalogue.evaluator_adapter(EVALUATOR)[1],
            environment=environment,
            python_path=surroundings.python_path,
            sandbox=strongest_environment(catalogue).sandbox,
            scratch=scratch,
            cancelled=threading.Event(),
            test_seconds=making.test_timeout,
        )
