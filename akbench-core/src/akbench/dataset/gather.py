"""Files gathered into a tree, from wherever: bounds, and a word on everything unusual that was met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from dulwich.objects import ObjectID

from akbench.dataset.names import LinkFate, follow, name_flaw, oddly_named
from akbench.dataset.tree import LINK, Entry, Tree, blob_id

__all__ = ["NOISE", "Caps", "CapsReached", "Gathered", "Gatherer", "Oddity", "OddityKind", "in_memory"]

NOISE = frozenset(
    {
        b"__pycache__",
        b".cache",
        b".hypothesis",
        b".ipynb_checkpoints",
        b".mypy_cache",
        b".nox",
        b".pytest_cache",
        b".ruff_cache",
        b".tox",
        b".venv",
        b"node_modules",
    }
)
"""Folders, wherever they lie, that programs leave behind as they run: caches and installed packages, no one's work."""


class OddityKind(StrEnum):
    """What was unusual. `TOO_MUCH` ends the gathering: what would have come after it is not in the tree."""

    ESCAPING_LINK = "escaping_link"
    NESTED_REPOSITORY = "nested_repository"
    HARD_LINK = "hard_link"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"
    HUGE_FILE = "huge_file"
    UNREADABLE = "unreadable"
    HOSTILE_NAME = "hostile_name"
    STRANGE_NAME = "strange_name"
    TOO_DEEP = "too_deep"
    SUBMODULE = "submodule"
    LFS_POINTER = "lfs_pointer"
    TOO_MUCH = "too_much"


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """One unusual thing: where it was met and what it is; `kept` says whether it is in the tree all the same."""

    path: bytes
    kind: OddityKind
    kept: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Bounds of what is gathered: files (count), one file and all files (bytes), folders within folders (count)."""

    files: int = 50_000
    file_bytes: int = 32 << 20
    total_bytes: int = 1 << 30
    depth: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The tree, and what was unusual. `complete` is False when a bound on count or size ended the gathering."""

    tree: Tree
    oddities: tuple[Oddity, ...]
    complete: bool = True


class CapsReached(Exception):  # noqa: N818 - a signal within the gathering, not an error of anyone
    """Nothing more is taken."""


class Gatherer:
    """Takes files one by one; `keep` stores a content and returns its id."""

    def __init__(self, *, caps: Caps, keep: Callable[[bytes], ObjectID]) -> None:
        self.caps = caps
        self.oddities: list[Oddity] = []
        self.entries: dict[bytes, Entry] = {}
        self._links: dict[bytes, bytes] = {}
        self._keep = keep
        self._bytes = 0

    def note(self, path: bytes, kind: OddityKind, detail: str, *, kept: bool = False) -> None:
        """Record something unusual."""
        self.oddities.append(Oddity(path=path, kind=kind, kept=kept, detail=detail))

    def admits(self, path: bytes) -> bool:
        """Whether the name may be in a tree; records it if not, or if it is strange."""
        flaw = name_flaw(path)
        if flaw is not None:
            self.note(path, OddityKind.HOSTILE_NAME, flaw)
        elif oddly_named(path):
            self.note(path, OddityKind.STRANGE_NAME, "not printable UTF-8", kept=True)
        return flaw is None

    def fits(self, path: bytes, size: int) -> bool:
        """Whether a file of `size` bytes may be read; records it if not. Raises `CapsReached` when all is full."""
        if size > self.caps.file_bytes:
            self.note(path, OddityKind.HUGE_FILE, f"{size} bytes; the bound is {self.caps.file_bytes}")
            return False
        if len(self.entries) >= self.caps.files:
            self._full(path, f"more than {self.caps.files} files")
        if self._bytes + size > self.caps.total_bytes:
            self._full(path, f"more than {self.caps.total_bytes} bytes in all")
        return True

    def _full(self, path: bytes, detail: str) -> None:
        self.note(path, OddityKind.TOO_MUCH, detail)
        raise CapsReached

    def add(self, path: bytes, mode: int, content: bytes) -> None:
        """Take a file, or a link with its target as content."""
        self._bytes += len(content)
        self.entries[path] = Entry(mode, self._keep(content))
        self._links.pop(path, None)
        if mode == LINK:
            self._links[path] = content

    def judge_links(self, *, keep_escaping: bool) -> None:
        """Once all is taken: record the links that lead out of the tree, and drop them unless they are kept."""
        for path, target in self._links.items():
            if follow(path, self._links) is LinkFate.OUTSIDE:
                detail = "leads out of the tree, to " + target.decode("utf-8", "backslashreplace")
                self.note(path, OddityKind.ESCAPING_LINK, detail, kept=keep_escaping)
                if not keep_escaping:
                    del self.entries[path]


def in_memory() -> tuple[Mapping[ObjectID, bytes], Callable[[bytes], ObjectID]]:
    """A place for contents in memory, and the function that keeps one there."""
    contents: dict[ObjectID, bytes] = {}

    def keep(content: bytes) -> ObjectID:
        blob = blob_id(content)
        contents[blob] = content
        return blob

    return contents, keep
