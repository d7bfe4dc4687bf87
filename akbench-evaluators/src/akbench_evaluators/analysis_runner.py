"""Runs an analysis tool on the given and on the final tree and reports what it finds; for `StaticAnalysis`.

The tool is configured by the given tree alone. It runs as a child whose output goes to this process: what it finds
counts, its exit code does not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from akbench_evaluators.findings import LARGEST_SOURCE, UnreadableError, read_findings, suppressions, unseen
from akbench_evaluators.hiding import hide_this_process
from akbench_evaluators.signed_report import ReportWriter

__all__ = ["main", "restore_configuration", "tool_output"]

_MOST_FINDINGS = 5_000
_LONGEST_TEXT = 300
_LONGEST_MESSAGE = 1_000
_OUTPUT = "{output}"


def main() -> None:
    """Analyse the trees that the settings file, the only argument, names."""
    settings = json.loads(Path(sys.argv[1]).read_bytes())
    report = ReportWriter(settings["report_fd"])
    hide_this_process()
    report.write("started")
    given, final = settings["given"], settings["workspace"]
    restored = restore_configuration(Path(given), Path(final), frozenset(settings["configuration"]))
    report.write("configuration", restored=restored[:_MOST_FINDINGS])
    for tree, root in (("given", given), ("final", final)):
        _analyse(report, settings, tree, root)
    report.write("ended")


def restore_configuration(given: Path, final: Path, names: frozenset[str]) -> list[str]:
    """Put the tool's configuration in `final` back to how it was given; the paths where the agent had changed it."""
    wanted = {path for root in (given, final) for path in _named(root, names)}
    changed = []
    for path in sorted(wanted):
        source, target = given / path, final / path
        if _content(source) == _content(target):
            continue
        changed.append(path)
        _remove(target)
        if source.is_file() and not source.is_symlink():
            _make_folder(final, target.parent)
            target.write_bytes(source.read_bytes())
    return changed


def _named(root: Path, names: frozenset[str]) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        for name in (*files, *folders):
            if name in names:
                yield (Path(folder) / name).relative_to(root).as_posix()


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _make_folder(root: Path, folder: Path) -> None:
    """The folder, in place of whatever the agent put there; no link is followed."""
    for place in reversed((folder, *folder.parents)):
        if place.is_relative_to(root) and place != root and (place.is_symlink() or not place.is_dir()):
            place.unlink(missing_ok=True)
            place.mkdir()


def _analyse(report: ReportWriter, settings: dict[str, Any], tree: str, root: str) -> None:
    output, problem = tool_output(settings, tree, root)
    found: list[dict[str, Any]] = []
    if problem is None:
        try:
            found = list(read_findings(output, settings["format"], root))
        except UnreadableError as error:
            problem = str(error)
    found += _suppressions(root, settings["paths"])
    for finding in found[:_MOST_FINDINGS]:
        message = finding["message"][:_LONGEST_MESSAGE]
        report.write("finding", tree=tree, text=_line(root, finding), **{**finding, "message": message})
    report.write("analysed", tree=tree, problem=problem, left_out=max(0, len(found) - _MOST_FINDINGS))


def tool_output(settings: dict[str, Any], tree: str, root: str) -> tuple[str, str | None]:
    """What the tool wrote, and why that cannot be used."""
    place = Path(settings["tmp"], f"analysis-{tree}")
    argv = [str(place) if word == _OUTPUT else word.replace(_OUTPUT, str(place)) for word in settings["command"]]
    try:
        done = subprocess.run(argv, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        return "", f"it could not be started: {error}"
    content = done.stdout
    if argv != settings["command"]:
        content = place.read_bytes() if place.is_file() else b""
    text = content.decode("utf-8", "replace")
    if settings["whole_exit_codes"] and done.returncode not in settings["whole_exit_codes"]:
        return "", f"it gave up (exit code {done.returncode}): {_last_line(done.stderr, done.stdout)}"
    if not text.strip() and done.returncode not in settings["silent_exit_codes"]:
        return "", f"it wrote nothing (exit code {done.returncode}): {_last_line(done.stderr)}"
    return text, None


def _last_line(*outputs: bytes) -> str:
    said = next((lines for each in outputs if (lines := each.decode("utf-8", "replace").strip().splitlines())), None)
    return said[-1][:200] if said else "no message"


def _suppressions(root: str, places: list[str]) -> list[dict[str, Any]]:
    """What keeps a tool from telling all, in the files and folders that it is to analyse."""
    found: list[dict[str, Any]] = []
    for path in sorted({file for place in places for file in _files(Path(root, place))}):
        if path.resolve().is_relative_to(Path(root).resolve()):
            relative, content = path.relative_to(root).as_posix(), path.read_bytes()
            found += unseen(content, relative, beside=frozenset(each.name for each in path.parent.iterdir()))
            if len(content) <= LARGEST_SOURCE:
                found += suppressions(content.decode("utf-8", "replace"), relative)
    return found


def _files(place: Path) -> Iterator[Path]:
    """Regular files, and those that a link stands for: tools read them under its name."""
    if place.is_file():
        yield place
    for folder, _, names in os.walk(place):
        yield from (path for path in (Path(folder) / name for name in names) if path.is_file())


def _line(root: str, finding: dict[str, Any]) -> str:
    """The line that a finding is about, without its indentation; it stays the same where lines above it come or go."""
    path = Path(root, finding["file"])
    if not finding["file"] or not path.is_file() or path.stat().st_size > LARGEST_SOURCE:
        return ""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    number = finding["line"]
    return lines[number - 1].strip()[:_LONGEST_TEXT] if 0 < number <= len(lines) else ""
