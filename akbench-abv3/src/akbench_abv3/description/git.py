"""What Git knows of a repository, read without running Git.

A foreign `.git` folder is hostile ground. Its configuration can make the git program execute
commands (filters, monitors, promisors), so the files are parsed by dulwich, with neither filters nor
hooks. They can also be pipes without a writer, include any file of the machine, or unpack to more
than there is memory, so the parsing happens in a process of its own with bounded time and memory,
and of a failure only the kind is told, never the text, which may quote a foreign file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from akbench_abv3.completed import GIT_TIMEOUT_SECONDS
from akbench_abv3.description.version import TagVersion
from akbench_abv3.reading.bounded import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["GitFacts", "git_facts", "is_ignored_by_git", "without_password"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFacts:
    """Commit, tag, origin and state of the work tree; each None where unknown.

    `unavailable` says why there is nothing. `changed` is one path that differs from the commit.
    """

    commit: str | None = None
    tag: TagVersion | None = None
    origin: str | None = None
    dirty: bool | None = None
    changed: str | None = None
    unavailable: str | None = None


def git_facts(root: Path, *, apart_from: tuple[str, ...] = ()) -> GitFacts:
    """Read the facts of the repository whose work tree is `root`; never raises for what it finds.

    `apart_from` are folders relative to the root whose changes do not make the tree dirty.
    """
    if not os.path.lexists(root / ".git"):
        return GitFacts(unavailable="not a Git repository")
    try:
        return _facts(_asked(root, {"apart_from": apart_from}))
    except UnreadableError as error:
        return GitFacts(unavailable=f"Git data cannot be read {error}")


def _asked(root: Path, question: dict[str, object]) -> dict[str, object]:
    try:
        done = subprocess.run(
            (sys.executable, "-P", "-m", "akbench_abv3.description.git_reader"),
            input=json.dumps({"root": os.fspath(root), **question}),
            capture_output=True,
            text=True,
            timeout=GIT_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableError(f"within {GIT_TIMEOUT_SECONDS:.0f} s") from error
    if done.returncode != 0:
        raise UnreadableError("(the reader died)")
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def _facts(document: dict[str, object]) -> GitFacts:
    tag = document.pop("tag", None)
    return GitFacts(tag=TagVersion(**tag) if isinstance(tag, dict) else None, **document)  # type: ignore[arg-type]


def without_password(url: str) -> str:
    """Return `url` without the user and password that it may carry."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(malformed URL)"
    if not parts.scheme or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def is_ignored_by_git(root: Path, name: str) -> bool:
    """Tell whether the file `name` in the root is ignored by Git and not tracked.

    Raises UnreadableError where the Git data cannot be read, which says neither.
    """
    if not os.path.lexists(root / ".git"):
        return False
    try:
        answer = _asked(root, {"is_ignored": name})
    except UnreadableError as error:
        raise UnreadableError(f"Git data cannot be read {error}") from error
    if answer["unavailable"] is not None:
        raise UnreadableError(str(answer["unavailable"]))
    return bool(answer["ignored"])
