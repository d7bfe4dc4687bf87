"""A later judgement of a stored run: ``<run>/gradings/<number>/``, beside the first result, which stays as it is."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from akbench.evaluate.judging import WorkJudgement
from akbench.run.journal import write_atomically
from akbench.run.lifecycle import RunState
from akbench.run.record import FORMAT, ArtifactRecord, RunResult, dump_json
from akbench.run.verdict import Verdict
from akbench.spec import Outcome, TestResult, TestRole

__all__ = [
    "GRADINGS",
    "GradedVerdict",
    "GradingRecord",
    "TestChange",
    "changed_tests",
    "clear_drafts",
    "grading_folders",
    "keep_grading",
]

GRADINGS = "gradings"
_DRAFT = ".making-"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedVerdict:
    """What one grading says of a run; the fields are those of `RunResult`."""

    state: RunState
    outcome: Outcome | None
    score: float | None
    solved: bool | None
    reason: str | None

    @classmethod
    def of_result(cls, result: RunResult) -> GradedVerdict:
        """The first verdict on a run."""
        return cls(
            state=result.state,
            outcome=result.outcome,
            score=result.score,
            solved=result.solved,
            reason=result.reason,
        )

    @classmethod
    def of(cls, verdict: Verdict, score: float | None) -> GradedVerdict:
        """A new verdict."""
        return cls(
            state=verdict.state,
            outcome=verdict.outcome,
            score=score,
            solved=verdict.solved,
            reason=verdict.reason,
        )

    def differs(self, other: GradedVerdict) -> bool:
        """Whether another thing is said; the wording of the reason does not count."""
        mine = self.state, self.outcome, self.score, self.solved
        return mine != (other.state, other.outcome, other.score, other.solved)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestChange:
    """A test whose status is another one than in the first grading; None where it did not appear."""

    __test__ = False

    id: str
    role: TestRole
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingRecord:
    """``grading.json``: a stored run judged again, and how that differs from its first result.

    - `key`: identifies everything that the judgement depends on; a run is graded once for each key.
    - `evaluator`, `evaluator_version`: of several evaluators in their order, joined by ``+``.
    - `patch_sha256`: of the stored diff; `tree`: git's id of the final tree that it leads to.
    - `artifacts`: the files of this grading, relative to its folder.
    """

    format: str = FORMAT
    experiment_id: str
    run_id: str
    number: int
    key: str
    graded_at: datetime
    duration_seconds: float
    task: str
    task_version: str
    task_digest: str
    dataset_version: str
    dataset_hash: str
    evaluator: str
    evaluator_version: str
    environment: str
    sandbox: str
    patch_sha256: str
    tree: str
    before: GradedVerdict
    after: GradedVerdict
    tests: tuple[TestChange, ...]
    touched_protected: tuple[str, ...]
    artifacts: tuple[ArtifactRecord, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the verdict is another one than the first."""
        return self.after.differs(self.before)


def changed_tests(before: Iterable[TestResult], after: Iterable[TestResult]) -> tuple[TestChange, ...]:
    """The tests whose status changed, by id."""
    old, new = ({test.id: test for test in tests} for tests in (before, after))
    found = []
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        known = now or was
        if known is not None and (was.status if was else None) != (now.status if now else None):
            change = TestChange(
                id=name, role=known.role, before=was.status if was else None, after=now.status if now else None
            )
            found.append(change)
    return tuple(found)


def grading_folders(run: Path) -> tuple[Path, ...]:
    """The folders of a run's gradings, oldest first. What a killed process left half made is none."""
    found = [path for path in (run / GRADINGS).glob("*") if path.name.isascii() and path.name.isdecimal()]
    return tuple(sorted(found, key=lambda path: int(path.name)))


def clear_drafts(run: Path) -> None:
    """Remove what a killed process left half made. Call it only while nobody else grades the run."""
    for draft in (run / GRADINGS).glob(f"{_DRAFT}*"):
        if draft.is_dir() and not draft.is_symlink():
            shutil.rmtree(draft)
        else:
            draft.unlink()


def keep_grading(run: Path, record: GradingRecord, work: WorkJudgement) -> GradingRecord:
    """Make the grading durable, whole or not at all. Returns the record with its artifacts."""
    folder = run / GRADINGS
    folder.mkdir(exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=folder))
    draft.chmod(0o755)
    files = {"evaluation.json": (dump_json(work.record()), "application/json"), **work.files()}
    artifacts = tuple(_keep(draft, name, *file) for name, file in sorted(files.items()))
    whole = replace(record, artifacts=artifacts)
    write_atomically(draft / "grading.json", dump_json(whole))
    draft.rename(folder / f"{record.number:04}")
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return whole


def _keep(folder: Path, name: str, content: bytes, media_type: str) -> ArtifactRecord:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    digest = hashlib.sha256(content).hexdigest()
    return ArtifactRecord(name=name, sha256=digest, size=len(content), media_type=media_type)
