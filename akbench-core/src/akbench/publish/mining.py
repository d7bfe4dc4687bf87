"""Tasks in a repository's own history: commits whose changed tests fail before and pass after."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dulwich.config import ConfigFile
from dulwich.diff_tree import tree_changes
from dulwich.errors import NotGitRepository
from dulwich.object_store import DiskObjectStore
from dulwich.objects import S_ISGITLINK, Commit, ObjectID
from dulwich.objectspec import parse_commit
from dulwich.repo import Repo

from akbench.dataset.globs import matcher
from akbench.dataset.objects import UNREADABLE
from akbench.dataset.tree import FILE, LINK, PROGRAM, Entry, Tree, read_tree
from akbench.publish.measured import Measured, in_order
from akbench.publish.test_runs import TestBench, TestRun
from akbench.spec import AkbenchError, InputError, JsonValue

__all__ = [
    "TEST_GLOBS",
    "Fate",
    "MinedCommit",
    "PastCommit",
    "commits_with_tests",
    "mine_commits",
    "object_folder",
    "trees_of",
]

TEST_GLOBS = ("tests/**", "test/**", "**/tests/**", "**/test_*.py", "**/*_test.py", "**/conftest.py")
"""What counts as tests of a repository unless it is said otherwise."""
_RUN = matcher(("**/test_*.py", "**/*_test.py"))
_SHORT_ID = 12
_SHA1_BYTES = 20


class Fate(StrEnum):
    """What became of a commit."""

    KEPT = "kept"
    PASSES_BEFORE = "passes_before"
    CANNOT_RUN = "cannot_run"
    UNSTABLE = "unstable"
    NO_TREE = "no_tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCommit:
    """A commit with one parent that changes tests and code: git ids, its message, and the paths changed.

    `tests` are those that are there after it, `code` is everything else.
    """

    commit: str
    parent: str
    tree: str
    parent_tree: str
    message: str
    tests: tuple[bytes, ...]
    code: tuple[bytes, ...]

    @property
    def selectors(self) -> tuple[str, ...]:
        """The changed test files that hold tests, not what they only need."""
        return tuple(os.fsdecode(path) for path in self.tests if _RUN(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedCommit:
    """What was found of a commit: its tests by what they do before and after; `reason` is for people."""

    past: PastCommit
    fate: Fate
    reason: str = ""
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitTrees:
    """The trees of one task: before the commit, its tests alone, and its code changes on the tree before."""

    before: Tree
    tests: Tree
    solved: Tree


def commits_with_tests(
    checkout: Path, *, revision: str, stop: str | None, tests: Collection[str], most_files: int
) -> Iterator[PastCommit]:
    """Commits from `revision` back to (without) `stop`, newest first, that change Python code and Python tests.

    `most_files` bounds the changed files that are no tests. Git is not run in the checkout. Raises `InputError` if
    there is no such repository or revision.
    """
    with _whole(checkout), closing(_opened(checkout)) as repository:
        include = [_resolved(repository, revision, checkout)]
        exclude = [_resolved(repository, stop, checkout)] if stop else []
        is_test = matcher(tests)
        for entry in repository.get_walker(include=include, exclude=exclude):
            past = _past(repository, entry.commit, is_test)
            if past is not None and len(past.code) <= most_files:
                yield past


def object_folder(checkout: Path) -> Path:
    """The git object directory of a checkout or bare repository. Raises `InputError` if it is none."""
    with _whole(checkout), closing(_opened(checkout)) as repository:
        return Path(os.fsdecode(repository.object_store.path))


class _Repository(Repo):
    """A repository whose configuration is its own file alone: what that includes may lie anywhere."""

    def get_config(self) -> ConfigFile:
        path = Path(self.commondir()) / "config"
        return ConfigFile.from_path(path, expand_includes=False) if path.is_file() else ConfigFile()


def _opened(checkout: Path) -> Repo:
    try:
        repository = _Repository(os.fspath(checkout))
    except NotGitRepository as error:
        raise InputError("no git repository; name its top folder", place=str(checkout)) from error
    if repository.object_format.oid_length != _SHA1_BYTES:
        repository.close()
        raise InputError("its commits are named by SHA-256, and a task can only name one by SHA-1", place=str(checkout))
    return repository


@contextmanager
def _whole(checkout: Path) -> Iterator[None]:
    """Name the checkout in whatever is raised over git's files in it: their reader's errors have no common base."""
    try:
        yield
    except AkbenchError:
        raise
    except Exception as error:
        raise InputError(
            f"its history cannot be read ({type(error).__name__}: {error}); git fsck says what is damaged or missing",
            place=str(checkout),
        ) from error


def _resolved(repository: Repo, revision: str, checkout: Path) -> ObjectID:
    try:
        return parse_commit(repository, revision.encode()).id
    except (KeyError, ValueError) as error:
        raise InputError(f"there is no commit {revision!r}", place=str(checkout)) from error


def _past(repository: Repo, commit: Commit, is_test: Callable[[bytes], bool]) -> PastCommit | None:
    """The commit, if it has one parent that is there too, and changes both tests and code in Python."""
    if len(commit.parents) != 1 or commit.parents[0] not in repository.object_store:
        return None
    parent = repository.object_store[commit.parents[0]]
    assert isinstance(parent, Commit), "a commit's parent is a commit"
    tests: list[bytes] = []
    code: list[bytes] = []
    for change in tree_changes(repository.object_store, parent.tree, commit.tree):
        before, after = (side.path if side is not None else None for side in (change.old, change.new))
        path = after or before
        assert path is not None, "a change has a path before or after"
        if not is_test(path):
            code.append(path)
        elif after is not None:
            tests.append(path)
    has_code = any(path.endswith(b".py") for path in code)
    if not has_code or not any(_RUN(path) for path in tests):
        return None
    return PastCommit(
        commit=commit.id.decode(),
        parent=parent.id.decode(),
        tree=commit.tree.decode(),
        parent_tree=parent.tree.decode(),
        message=commit.message.decode("utf-8", "replace"),
        tests=tuple(sorted(tests)),
        code=tuple(sorted(code)),
    )


def trees_of(past: PastCommit, objects: Path) -> CommitTrees:
    """The commit's trees, their contents in the git object directory `objects`.

    Raises `InputError` for submodules, links among the tests, and for what a partial copy of the repository lacks.
    """
    try:
        before, after = (_plain_modes(read_tree(objects, tree)) for tree in (past.parent_tree, past.tree))
    except UNREADABLE as error:
        raise InputError(f"a git object is missing or damaged: {error}") from error
    for tree in (before, after):
        _check_complete(tree, objects)
    tests = Tree(entries={path: after.entries[path] for path in past.tests}, stores=after.stores)
    links = [path for path, entry in tests.entries.items() if entry.mode == LINK]
    if links:
        raise InputError(f"{os.fsdecode(links[0])!r} is a symbolic link, which the tests of a dataset cannot be")
    kept = {path: entry for path, entry in before.entries.items() if path not in past.code}
    changed = {path: after.entries[path] for path in past.code if path in after.entries}
    return CommitTrees(before=before, tests=tests, solved=Tree(entries={**kept, **changed}, stores=after.stores))


def _plain_modes(tree: Tree) -> Tree:
    """With the modes that a task's tree has: old repositories hold others, such as that of a file a group may write."""
    entries = {path: Entry(_plain_mode(entry.mode), entry.blob) for path, entry in tree.entries.items()}
    return Tree(entries=entries, stores=tree.stores, fresh=tree.fresh)


