"""How the audit of a run is told."""

from __future__ import annotations

from dataclasses import asdict

from akbench.audit.finding import Audit
from akbench.spec import JsonValue

__all__ = ["audit_json"]


def audit_json(audit: Audit | None) -> JsonValue:
    """Findings and rules for programs; null where the run was not audited."""
    if audit is None:
        return None
    return {"findings": [asdict(each) for each in audit.findings], "rules": [asdict(each) for each in audit.rules]}
