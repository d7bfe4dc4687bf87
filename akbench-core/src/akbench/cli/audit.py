"""How the audit of a run is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

from akbench.audit.finding import Audit, Severity
from akbench.cli.output import say
from akbench.spec import JsonValue
from akbench.store.view import RunView

__all__ = ["audit_json", "print_audits"]


def print_audits(audited: Iterable[tuple[RunView, Audit | None]]) -> None:
    """One line for each run whose audit found something."""
    for run, audit in audited:
        counts = Counter(finding.severity for finding in audit.findings) if audit else Counter[Severity]()
        found = ", ".join(f"{counts[each]} {each}" for each in (Severity.WARNING, Severity.INFO) if counts[each])
        if found:
            say(f"{run.id}: the audit of its way found {found}; see --json or the report")


def audit_json(audit: Audit | None) -> JsonValue:
    """Findings and rules for programs; null where the run was not audited."""
    if audit is None:
        return None
    return {"findings": [asdict(each) for each in audit.findings], "rules": [asdict(each) for each in audit.rules]}
