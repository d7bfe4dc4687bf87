"""``akbench dataset mine``: tasks from a repository's own history."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from ruamel.yaml import YAML

from akbench.cli.making import PYTEST, Surroundings, environment_options, opened_bench, task_options
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.dataset.dataset import find_dataset
from akbench.dataset.git_source import read_commit
from akbench.dataset.locations import url_flaw
from akbench.project import Project, cache_folder
from akbench.publish.measured import Measured
from akbench.publish.mining import (
    TEST_GLOBS,
    Fate,
    MinedCommit,
    PastCommit,
    commits_with_tests,
    mine_commits,
    object_folder,
    trees_of,
)
from akbench.publish.task_writing import NewTask, free_id, write_task
from akbench.spec import InputError, JsonValue
from akbench.workspace.reference import patch_between
from akbench.workspace.snapshot import take_snapshot

__all__ = ["mine"]

_SHORT_ID = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """What the person chose: recorded with every task."""

    checkout: Path
    url: str
    license: str
    name: str | None
    revision: str
    stop: str | None
    tests: tuple[str, ...]
    regression: tuple[str, ...]


@click.command()
@click.argument("dataset_id")
@click.argument("checkout", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--license", "license_", required=True, help="The repository's licence, such as MIT.")
@click.option("--url", help="Where others get the repository: https:// or ssh://.  [default: the checkout itself]")
@click.option("--name", help="The library's name on the package index, which no environment may hold.")
@click.option("--from", "revision", default="HEAD", show_default=True, help="The newest commit to look at.")
@click.option("--to", "stop", help="Look at no commit from this one back.")
@click.option(
    "--tests",
    multiple=True,
    help=f"Glob of files that are tests (repeatable).  [default: {TEST_GLOBS[0]}, **/test_*.py and the like]",
)
@click.option("--regression", multiple=True, help="Further tests that must go on passing (repeatable).")
@click.option(
    "--most-files", type=click.IntRange(1), default=10, show_default=True, help="Most changed files that are no tests."
)
@click.option("--dry-run", is_flag=True, help="List the commits that would be tried; run and write nothing.")
@environment_options
@task_options
@project_option
@json_option
def mine(
    dataset_id: str,
    checkout: Path,
    license_: str,
    url: str | None,
    name: str | None,
    revision: str,
    stop: str | None,
    tests: tuple[str, ...],
    regression: tuple[str, ...],
    most_files: int,
    python: str | None,
    requirements: tuple[str, ...],
    python_path: tuple[str, ...],
    limit: int,
    keep: int,
    prefix: str | None,
    category: str,
    difficulty: str,
    repetitions: int,
    timeout: float,
    test_timeout: float,
    jobs: int,
    project_dir: Path,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write tasks into DATASET_ID from the history of the git repository CHECKOUT.

    A commit makes a task if tests that it changes fail before it and pass after it, every time. The agent is given the
    tree before it; its test files are the hidden tests, the rest of it is the reference solution. Its message is
    kept in the task's origin.yaml, which no agent sees, for the person who writes the description: until that is
    done, the task is refused. What was found is kept in the project's data/mining.
    """  # fmt: skip
    project = Project.at(project_dir)
    folder = find_dataset(project.root, dataset_id)
    choice = _Choice(
        checkout=checkout.resolve(),
        url=_checked_url(url or checkout.resolve().as_uri()),
        license=license_,
        name=name,
        revision=revision,
        stop=stop,
        tests=tests or TEST_GLOBS,
        regression=regression,
    )
    commits = itertools.islice(
        commits_with_tests(choice.checkout, revision=revision, stop=stop, tests=choice.tests, most_files=most_files),
        limit,
    )
    if dry_run:
        _list(tuple(commits), as_json=as_json)
        return
    surroundings = Surroundings(
        python=python or "3.12", requirements=(*PYTEST, *requirements), python_path=python_path or (".",)
    )
    maker = _Maker(
        folder=folder,
        objects=object_folder(choice.checkout),
        choice=choice,
        surroundings=surroundings,
        prefix=prefix or Path(choice.url.rstrip("/")).stem,
        category=category,
        difficulty=difficulty,
        timeout=timeout,
        test_timeout=test_timeout,
        repetitions=repetitions,
    )
    found: list[tuple[MinedCommit, str | None]] = []
    with opened_bench(project, surroundings, forbidden=name, test_seconds=test_timeout) as bench:
        key = [bench.environment.key, python_path, choice.tests, regression, timeout, test_timeout, repetitions]
        measured = Measured(project.data / "mining" / f"{_hash(key)}.jsonl")
        for each in mine_commits(
            commits, maker.objects,
            bench=bench, regression=regression, seconds=timeout, repetitions=repetitions, measured=measured, jobs=jobs,
        ):  # fmt: skip
            found.append((each, maker.write(each, bench.scratch) if each.fate is Fate.KEPT else None))
            _tell(*found[-1], number=len(found))
            if sum(task is not None for _, task in found) >= keep:
                break
    _report(found, as_json=as_json)


