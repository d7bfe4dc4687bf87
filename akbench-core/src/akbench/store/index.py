"""The writer of the index."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy import Engine, func
from sqlmodel import Session, select, text

from akbench.run.grading import grading_folders
from akbench.spec import HostError
from akbench.store.database import BUSY_SECONDS, database_path, faults, migrate, writing_engine
from akbench.store.folder import ARTIFACTS, ExperimentFolder, experiment_folders, experiment_number, writing
from akbench.store.ingest import catch_up, update_all, update_run
from akbench.store.rows import ExperimentRow, RunRow

__all__ = ["Index", "Rebuilt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuilt index holds (counts), and what could not be read, one sentence each.

    `gradings`: how many later gradings lie beside the runs; the index itself holds first results alone.
    """

    experiments: int
    runs: int
    gradings: int
    unreadable: tuple[str, ...]


class Index:
    """Keeps ``akbench.sqlite`` up to the files. Open it in the coordinator; any thread may call any method.

    It is told what changed, never what to write: each method reads the files, which are durable by then. So what the
    index says and what the files say cannot differ, and a notice that got lost is made good by the next one.
    """

    def __init__(self, data: Path, engine: Engine, lock: int) -> None:
        self.data = data
        self._engine = engine
        self._store_lock = lock
        self._turn = threading.Lock()

    @classmethod
    def open(cls, data: Path) -> Index:
        """Open the index for writing: created, migrated and brought up to the files as needed.

        Raises `HostError` when the folder cannot be written or the database is damaged, `InputError` when it was
        written by a newer version. Experiments whose files are damaged are left out; `verify` names them.
        """
        with writing(data):
            (data / ARTIFACTS).mkdir(parents=True, exist_ok=True)
            lock = _store_lock(data, fcntl.LOCK_SH)
        path = database_path(data)
        engine = writing_engine(path)
        try:
            with faults(path):
                _set_journal(engine, "wal")
                _fill(engine, data)
        except BaseException:
            engine.dispose()
            os.close(lock)
            raise
        return cls(data, engine, lock)

    @staticmethod
    def rebuild(data: Path) -> Rebuilt:
        """Make the index again from the files, whatever state it is in. Readers meanwhile see the old one.

        Raises `HostError` while an experiment runs in this data folder.
        """
        with writing(data):
            (data / ARTIFACTS).mkdir(parents=True, exist_ok=True)
            lock = _store_lock(data, fcntl.LOCK_EX)
        try:
            return _rebuild(data)
        finally:
            os.close(lock)

    def close(self) -> None:
        """Close the index, leaving one plain database file that readers can open without creating anything."""
        with self._turn, faults(database_path(self.data)):
            _set_journal_if_free(self._engine)
            self._engine.dispose()
            os.close(self._store_lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def next_experiment_id(self) -> str:
        """A new experiment's id, reserved by creating its folder.

        It is above the number of every folder and of every experiment that this index ever gave an id.
        """
        with self._transaction() as session, writing(self.data):
            given = session.connection().execute(text("PRAGMA user_version")).scalar_one()
            folders = (experiment_number(path.name) for path in (self.data / ARTIFACTS).iterdir())
            number = max(given, *folders, 0) + 1
            experiment_id = f"exp-{number:04}"
            (self.data / ARTIFACTS / experiment_id).mkdir()
            session.connection().execute(text(f"PRAGMA user_version = {number:d}"))
            return experiment_id

    def update_experiment(self, experiment_id: str) -> None:
        """Call after experiment.json or end.json was written."""
        with self._transaction() as session:
            catch_up(session, ExperimentFolder(self.data, experiment_id))

    def update_run(self, experiment_id: str, run_id: str) -> None:
        """Call after an event of the run was recorded, and after its result was written."""
        with self._transaction() as session:
            update_run(session, ExperimentFolder(self.data, experiment_id), run_id)

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        with self._turn, faults(database_path(self.data)), Session(self._engine) as session, session.begin():
            yield session


def _fill(engine: Engine, data: Path) -> tuple[str, ...]:
    with engine.begin() as connection:
        migrate(connection)
        with Session(connection) as session:
            unreadable = update_all(session, experiment_folders(data))
            session.commit()
    return unreadable


def _rebuild(data: Path) -> Rebuilt:
    path = database_path(data)
    fresh = path.with_name(path.name + ".new")
    with writing(data):
        _remove(fresh)
    engine = writing_engine(fresh)
    try:
        with faults(fresh):
            unreadable = _fill(engine, data)
            with Session(engine) as session:
                experiments = session.exec(select(func.count()).select_from(ExperimentRow)).one()
                runs = session.exec(select(func.count()).select_from(RunRow)).one()
    finally:
        engine.dispose()
    with writing(data):
        # The old log must go first: beside the new database it would be taken for that one's.
        _remove(path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm"))
        fresh.replace(path)
    gradings = sum(len(grading_folders(run)) for run in (data / ARTIFACTS).glob("exp-*/run-*"))
    return Rebuilt(experiments=experiments, runs=runs, gradings=gradings, unreadable=unreadable)


def _remove(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _store_lock(data: Path, kind: int) -> int:
    """Writers share this lock; a rebuild, which replaces the database, needs it alone."""
    descriptor = os.open(data / "akbench.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        doing = "an experiment runs" if kind == fcntl.LOCK_EX else "akbench store rebuild runs"
        raise HostError(f"{doing} in {data}; wait for its end or stop it, then try again") from None
    return descriptor


def _set_journal(engine: Engine, mode: str) -> None:
    # SQLite refuses the change at once, without its usual waiting, while anyone reads.
    deadline = time.monotonic() + BUSY_SECONDS
    while not _try_journal(engine, mode):
        if time.monotonic() > deadline:
            raise HostError(f"{engine.url.database} is in use; end the other process and try again")
        time.sleep(0.02)


def _set_journal_if_free(engine: Engine) -> None:
    """Leave the log mode, unless another process is still in it."""
    _try_journal(engine, "delete")


def _try_journal(engine: Engine, mode: str) -> bool:
    connection = engine.raw_connection()
    try:
        found = connection.cursor().execute(f"PRAGMA journal_mode = {mode}").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            return False
        raise
    finally:
        connection.close()
    return bool(found[0] == mode)
