"""The folder of one experiment on disk: what was planned, how it ended, and whether someone works on it."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from akbench.run.journal import write_atomically
from akbench.run.record import FORMAT, ExperimentEnd, ExperimentRecord, dump_json, load_json
from akbench.spec import AkbenchError, HostError, InputError

__all__ = [
    "ARTIFACTS",
    "ExperimentFolder",
    "experiment_folders",
    "experiment_number",
    "read_value",
    "size_of",
    "stored_bytes",
    "writing",
]

ARTIFACTS = "artifacts"
_ID = re.compile(r"exp-(\d{4,9})")
"""SQLite keeps the last number given, and has room for nine digits."""
_PATIENCE_SECONDS = 2.0


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn the system's refusal to write below `folder` into a `HostError` that names it and the mend."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"cannot write to {error.filename or folder}: {error.strerror or error}; make {folder} writable, "
            "free disk space there, or choose another project with --project"
        ) from error


def size_of(path: Path) -> int | None:
    """The size of a file in bytes, None when there is none."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def stored_bytes(path: Path) -> bytes | None:
    """What the store wrote into a file, None when there is no such file.

    Raises `InputError` naming it when something else lies there, or the system refuses to read it.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError("is not a regular file", place=str(path))
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(path)) from error


def read_value[T](kind: type[T], path: Path) -> T | None:
    """The value in a file that the store wrote, None when there is no such file.

    Raises `InputError` naming the file when it is damaged or of another format than this version reads.
    """
    text = stored_bytes(path)
    if text is None:
        return None
    try:
        value = load_json(kind, text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "content"
        raise InputError(f"cannot be read: {where}: {first['msg']}", place=str(path)) from error
    found = getattr(value, "format", FORMAT)
    if found != FORMAT:
        raise InputError(f"is of format {found}, this version reads {FORMAT}; install a newer one", place=str(path))
    return value


def experiment_number(experiment_id: str) -> int:
    """The number in an experiment's id, 0 for a name that is none."""
    match = _ID.fullmatch(experiment_id)
    return int(match[1]) if match else 0


def experiment_folders(data: Path) -> tuple[ExperimentFolder, ...]:
    """Every experiment below the data folder that got as far as its plan, oldest first."""
    names = [path.parent.name for path in (data / ARTIFACTS).glob("exp-*/experiment.json")]
    ids = sorted((name for name in names if experiment_number(name)), key=experiment_number)
    return tuple(ExperimentFolder(data, experiment_id) for experiment_id in ids)


class ExperimentFolder:
    """``<data>/artifacts/<experiment>/``: experiment.json first, the runs' folders, end.json last, and a lock."""

    def __init__(self, data: Path, experiment_id: str) -> None:
        self.data = data
        self.id = experiment_id
        self.path = data / ARTIFACTS / experiment_id

    @property
    def record_path(self) -> Path:
        """Where the plan is."""
        return self.path / "experiment.json"

    @property
    def end_path(self) -> Path:
        """Where the end is told."""
        return self.path / "end.json"

    def run_path(self, run_id: str) -> Path:
        """The folder of one run, for `RunFolder`."""
        return self.path / run_id

    def begin(self, record: ExperimentRecord) -> None:
        """Make the plan durable. The folder is there since `Index.next_experiment_id`."""
        with writing(self.data):
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(self.record_path, dump_json(record))

    def end(self, end: ExperimentEnd) -> None:
        """Make the end durable."""
        with writing(self.data):
            write_atomically(self.end_path, dump_json(end))

    def record(self) -> ExperimentRecord:
        """The plan. Raises `InputError` when it is missing or unreadable."""
        record = read_value(ExperimentRecord, self.record_path)
        if record is None:
            raise InputError("there is no such file", place=str(self.record_path))
        return record

    def ending(self) -> ExperimentEnd | None:
        """How the experiment ended, None when it has not. Raises `InputError` when that is unreadable."""
        return read_value(ExperimentEnd, self.end_path)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the experiment's lock while working on it. The system frees it however the process ends.

        Raises `AkbenchError` when another process works on the experiment.
        """
        with writing(self.data):
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._acquire(descriptor)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            yield
        finally:
            os.close(descriptor)

    def is_held(self) -> bool:
        """Whether a process works on the experiment now."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _acquire(self, descriptor: int) -> None:
        # Readers that ask whether the lock is held take it for a moment themselves.
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
                    raise AkbenchError(f"{self.id} is being worked on by {holder or 'another process'}") from None
                time.sleep(0.05)
            else:
                return
