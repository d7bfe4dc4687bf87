"""Whether an earlier run may stand for this one. Pure, and strict: any doubt means running again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.completed import RunStatus

if TYPE_CHECKING:
    from akbench_abv3.execution.record import RunRecord

__all__ = ["Present", "rerun_reason"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What a run would be executed with now. `changed` is a path that differs from the commit."""

    config_sha256: str | None
    command: str
    git_commit: str | None
    changed: str | None


def rerun_reason(record: RunRecord | None, present: Present, *, result_is_valid: bool) -> str | None:
    """Return why the run has to be executed again, or None when its earlier result stands."""
    if record is None:
        return "no record of an earlier run"
    reasons = {
        f"it ended as {record.status}": record.status is not RunStatus.FINISHED,
        "its result is not valid": not result_is_valid,
        "the run config changed": record.config_sha256 != present.config_sha256,
        "the run command changed": record.command != present.command,
        "there is no Git commit to compare with": present.git_commit is None,
        "it ran on another Git commit": record.git_commit != present.git_commit,
        "it ran with uncommitted changes": record.git_dirty is not False,
        f"{present.changed} differs from the commit": present.changed is not None,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