def _checked_url(url: str) -> str:
    flaw = url_flaw(url)
    if flaw is not None:
        raise InputError(f"--url {url!r} {flaw}")
    return url


def _hash(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """Writes mined commits as tasks."""

    folder: Path
    objects: Path
    choice: _Choice
    surroundings: Surroundings
    prefix: str
    category: str
    difficulty: str
    timeout: float
    test_timeout: float
    repetitions: int

    def write(self, found: MinedCommit, scratch: Path) -> str:
        """The id of the commit's task, written now unless the dataset has it already."""
        for path in sorted(self.folder.glob("*/*/origin.yaml")):
            origin = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")).get("origin", {})
            if origin.get("commit") == found.past.commit:
                return path.parent.name
        return write_task(self.folder, self._task(found, scratch)).name

    def _task(self, found: MinedCommit, scratch: Path) -> NewTask:
        past = found.past
        trees = trees_of(past, self.objects)
        # Puts the parent into the cache while the checkout is there; whoever gets the dataset asks the URL.
        given = read_commit(self.choice.checkout.as_uri(), past.parent, cache_folder()).tree
        before, solved = take_snapshot(given, cache_folder()), take_snapshot(trees.solved, cache_folder())
        source: dict[str, JsonValue] = {"source": "git", "url": self.choice.url, "commit": past.parent}
        name: dict[str, JsonValue] = {"name": self.choice.name} if self.choice.name else {}
        return NewTask(
            id=free_id(self.folder, self.prefix),
            category=self.category,
            difficulty=self.difficulty,
            hint="What was changed, and what its author said of it: see origin.yaml and solution/.",
            python=self.surroundings.python,
            requirements=self.surroundings.requirements,
            python_path=self.surroundings.python_path,
            protected=tuple(sorted(past.selectors)),
            repository={**source, "license": self.choice.license, **name},
            repository_id=self.prefix,
            repository_version="1.0.0",
            target=found.fail_to_pass,
            regression=tuple(dict.fromkeys((*past.selectors, *self.choice.regression))),
            deselect=found.others,
            timeout_seconds=self.timeout,
            test_timeout_seconds=self.test_timeout,
            hidden_tests=trees.tests,
            reference_patch=patch_between(before, solved, scratch / f"{past.commit}.git"),
            origin=self._origin(found),
        )

    def _origin(self, found: MinedCommit) -> dict[str, JsonValue]:
        choice = self.choice
        return {
            "by": "akbench dataset mine",
            "commit": found.past.commit,
            "message": found.past.message,
            "from": choice.revision,
            "to": choice.stop,
            "tests": [*choice.tests],
            "regression": [*choice.regression],
            "repetitions": self.repetitions,
            "fail_to_pass": [*found.fail_to_pass],
            "pass_to_pass": len(found.pass_to_pass),
        }


def _subject(past: PastCommit) -> str:
    return past.message.strip().split("\n")[0]


def _list(commits: Sequence[PastCommit], *, as_json: bool) -> None:
    if as_json:
        print_json([{"commit": each.commit, "subject": _subject(each), "tests": each.selectors} for each in commits])
        return
    rows = [
        (each.commit[:_SHORT_ID], str(len(each.code)), ", ".join(each.selectors), _subject(each)) for each in commits
    ]
    print_table(("commit", "files", "tests", "subject"), rows)
    say(f"{len(commits)} commits")


def _tell(found: MinedCommit, task_id: str | None, *, number: int) -> None:
    numbers = f"{len(found.fail_to_pass)} tests fail before and pass after, {len(found.pass_to_pass)} pass both"
    said = f"{numbers} -> {task_id}" if task_id else found.reason.split("\n")[0]
    head = f"{number} {found.past.commit[:_SHORT_ID]} {_subject(found.past)}"
    say(f"{head}: {found.fate.value.replace('_', ' ')}: {said}", err=True)


def _report(found: Sequence[tuple[MinedCommit, str | None]], *, as_json: bool) -> None:
    tasks = [task for _, task in found if task]
    if as_json:
        print_json([
            {
                "commit": each.past.commit,
                "fate": each.fate.value,
                "reason": each.reason,
                "fail_to_pass": list(each.fail_to_pass),
                "pass_to_pass": len(each.pass_to_pass),
                "task": task,
            }
            for each, task in found
        ])  # fmt: skip
        return
    fates = Counter(each.fate for each, _ in found)
    print_table(("commits", ""), [(fate.value.replace("_", " "), str(fates[fate])) for fate in Fate if fates[fate]])
    say(f"{len(found)} commits tried, {len(tasks)} kept: {', '.join(tasks) or 'none'}")
    if tasks:
        say("next: write each description.md, then: akbench dataset validate")
