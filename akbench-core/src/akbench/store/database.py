"""The SQLite file ``<data>/akbench.sqlite``: opening it, its schema, and what its faults mean to a person."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, StaticPool, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from akbench.spec import HostError, InputError
from akbench.store.rows import REVISIONS, Row

__all__ = [
    "database_path",
    "faults",
    "has_current_schema",
    "memory_engine",
    "migrate",
    "reading_engine",
    "writing_engine",
]

BUSY_SECONDS = 30.0
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_HOST = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def database_path(data: Path) -> Path:
    """Where the index of a data folder lies."""
    return data / "akbench.sqlite"


def writing_engine(path: Path) -> Engine:
    """For the writer: every transaction is one from its first statement on, so that it never has to be repeated."""
    return _engine(lambda: sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False), "BEGIN IMMEDIATE")


def reading_engine(path: Path) -> Engine:
    """For readers: creates nothing, changes nothing; a transaction sees one state of the index."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    return _engine(lambda: sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False), "BEGIN")


def memory_engine(source: Path | None) -> Engine:
    """A private index in memory: a copy of the one at `source`, or an empty one."""

    def connect() -> sqlite3.Connection:
        memory = sqlite3.connect(":memory:", check_same_thread=False)
        if source is not None:
            original = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
            try:
                original.backup(memory)
            finally:
                original.close()
        return memory

    engine = _engine(connect, "BEGIN")
    if source is None:
        Row.metadata.create_all(engine)
    return engine


def has_current_schema(connection: Connection) -> bool:
    """Whether the tables are those of this version; False for an older schema or none.

    Raises `InputError` for a newer one.
    """
    if not connection.execute(text("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'")).first():
        return False
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if found is not None and found not in REVISIONS:
        raise InputError(
            f"the index was written by a newer AK-Bench (schema {found}, this version knows up to {REVISIONS[-1]}); "
            "install that version, or make the index again for this one: akbench store rebuild"
        )
    return bool(found == REVISIONS[-1])


def migrate(connection: Connection) -> None:
    """Bring the schema up to this version, inside the connection's transaction."""
    if has_current_schema(connection):
        return
    from alembic import command
    from alembic.config import Config

    config = Config()
    scripts = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", scripts.replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISIONS[-1])


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about the file at `path` into errors for the person who must act."""
    try:
        yield
    except DBAPIError as error:
        raise _explained(error.orig, path) or error from error
    except sqlite3.Error as error:
        raise _explained(error, path) or error from error


def _explained(error: BaseException | None, path: Path) -> HostError | None:
    extended = getattr(error, "sqlite_errorcode", None)
    code = None if extended is None else extended & 0xFF
    if code in _DAMAGED or "Could not decode to UTF-8" in str(error):
        return HostError(f"{path} is damaged ({error}); make it again from the files: akbench store rebuild")
    if code in _BUSY:
        return HostError(f"{path} has been locked by another process for {BUSY_SECONDS:.0f} s; end it and try again")
    if code in _HOST:
        return HostError(
            f"cannot use {path}: {error}; make {path.parent} readable and writable, free disk space there, "
            "or choose another project with --project"
        )
    return None


def _engine(connect: Callable[[], sqlite3.Connection], begin: str) -> Engine:
    def prepared() -> sqlite3.Connection:
        connection = connect()
        connection.isolation_level = None  # the driver begins no transactions on its own; see below
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    engine = create_engine("sqlite://", creator=prepared, poolclass=StaticPool)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