def _plain_mode(mode: int) -> int:
    if not stat.S_ISREG(mode):
        return mode
    return PROGRAM if mode & stat.S_IXUSR else FILE


def _check_complete(tree: Tree, objects: Path) -> None:
    with closing(DiskObjectStore(objects)) as store:
        for path, entry in tree.entries.items():
            if S_ISGITLINK(entry.mode):
                raise InputError(f"{os.fsdecode(path)!r} is a submodule")
            if entry.blob not in store:
                raise InputError(f"the content of {os.fsdecode(path)!r} is missing")


def mine_commits(
    commits: Iterator[PastCommit],
    objects: Path,
    *,
    bench: TestBench,
    regression: Sequence[str],
    seconds: float,
    repetitions: int,
    measured: Measured,
    jobs: int,
) -> Iterator[MinedCommit]:
    """Run the changed tests, and those of `regression`, before and after each commit, `repetitions` times each.

    Raises `HostError` when tests cannot be run on this machine.
    """
    trial = _Trial(
        objects=objects,
        bench=bench,
        regression=tuple(regression),
        seconds=seconds,
        repetitions=repetitions,
        measured=measured,
    )
    yield from in_order(trial.of, commits, jobs, bench.cancelled)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    objects: Path
    bench: TestBench
    regression: tuple[str, ...]
    seconds: float
    repetitions: int
    measured: Measured

    def of(self, past: PastCommit) -> MinedCommit:
        known = self.measured.known(past.commit)
        if isinstance(known, dict):
            return _remembered(past, known)
        found = self._measure(past)
        self.measured.add(past.commit, _record(found))
        return found

    def _measure(self, past: PastCommit) -> MinedCommit:
        try:
            trees = trees_of(past, self.objects)
        except InputError as error:
            return MinedCommit(past=past, fate=Fate.NO_TREE, reason=str(error))
        states = {"before": trees.before.overlay(trees.tests), "after": trees.solved.overlay(trees.tests)}
        runs: dict[str, list[TestRun]] = {"before": [], "after": []}
        for number in range(self.repetitions):
            for name in ("after", "before"):
                run = self._run(past, states[name], f"{name}-{number}")
                if run.problem is not None and (name == "after" or not run.statuses):
                    return MinedCommit(past=past, fate=Fate.CANNOT_RUN, reason=f"{name} the commit: {run.problem}")
                runs[name].append(run)
            if not _always(runs["after"]) - _ever(runs["before"]):
                fate = Fate.UNSTABLE if number else Fate.PASSES_BEFORE
                return MinedCommit(past=past, fate=fate, reason="no changed test fails before and passes after")
        return _sorted(past, runs["before"], runs["after"])

    def _run(self, past: PastCommit, tree: Tree, name: str) -> TestRun:
        tests = tuple(dict.fromkeys((*past.selectors, *self.regression)))
        return self.bench.run(tree, tests, seconds=self.seconds, name=f"{past.commit[:_SHORT_ID]}-{name}")


