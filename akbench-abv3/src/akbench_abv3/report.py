"""A check told to a person, line by line, and to a program as JSON. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.finding import Finding, Severity
from akbench_abv3.stated import DESCRIPTION_FILE
from akbench_abv3.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akbench_abv3.check import Checked

__all__ = ["Row", "check_document", "check_rows", "check_summary", "check_title", "passes_check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the report: PASS, FAIL or WARN, a code, the place, the text."""

    verdict: str
    code: str = ""
    place: str
    text: str

    def line(self, width: int) -> str:
        """Return the line with the place in a column of `width` characters."""
        return f"{self.verdict} {self.code:4}  {visible(self.place):{width}}  {visible(self.text)}".rstrip()


def check_title(checked: Checked) -> str:
    """Return the report's first line."""
    repo = checked.manifest.repo if checked.manifest else None
    known = [repo.name or "?", checked.version or "?", f"({repo.role or '?'})"] if repo else []
    return visible(" ".join((f"ABV3 L{checked.level} check:", *known, "in", str(checked.root))))


def check_rows(checked: Checked) -> Iterator[Row]:
    """Yield the lines: what is in order, then what is not, group by group."""
    passes = dict(_passes(checked))
    by_label: dict[str, list[Finding]] = {label: [] for label in passes}
    for finding in checked.findings:
        by_label.setdefault(finding.label, []).append(finding)
    for label in sorted(by_label, key=_rank):
        found = by_label[label]
        if label in passes and not any(one.severity is Severity.ERROR for one in found):
            yield Row(verdict="PASS", place=label, text=passes[label])
        for finding in found:
            yield _row(finding)


def check_summary(checked: Checked, *, strict: bool = False) -> str:
    """Return the report's last line."""
    errors = sum(finding.severity is Severity.ERROR for finding in checked.findings)
    warnings = len(checked.findings) - errors
    verdict = "PASS" if passes_check(checked, strict=strict) else "FAIL"
    return f"Result: {verdict} ({_counted(errors, 'error')}, {_counted(warnings, 'warning')})"


def passes_check(checked: Checked, *, strict: bool) -> bool:
    """Tell whether the check passes; `strict` counts warnings as failures."""
    return checked.is_ok and not (strict and checked.findings)


def check_document(checked: Checked, *, strict: bool = False) -> dict[str, object]:
    """Return the check as JSON-ready values."""
    return {
        "level": checked.level,
        "ok": passes_check(checked, strict=strict),
        "repo": _repo_document(checked),
        "findings": [
            {"code": one.code, "severity": str(one.severity), "where": one.where, "message": one.message}
            for one in checked.findings
        ],
    }


def _repo_document(checked: Checked) -> dict[str, object]:
    repo = checked.manifest.repo if checked.manifest else None
    git = checked.git
    return {
        "path": str(checked.root),
        "name": repo.name if repo else None,
        "role": repo.role if repo else None,
        "author": repo.author if repo else None,
        "version": checked.version,
        "version_source": checked.version_source or None,
        "tags": list(repo.tags or ()) if repo else [],
        "logo_file": repo.logo_file if repo else None,
        "git": {
            "commit": git.commit,
            "tag": git.tag.tag if git.tag else None,
            "commits_beyond_tag": git.tag.distance if git.tag else None,
            "dirty": git.dirty,
            "origin": git.origin,
            "unavailable": git.unavailable,
        },
        "dependencies": [
            {
                "name": one.name,
                "kind": str(one.kind),
                "required": one.required,
                "variables": list(one.variables),
            }
            for one in checked.dependencies
        ],
        "experiments": {one.name: [run.name for run in one.runs] for one in checked.experiments},
    }


def _row(finding: Finding) -> Row:
    verdict = "FAIL" if finding.severity is Severity.ERROR else "WARN"
    return Row(verdict=verdict, code=finding.code, place=finding.label, text=finding.text)


def _passes(checked: Checked) -> Iterator[tuple[str, str]]:
    manifest = checked.manifest
    if manifest is None:
        return
    yield DESCRIPTION_FILE, "read"
    if manifest.repo is not None:
        given = [name for name, value in manifest.repo if value is not None]
        source = "" if manifest.repo.version else f"; version {checked.version} from {checked.version_source}"
        yield "[abv3_repo]", f"{' '.join(given)}{source}"
    if manifest.run is not None:
        yield "[run]", "command"
    if manifest.install is not None:
        yield "[install]", "command" if manifest.install.command else "nothing to install"
    for one in checked.dependencies:
        need = "required" if one.required else "optional"
        yield f"[dependency.{one.name}]", " ".join((need, one.kind, *one.variables))
    yield "[run_configs]", _configs_text(checked)
    if checked.results_folder:
        yield "[results]", checked.results_folder


def _configs_text(checked: Checked) -> str:
    if checked.manifest is not None and checked.manifest.run_configs is None:
        return "none: one default way to run"
    runs = sum(len(experiment.runs) for experiment in checked.experiments)
    return f"{_counted(len(checked.experiments), 'experiment')}, {_counted(runs, 'run config')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _rank(label: str) -> int:
    order = (
        DESCRIPTION_FILE,
        "[abv3_repo]",
        "[run]",
        "[install]",
        "[dependency",
        "[run_configs]",
        "[results]",
    )
    for rank, start in enumerate(order):
        if label.startswith(start):
            return rank
    return len(order)
