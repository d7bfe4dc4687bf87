"""What an audit says (``audit.json``): its findings, and for each rule whether it could be applied at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Audit", "Finding", "RuleOutcome", "Severity", "Source"]


class Severity(StrEnum):
    """`INFO`: honest work does this too. `WARNING`: a person should look at it. Neither is proof of anything."""

    INFO = "info"
    WARNING = "warning"


class Source(StrEnum):
    """What a rule looks at."""

    COMMANDS = "commands"
    CHANGES = "changes"
    MODEL_REQUESTS = "model requests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a rule found: `place` says where (``tool call 3``, a path), `evidence` what stood there.

    `times`: how often the same evidence was met; `place` is the first.
    """

    rule: str
    severity: Severity
    place: str
    evidence: str
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """A rule and how many findings it has; `unavailable` says why it could not be applied, None if it was.

    `left_out`: findings beyond the number that is kept.
    """

    id: str
    title: str
    findings: int = 0
    left_out: int = 0
    unavailable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The audit of one run."""

    format: str = "1"
    findings: tuple[Finding, ...]
    rules: tuple[RuleOutcome, ...]