def _always(runs: Sequence[TestRun]) -> frozenset[str]:
    return frozenset.intersection(*(run.passed for run in runs))


def _ever(runs: Sequence[TestRun]) -> frozenset[str]:
    return frozenset.union(*(run.passed for run in runs))


def _sorted(past: PastCommit, before: Sequence[TestRun], after: Sequence[TestRun]) -> MinedCommit:
    """Tests that are not the same every time, or do not pass after the commit, are among the others."""
    known = frozenset(name for run in after for name in run.statuses)
    target = _always(after) - _ever(before)
    regression = _always(after) & _always(before)
    return MinedCommit(
        past=past,
        fate=Fate.KEPT,
        fail_to_pass=tuple(sorted(target)),
        pass_to_pass=tuple(sorted(regression)),
        others=tuple(sorted(known - target - regression)),
    )


_LISTS = ("fail_to_pass", "pass_to_pass", "others")


def _record(found: MinedCommit) -> JsonValue:
    lists: dict[str, JsonValue] = {name: [*getattr(found, name)] for name in _LISTS}
    return {"fate": found.fate.value, "reason": found.reason, **lists}


def _remembered(past: PastCommit, known: dict[str, JsonValue]) -> MinedCommit:
    lists = {name: tuple(map(str, value)) for name in _LISTS if isinstance(value := known[name], list)}
    return MinedCommit(past=past, fate=Fate(str(known["fate"])), reason=str(known["reason"]), **lists)
