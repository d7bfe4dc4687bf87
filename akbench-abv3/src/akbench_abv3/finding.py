"""A finding: one thing that a check has to say, with a stable code and a place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from akbench_abv3.stated import DESCRIPTION_FILE

__all__ = ["Finding", "Severity", "errors_of", "has_errors"]


class Severity(StrEnum):
    """Whether a finding fails the check."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding.

    `code` is stable: E (description), R (results) and T (transcripts) are errors, W are warnings.
    `file` is relative to the repository root; `section` is a section of agentbeats.toml, or the
    one that a file belongs to; `field` is the key inside it.
    """

    code: str
    message: str
    file: str = DESCRIPTION_FILE
    section: str = ""
    field: str = ""

    @property
    def severity(self) -> Severity:
        """Whether this finding fails the check."""
        return Severity.WARNING if self.code.startswith("W") else Severity.ERROR

    @property
    def where(self) -> str:
        """The full place: file, section and field."""
        if self.file != DESCRIPTION_FILE:
            return f"{self.file} {self.field}".rstrip()
        place = f"{self.file} [{self.section}]" if self.section else self.file
        return f"{place}.{self.field}" if self.field else place

    @property
    def label(self) -> str:
        """The column of a report that this finding stands in."""
        return f"[{self.section}]" if self.section else self.file

    @property
    def text(self) -> str:
        """The message as it reads behind `label`."""
        parts = [
            self.file if self.file not in (DESCRIPTION_FILE, self.label) else "",
            self.field,
            self.message,
        ]
        return ": ".join(part for part in parts if part)

    def __str__(self) -> str:
        return f"{self.code} {self.where}: {self.message}"


def errors_of(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return those that fail a check."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Tell whether any finding fails a check."""
    return bool(errors_of(findings))
