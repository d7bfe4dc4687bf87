"""A unified diff, line by line, for showing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Diff", "DiffFile", "DiffLine", "read_diff"]

_IN_HUNK = ("", " ", "+", "-", "\\")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """`kind` is ``header``, ``hunk``, ``added``, ``removed`` or ``context``; `left_out` counts characters cut off."""

    kind: str
    text: str
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFile:
    """The part of a diff that changes one file; `title` is the path, or both where it differs."""

    title: str
    lines: tuple[DiffLine, ...]

    @property
    def added(self) -> int:
        """Lines added."""
        return sum(line.kind == "added" for line in self.lines)

    @property
    def removed(self) -> int:
        """Lines removed."""
        return sum(line.kind == "removed" for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """A diff for showing; `is_cut` says that more of it exists than is here."""

    files: tuple[DiffFile, ...]
    is_cut: bool


def read_diff(text: str, *, lines: int, columns: int, is_cut: bool = False) -> Diff:
    """Classify the first `lines` lines of `text`, each cut after `columns` characters."""
    every = text.removesuffix("\n").split("\n") if text else []
    shown = [_cut(line, columns) for line in _classify(every[:lines])]
    return Diff(files=tuple(_files(shown)), is_cut=is_cut or len(every) > lines)


def _classify(lines: list[str]) -> Iterator[DiffLine]:
    """Follow the hunks' own line counts, so that a removed ``-- x`` is not taken for a header."""
    old = new = 0
    for line in lines:
        if hunk := _HUNK.match(line):
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
            yield DiffLine(kind="hunk", text=line)
            continue
        inside = (old > 0 or new > 0) and line[:1] in _IN_HUNK
        kind = _kind(line) if inside else "header"
        if not inside:
            old = new = 0
        old -= kind in {"removed", "context"}
        new -= kind in {"added", "context"}
        yield DiffLine(kind=kind, text=line)


def _kind(line: str) -> str:
    return {"+": "added", "-": "removed", "\\": "header"}.get(line[:1], "context")


def _cut(line: DiffLine, columns: int) -> DiffLine:
    if len(line.text) <= columns:
        return line
    return DiffLine(kind=line.kind, text=line.text[:columns], left_out=len(line.text) - columns)


def _files(lines: list[DiffLine]) -> Iterator[DiffFile]:
    start = 0
    for index in range(1, len(lines) + 1):
        if index == len(lines) or _starts_file(lines[index]):
            yield _file(lines[start:index])
            start = index


def _starts_file(line: DiffLine) -> bool:
    return line.kind == "header" and line.text.startswith("diff --git ")


def _file(lines: list[DiffLine]) -> DiffFile:
    if not _starts_file(lines[0]):
        return DiffFile(title="", lines=tuple(lines))
    return DiffFile(title=_title(lines[0].text.removeprefix("diff --git ")), lines=tuple(lines[1:]))


def _title(names: str) -> str:
    """The file's path where both names are the same (``a/x b/x``), else both as they are."""
    middle = len(names) // 2
    old, new = names[:middle], names[middle + 1 :]
    return old[2:] if old[:2] == "a/" and new == f"b/{old[2:]}" else names
