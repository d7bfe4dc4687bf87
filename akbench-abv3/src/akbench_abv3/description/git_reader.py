"""The process that reads a foreign `.git` folder; see `akbench_abv3.description.git`.

Takes the root as JSON on standard input and prints the facts as JSON, or whether the file `is_ignored` is ignored.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import sys
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from akbench_abv3.completed import (
    GIT_MEMORY_BYTES,
    GIT_TIMEOUT_SECONDS,
    MAX_GIT_COMMITS,
    MAX_HASHED_BYTES,
)
from akbench_abv3.description.git import GitFacts, without_password
from akbench_abv3.description.version import version_of_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dulwich.index import ConflictedIndexEntry, IndexEntry
    from dulwich.objects import Commit, ObjectID
    from dulwich.repo import Repo


def main() -> None:
    """Read, and print what was found or what kind of error stood in the way."""
    request = json.loads(sys.stdin.read())
    _bound(resource.RLIMIT_AS, GIT_MEMORY_BYTES)
    _bound(resource.RLIMIT_CPU, int(GIT_TIMEOUT_SECONDS))
    signal.alarm(int(GIT_TIMEOUT_SECONDS) + 1)  # waiting costs no CPU time, and who started this may be gone
    try:
        answer = _answer(request)
    except Exception as error:  # noqa: BLE001 - a foreign .git may break any parser at any point; the kind is kept
        answer = asdict(GitFacts(unavailable=f"Git data cannot be read ({type(error).__name__})"))
    sys.stdout.write(json.dumps(answer))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    root = Path(request["root"])
    if "is_ignored" in request:
        return {"ignored": _is_ignored(root, request["is_ignored"]), "unavailable": None}
    return asdict(_read(root, tuple(request["apart_from"])))


def _is_ignored(root: Path, name: str) -> bool:
    from dulwich.ignore import IgnoreFilterManager
    from dulwich.repo import Repo

    with Repo(os.fspath(root)) as repository:
        is_tracked = os.fsencode(name) in repository.open_index()
        return bool(IgnoreFilterManager.from_repo(repository).is_ignored(name)) and not is_tracked


def _bound(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    lowest = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (lowest, hard))


def _read(root: Path, apart_from: tuple[str, ...]) -> GitFacts:
    from dulwich.repo import Repo

    with Repo(os.fspath(root)) as repository:
        commit = _head(repository)
        changed = next(_changed_paths(repository, apart_from), None)
        return GitFacts(
            commit=commit.decode("ascii") if commit else None,
            tag=version_of_tags(_reachable_tags(repository, commit)) if commit else None,
            origin=_origin(repository),
            dirty=changed is not None,
            changed=changed,
        )


def _head(repository: Repo) -> ObjectID | None:
    try:
        return repository.head()
    except KeyError:  # no commit yet
        return None


def _origin(repository: Repo) -> str | None:
    try:
        url = repository.get_config().get((b"remote", b"origin"), b"url")
    except KeyError:
        return None
    return without_password(url.decode("utf-8", "replace"))


def _reachable_tags(repository: Repo, head: ObjectID) -> Iterator[tuple[int, str]]:
    from dulwich.refs import Ref

    tags: dict[bytes, list[str]] = {}
    for name, target in repository.refs.as_dict(Ref(b"refs/tags")).items():
        tags.setdefault(_commit_of(repository, target), []).append(name.decode("utf-8", "replace"))
    if not tags:
        return
    for distance, commit in _ancestry(repository, head):
        for tag in tags.get(commit, ()):
            yield distance, tag


def _commit_of(repository: Repo, target: bytes) -> bytes:
    from dulwich.objects import Tag

    for _ in range(10):  # a tag may name a tag
        found = repository[target]
        if not isinstance(found, Tag):
            break
        target = found.object[1]
    return target


def _ancestry(repository: Repo, head: ObjectID) -> Iterator[tuple[int, ObjectID]]:
    waiting, seen = deque([(0, head)]), {head}
    while waiting and len(seen) <= MAX_GIT_COMMITS:
        distance, commit = waiting.popleft()
        yield distance, commit
        for parent in repository.get_parents(commit):
            if parent not in seen:
                seen.add(parent)
                waiting.append((distance + 1, parent))


def _changed_paths(repository: Repo, apart_from: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths that differ from HEAD: staged, changed and untracked, ignored ones left out."""
    for path in _every_change(repository):
        if not any(folder and f"{path}/".startswith(f"{folder}/") for folder in apart_from):
            yield path


def _every_change(repository: Repo) -> Iterator[str]:
    index = repository.open_index()
    head = _head(repository)
    tree = cast("Commit", repository[head]).tree if head else None
    for (old, new), _, _ in index.changes_from_tree(repository.object_store, tree):
        yield os.fsdecode(new or old or b"")
    index_time = Path(os.fsdecode(repository.index_path())).stat().st_mtime if index else 0.0
    base = Path(os.fsdecode(repository.path))
    for path, entry in index.items():
        if _differs(base / os.fsdecode(path), entry, index_time):
            yield os.fsdecode(path)
    yield from _untracked(repository, set(index))


def _differs(path: Path, entry: IndexEntry | ConflictedIndexEntry, index_time: float) -> bool:
    from dulwich.index import ConflictedIndexEntry
    from dulwich.objects import S_ISGITLINK

    if isinstance(entry, ConflictedIndexEntry):
        return True
    if S_ISGITLINK(entry.mode):
        return False
    try:
        facts = path.lstat()
    except OSError:
        return True
    if stat.S_IFMT(facts.st_mode) != stat.S_IFMT(entry.mode) or facts.st_size % 2**32 != entry.size:
        return True
    is_untouched = _seconds(entry.mtime) == facts.st_mtime_ns // 10**9 and facts.st_mtime < index_time
    return not is_untouched and _has_other_content(path, facts, entry)


def _has_other_content(path: Path, facts: os.stat_result, entry: IndexEntry) -> bool:
    from dulwich.objects import Blob

    if facts.st_size > MAX_HASHED_BYTES:
        return True  # a false alarm is safer than reading without bound
    content = os.fsencode(path.readlink()) if stat.S_ISLNK(facts.st_mode) else path.read_bytes()
    return Blob.from_string(content).id != entry.sha


def _seconds(time: float | tuple[int, int]) -> int:
    return time[0] if isinstance(time, tuple) else int(time)


def _untracked(repository: Repo, tracked: set[bytes]) -> Iterator[str]:
    from dulwich.ignore import IgnoreFilterManager

    ignored = IgnoreFilterManager.from_repo(repository)
    base = repository.path
    for folder, folders, files in os.walk(base):
        inner = os.path.relpath(folder, base)
        prefix = "" if inner == "." else f"{inner}/"
        folders[:] = [name for name in folders if name != ".git" and not ignored.is_ignored(f"{prefix}{name}/")]
        for name in files:
            path = f"{prefix}{name}"
            if os.fsencode(path) not in tracked and path != ".git" and not ignored.is_ignored(path):
                yield path


if __name__ == "__main__":
    main()
