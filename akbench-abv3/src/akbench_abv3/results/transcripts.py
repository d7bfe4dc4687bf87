"""The L1+t extension: every run has a valid result and a transcript that meets the rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from akbench_abv3.completed import MAX_TRANSCRIPT_BYTES, MAX_TRANSCRIPT_COMMAS, SHORTEST_MASKED_BYTES, TRANSCRIPT
from akbench_abv3.finding import Finding
from akbench_abv3.reading.bounded import OutsideError, UnreadableError, contained, is_there, read_text
from akbench_abv3.reading.json_text import parse_json
from akbench_abv3.results.atif import atif_faults

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from akbench_abv3.results.atif import Trajectory
    from akbench_abv3.results.document import Result

__all__ = ["check_transcripts", "transcript_names"]

_MOST_FAULTS: Final = 20
"""Faults of one transcript that are listed; a wrong generator repeats itself in every step."""


def transcript_names(result: Result | None) -> tuple[str, ...]:
    """Return the transcripts that a run should have, relative to its folder."""
    return result.transcripts if result is not None and result.transcripts else (TRANSCRIPT,)


def check_transcripts(
    run_dir: Path, *, shown: str, session: str, result: Result | None, secrets: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Judge the transcripts of one run folder. `secrets` are values that must not occur, by variable."""
    names = transcript_names(result)
    findings: list[Finding] = []
    for name in names:
        findings.extend(_one(run_dir, name, shown=shown, session=session, secrets=secrets))
    is_missing = any(one.code == "T001" for one in findings)
    if result is not None and len(names) < result.count and not is_missing:
        message = f"{len(names)} of {result.count} data points have a transcript"
        findings.append(_finding("W080", shown, "", message))
    return tuple(findings)


def _one(run_dir: Path, name: str, *, shown: str, session: str, secrets: Mapping[str, str]) -> list[Finding]:
    place = f"{shown}/{name}"
    try:
        path = contained(run_dir, name)
        if not is_there(path):
            wanted = "no transcript" if name == TRANSCRIPT else f"no transcript {name}"
            return [_finding("T001", shown, "", wanted)]
        text = read_text(path, MAX_TRANSCRIPT_BYTES)
    except OutsideError:
        return [_finding("E004", shown, "transcripts", f"{name} leaves the run folder")]
    except UnreadableError as error:
        return [_finding("T002", place, "", str(error))]
    return [*_secrets_in(text, place, secrets), *_document(text, place, session)]


def _document(text: str, place: str, session: str) -> list[Finding]:
    try:
        trajectory, faults = atif_faults(parse_json(text, MAX_TRANSCRIPT_COMMAS))
    except UnreadableError as error:
        return [_finding("T002", place, "", str(error))]
    listed = [_finding("T002", place, where, message) for where, message in faults[:_MOST_FAULTS]]
    if len(faults) > _MOST_FAULTS:
        listed.append(_finding("T002", place, "", f"and {len(faults) - _MOST_FAULTS} more faults"))
    return listed if trajectory is None else _manners(trajectory, place, session)


def _manners(trajectory: Trajectory, place: str, session: str) -> list[Finding]:
    findings = []
    acted = any(step.source == "agent" for step in trajectory.steps)
    if acted and not any(step.source == "user" for step in trajectory.steps):
        findings.append(_finding("W081", place, "steps", "no user step carries the task"))
    belongs = trajectory.session_id == session or (trajectory.session_id or "").startswith(f"{session}/")
    if not belongs:
        findings.append(_finding("W081", place, "session_id", f'should be "{session}"'))
    return findings


def _secrets_in(text: str, place: str, secrets: Mapping[str, str]) -> list[Finding]:
    plain = re.sub(r"\\/", "/", text)  # JSON may escape a slash
    return [
        _finding("T003", place, "", f"contains the value of {variable}")
        for variable, value in secrets.items()
        if len(value.encode()) >= SHORTEST_MASKED_BYTES and value in plain
    ]


def _finding(code: str, file: str, field: str, message: str) -> Finding:
    return Finding(code=code, file=file, section="results", field=field, message=message)
