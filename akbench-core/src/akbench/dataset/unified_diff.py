"""Unified diffs of one file, applied exactly or not at all: no offset, no fuzz."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from akbench.spec import InputError

__all__ = ["Hunk", "apply_hunks", "parse_hunks"]

_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FILE_HEAD = re.compile(r"(--- |\+\+\+ |diff --git |index )")
_NO_END = "\\ No newline at end of file"
_BEFORE, _AFTER = ("", " ", "-"), ("", " ", "+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One part of a diff: the first line it stands for (from 1), and its lines with their signs, without endings.

    - `changed`: the lines of the old file that go or that something new comes after.
    - `ended_before`, `ended_after`: whether the last line of each side has an ending.
    """

    start: int
    lines: tuple[str, ...]
    changed: tuple[int, ...]
    ended_before: bool = True
    ended_after: bool = True

    @property
    def before(self) -> tuple[str, ...]:
        """The lines that must be there."""
        return tuple(line[1:] for line in self.lines if line[:1] in _BEFORE)

    @property
    def after(self) -> tuple[str, ...]:
        """The lines that take their place."""
        return tuple(line[1:] for line in self.lines if line[:1] in _AFTER)


def parse_hunks(diff: str) -> tuple[Hunk, ...]:
    """The hunks of the unified diff of one file; heads that name files are passed over.

    Raises `InputError` naming the line of `diff` that does not fit.
    """
    lines = diff.removesuffix("\n").split("\n")
    heads = [at for at, line in enumerate(lines) if _HEAD.match(line)]
    for at, line in enumerate(lines[: heads[0]] if heads else lines):
        if not _FILE_HEAD.match(line):
            raise InputError(f"line {at + 1} of the patch, {line!r}, is no head of a hunk (@@ -1,3 +1,3 @@)")
    if not heads:
        raise InputError("the patch has no hunk; write a unified diff that begins with @@ -line,count +line,count @@")
    return tuple(_hunk(lines, at, end) for at, end in zip(heads, [*heads[1:], len(lines)], strict=True))


def _hunk(lines: Sequence[str], at: int, end: int) -> Hunk:
    head = _HEAD.match(lines[at])
    assert head is not None, "hunks are found by their heads"
    start, olds, _, news = (1 if number is None else int(number) for number in head.groups())
    body = lines[at + 1 : end]
    _check_signs(body, at + 2)
    unended = {body[index - 1][:1] for index, line in enumerate(body) if line == _NO_END}
    kept = [line for line in body if line != _NO_END]
    # A hunk that takes no line counts from the line before it.
    first = start if olds else start + 1
    hunk = Hunk(
        start=first,
        lines=tuple(kept),
        changed=tuple(_changed_lines(kept, first)),
        ended_before=unended.isdisjoint(_BEFORE),
        ended_after=unended.isdisjoint(_AFTER),
    )
    if (len(hunk.before), len(hunk.after)) != (olds, news) or not hunk.changed:
        raise InputError(
            f"the hunk at line {at + 1} of the patch says {olds} lines before and {news} after, "
            f"but has {len(hunk.before)} and {len(hunk.after)}, {len(hunk.changed)} of them changed"
        )
    return hunk


def _check_signs(body: Sequence[str], first: int) -> None:
    for number, line in enumerate(body, start=first):
        if line[:1] not in (*_BEFORE, *_AFTER) and line != _NO_END:
            raise InputError(f"line {number} of the patch, {line!r}, begins with neither ' ', '+' nor '-'")


def _changed_lines(kept: Sequence[str], first: int) -> Iterator[int]:
    """For each line that goes: its number; for each that comes: the number of the old line it comes after."""
    number = first
    for line in kept:
        if line[:1] in {"-", "+"}:
            yield number if line[:1] == "-" else max(number - 1, 1)
        number += line[:1] in _BEFORE


def apply_hunks(content: str, hunks: Sequence[Hunk], *, file: str) -> str:
    """`content` with all `hunks` applied. New lines end like the file's first line, kept ones as they did.

    Raises `InputError` with ``file:line`` where the file is not what the patch expects.
    """
    lines = _LINE.findall(content)
    ending = _ending(lines[0]) if lines else "\n"
    done: list[str] = []
    at = 0
    for hunk in hunks:
        begin = hunk.start - 1
        if begin < at or begin > len(lines):
            raise InputError("the hunks overlap, are out of order, or begin after the file's end", place=file)
        _compare(lines, hunk, file)
        done += lines[at:begin]
        done += _rewritten(lines[begin : begin + len(hunk.before)], hunk, ending or "\n")
        at = begin + len(hunk.before)
    return "".join([*done, *lines[at:]])


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _compare(lines: Sequence[str], hunk: Hunk, file: str) -> None:
    for offset, expected in enumerate(hunk.before):
        number = hunk.start + offset
        found = lines[number - 1].rstrip("\r\n") if number <= len(lines) else None
        if found != expected:
            there = "the file ends before it" if found is None else f"the line is {found!r}"
            raise InputError(f"the patch expects {expected!r}, but {there}", place=f"{file}:{number}")
    last = hunk.start + len(hunk.before) - 1
    if hunk.before and bool(_ending(lines[last - 1])) != hunk.ended_before:
        raise InputError("the patch and the file differ in whether a line break ends the file", place=f"{file}:{last}")


def _rewritten(old: Sequence[str], hunk: Hunk, ending: str) -> Iterator[str]:
    """The lines after: kept ones as they were, with their own endings."""
    number = 0
    left = len(hunk.after)
    for line in hunk.lines:
        left -= line[:1] in _AFTER
        if line[:1] == "+":
            yield line[1:] if left == 0 and not hunk.ended_after else line[1:] + ending
        else:
            if line[:1] != "-":
                yield old[number]
            number += 1
