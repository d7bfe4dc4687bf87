"""Whether the stored files are still what was recorded when they were written."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from akbench.run.grading import GRADINGS
from akbench.run.record import ArtifactRecord, ExperimentRecord
from akbench.spec import InputError
from akbench.store.folder import ExperimentFolder, experiment_folders
from akbench.store.gradings import read_gradings
from akbench.store.runfiles import read_run

__all__ = ["Fault", "Verification", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A stored file that is missing, damaged or changed. `run_id` is None for a file of the experiment itself."""

    experiment_id: str
    run_id: str | None
    file: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was checked (counts; size in bytes as recorded), and what is wrong.

    `unfinished`: runs that have begun and recorded no checksums yet, so that nothing of them could be checked.
    `gradings`: later gradings of runs, whose files are checked as well.
    """

    experiments: int
    finished: int
    gradings: int
    unfinished: int
    files: int
    size: int
    faults: tuple[Fault, ...]


def verify(data: Path) -> Verification:
    """Read every recorded file below the data folder and compare its size and SHA-256 with the record.

    The records themselves (experiment.json, end.json, each result.json and grading.json) have no checksum of their
    own; it is checked that they can be read. The index plays no part.
    """
    folders = experiment_folders(data)
    faults: list[Fault] = []
    finished, unfinished, gradings, files, size = 0, 0, 0, 0, 0
    for folder in folders:
        record = _record(folder, faults)
        for run_id in [run.id for run in record.plan.runs] if record else []:
            artifacts = _artifacts(folder, run_id, faults)
            finished += artifacts is not None
            unfinished += artifacts is None and folder.run_path(run_id).exists()
            count, later = _gradings(folder, run_id, faults)
            gradings += count
            artifacts = (*(artifacts or ()), *later)
            files += len(artifacts)
            size += sum(artifact.size for artifact in artifacts)
            faults += _changed(folder, run_id, artifacts)
    return Verification(
        experiments=len(folders),
        finished=finished,
        unfinished=unfinished,
        gradings=gradings,
        files=files,
        size=size,
        faults=tuple(faults),
    )


def _record(folder: ExperimentFolder, faults: list[Fault]) -> ExperimentRecord | None:
    record = None
    for read, path in ((folder.record, folder.record_path), (folder.ending, folder.end_path)):
        try:
            value = read()
        except InputError as error:
            faults.append(Fault(experiment_id=folder.id, run_id=None, file=path.name, message=error.message))
        else:
            record = value if isinstance(value, ExperimentRecord) else record
    return record


def _artifacts(folder: ExperimentFolder, run_id: str, faults: list[Fault]) -> tuple[ArtifactRecord, ...] | None:
    files = read_run(folder.run_path(run_id))
    for message in files.unreadable:
        name, _, rest = message.partition(" ")
        faults.append(Fault(experiment_id=folder.id, run_id=run_id, file=name, message=rest))
    return files.result.artifacts if files.result else None


def _gradings(folder: ExperimentFolder, run_id: str, faults: list[Fault]) -> tuple[int, tuple[ArtifactRecord, ...]]:
    """How many later gradings the run has, and their files by their names in the run's folder."""
    unreadable: list[str] = []
    found = read_gradings(folder.run_path(run_id), unreadable)
    for message in unreadable:
        name, _, rest = message.partition(" ")
        faults.append(Fault(experiment_id=folder.id, run_id=run_id, file=name, message=rest))
    files = (
        replace(artifact, name=f"{GRADINGS}/{grading.number:04}/{artifact.name}")
        for grading in found
        for artifact in grading.artifacts
    )
    return len(found), tuple(files)


def _changed(folder: ExperimentFolder, run_id: str, artifacts: tuple[ArtifactRecord, ...]) -> Iterator[Fault]:
    for artifact in artifacts:
        message = _fault_of(folder.run_path(run_id), artifact)
        if message is not None:
            yield Fault(experiment_id=folder.id, run_id=run_id, file=artifact.name, message=message)


def _fault_of(folder: Path, artifact: ArtifactRecord) -> str | None:
    name = PurePosixPath(artifact.name)
    if name.is_absolute() or ".." in name.parts:
        return "the name leads out of the run's folder"
    path = folder / name
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file"
        if status.st_size != artifact.size:
            return f"has {status.st_size} bytes, {artifact.size} were recorded"
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if digest == artifact.sha256 else f"has SHA-256 {digest}, {artifact.sha256} was recorded"
