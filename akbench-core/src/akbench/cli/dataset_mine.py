"""``akbench dataset mine``: tasks from a repository's own history."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from akbench.cli.making import GivenEnvironment, Making, Surroundings, making_options, opened_bench
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.dataset.dataset import find_dataset
from akbench.dataset.locations import url_flaw
from akbench.project import Project, cache_folder
from akbench.publish.measured import Measured
from akbench.publish.mined_tasks import MinedTasks, MiningChoice
from akbench.publish.mining import (
    TEST_GLOBS,
    Fate,
    MinedCommit,
    PastCommit,
    commits_with_tests,
    mine_commits,
    object_folder,
)
from akbench.spec import InputError

__all__ = ["mine"]

_SHORT_ID = 12


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
@making_options
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
    given: GivenEnvironment,
    making: Making,
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
    """
    project = Project.at(project_dir)
    folder = find_dataset(project.root, dataset_id)
    choice = MiningChoice(
        checkout=checkout.resolve(),
        url=_checked_url(url or checkout.resolve().as_uri()),
        license=license_,
        name=name,
        revision=revision,
        stop=stop,
        tests=tests or TEST_GLOBS,
        regression=regression,
        repetitions=making.repetitions,
    )
    commits = itertools.islice(
        commits_with_tests(choice.checkout, revision=revision, stop=stop, tests=choice.tests, most_files=most_files),
        making.limit,
    )
    if dry_run:
        _list(tuple(commits), as_json=as_json)
        return
    if url is None:
        say("note: the tasks will name a folder of this machine; give --url for others to get them", err=True)
    surroundings = given.with_pytest()
    tasks = MinedTasks(
        folder=folder,
        objects=object_folder(choice.checkout),
        choice=choice,
        terms=making.terms(surroundings),
        prefix=making.prefix_or(Path(choice.url.rstrip("/")).stem),
        cache=cache_folder(),
    )
    _report(_mine(project, tasks, commits, surroundings, making), as_json=as_json)


def _mine(
    project: Project, tasks: MinedTasks, commits: Iterator[PastCommit], surroundings: Surroundings, making: Making
) -> list[tuple[MinedCommit, str | None]]:
    """Try the commits, write those that make a task, and tell of each at once."""
    choice = tasks.choice
    found: list[tuple[MinedCommit, str | None]] = []
    with opened_bench(project, surroundings, making, forbidden=choice.name) as bench:
        key = [bench.environment.key, bench.python_path, choice.tests, choice.regression, choice.repetitions]
        for each in mine_commits(
            commits,
            tasks.objects,
            bench=bench,
            regression=choice.regression,
            seconds=making.timeout,
            repetitions=choice.repetitions,
            measured=Measured(project.data / "mining" / f"{_hash([*key, making.timeout, bench.test_seconds])}.jsonl"),
            jobs=making.jobs,
        ):
            found.append((each, tasks.write(each, bench.scratch) if each.fate is Fate.KEPT else None))
            _tell(*found[-1], number=len(found))
            if sum(task is not None for _, task in found) >= making.keep:
                break
    return found


def _checked_url(url: str) -> str:
    flaw = url_flaw(url)
    if flaw is not None:
        raise InputError(f"--url {url!r} {flaw}")
    return url


def _hash(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


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
