"""Where each page of the report lies, and how one page leads to another from ``file://``."""

from __future__ import annotations

import hashlib
import os
import posixpath
import string
from collections.abc import Sequence
from pathlib import Path, PurePath
from urllib.parse import quote

__all__ = ["OPENABLE", "Place", "anchor", "segment"]

_PLAIN = frozenset(string.ascii_letters + string.digits + "-_.")

LONGEST = 120
"""Characters of a folder name; file systems allow 255 bytes, and some tools fewer for the whole path."""

OPENABLE = frozenset(
    {".csv", ".diff", ".json", ".jsonl", ".log", ".md", ".patch", ".png", ".toml", ".txt", ".yaml", ".yml"}
)
"""Suffixes of artifacts that a browser shows without executing anything in them; agents write what they like."""


def segment(identifier: str) -> str:
    """`identifier` as one folder name: no separators, nothing hidden, distinct for distinct identifiers."""
    plain = _escaped(identifier) or "~"
    if plain.startswith("."):
        plain = f"~2e~{plain[1:]}"
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 34]}~~{_digest(identifier)}"


def _escaped(text: str) -> str:
    return "".join(char if char in _PLAIN else f"~{ord(char):x}~" for char in text)


def _digest(identifier: str) -> str:
    return hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def anchor(*parts: str) -> str:
    """An element id made of `parts`, without spaces; ``anchor("a", "b")`` is ``anchor("a-b")``."""
    return _escaped("-".join(parts).replace(" ", "_"))


class Place:
    """One page, from which addresses of others are relative.

    `path` is the page's own, below the report folder `root`, with forward slashes.
    """

    def __init__(self, path: str, root: Path) -> None:
        self.path = path
        self.root = root

    def to(self, path: str, fragment: str = "") -> str:
        """The relative URL of another page or asset of the report."""
        relative = posixpath.relpath(path, posixpath.dirname(self.path) or ".")
        return quote(relative) + (f"#{quote(fragment)}" if fragment else "")

    def experiment(self, experiment_id: str, fragment: str = "") -> str:
        """The URL of an experiment's page."""
        return self.to(experiment_page(experiment_id), fragment)

    def task(self, task_id: str, fragment: str = "") -> str:
        """The URL of a task's page."""
        return self.to(task_page(task_id), fragment)

    def run(self, experiment_id: str, run_id: str, fragment: str = "") -> str:
        """The URL of a run's page."""
        return self.to(run_page(experiment_id, run_id), fragment)

    def file(self, path: Path) -> str | None:
        """The relative URL of a stored file; None if opening it could execute what an agent wrote."""
        if PurePath(path).suffix.lower() not in OPENABLE:
            return None
        # The folder is resolved because the root is: across a symbolic link a relative path would go astray.
        relative = os.path.relpath(path.parent.resolve() / path.name, self.root / posixpath.dirname(self.path))
        return quote(PurePath(relative).as_posix(), errors="surrogateescape")


def experiment_page(experiment_id: str) -> str:
    """The path of an experiment's page."""
    return f"experiments/{segment(experiment_id)}/index.html"


def task_page(task_id: str) -> str:
    """The path of a task's page."""
    return f"tasks/{segment(task_id)}/index.html"


def run_page(experiment_id: str, run_id: str) -> str:
    """The path of a run's page."""
    return f"runs/{segment(experiment_id)}/{segment(run_id)}/index.html"


def listing_page(kind: str, key: Sequence[str]) -> str:
    """The path of the page that lists the runs behind a row of the dashboard."""
    return f"{kind}/{segment('_'.join(part.replace('_', '__') for part in key))}/index.html"
