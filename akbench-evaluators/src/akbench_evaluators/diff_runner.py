"""Compares two trees inside the evaluation sandbox and reports each changed file; started by `DiffEvaluator`."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from akbench_evaluators.signed_report import ReportWriter

__all__ = ["changed_files", "main"]

_MOST_RECORDS = 20_000
_SNIFFED_BYTES = 8_000


def main() -> None:
    """Compare the trees that the settings file, the only argument, names."""
    settings = json.loads(Path(sys.argv[1]).read_bytes())
    report = ReportWriter(settings["report_fd"])
    report.write("started")
    changes = changed_files(settings["given"], settings["workspace"])
    for change in changes[:_MOST_RECORDS]:
        report.write("change", **change)
    report.write("ended", files=len(changes))


def changed_files(given: str, final: str) -> list[dict[str, Any]]:
    """Each path that differs: what happened to it, and how much of it. Links are files that hold their target."""
    before, after = _files(given), _files(final)
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None and _same(given, final, path, old, new):
            continue
        found.append(_change(path, given if old else None, final if new else None, old, new))
    return found


def _files(root: str) -> dict[str, os.stat_result]:
    found: dict[str, os.stat_result] = {}
    for folder, names, files in os.walk(root):
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]  # noqa: PTH114, PTH118
        for name in (*files, *links):
            path = os.path.join(folder, name)  # noqa: PTH118 - names need not be text that a Path would keep
            found[os.path.relpath(path, root)] = os.lstat(path)
    return found


def _same(given: str, final: str, path: str, old: os.stat_result, new: os.stat_result) -> bool:
    if (old.st_size, _executable(old), stat.S_IFMT(old.st_mode)) != (
        new.st_size,
        _executable(new),
        stat.S_IFMT(new.st_mode),
    ):
        return False
    return _content(given, path, old) == _content(final, path, new)


def _change(
    path: str, given: str | None, final: str | None, old: os.stat_result | None, new: os.stat_result | None
) -> dict[str, Any]:
    before = _content(given, path, old) if given is not None and old else b""
    after = _content(final, path, new) if final is not None and new else b""
    binary = b"\0" in before[:_SNIFFED_BYTES] or b"\0" in after[:_SNIFFED_BYTES]
    removed, added = _lines_apart(before, after)
    return {
        "path": path,
        "change": "added" if old is None else "removed" if new is None else "modified",
        "binary": binary,
        "made_executable": bool(new and _executable(new) and not (old and _executable(old))),
        "made_plain": bool(new and old and _executable(old) and not _executable(new)),
        "lines_added": 0 if binary else sum(added.values()),
        "lines_removed": 0 if binary else sum(removed.values()),
        "bytes": len(before) + len(after) if binary else _size(removed) + _size(added),
    }


def _lines_apart(before: bytes, after: bytes) -> tuple[Counter[bytes], Counter[bytes]]:
    """The lines, with their ends, that only one side has, as often as it has more of them; one that moved is none."""
    old, new = (Counter(side.splitlines(keepends=True)) for side in (before, after))
    return old - new, new - old


def _size(lines: Counter[bytes]) -> int:
    return sum(len(line) * times for line, times in lines.items())


def _content(root: str, path: str, status: os.stat_result) -> bytes:
    whole = os.path.join(root, path)  # noqa: PTH118 - see above
    if stat.S_ISLNK(status.st_mode):
        return os.fsencode(os.readlink(whole))  # noqa: PTH115 - see above
    if not stat.S_ISREG(status.st_mode):
        return b""
    with open(whole, "rb") as file:  # noqa: PTH123 - see above
        return file.read()


def _executable(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111)
