from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from store_samples import end, experiment, finish, result, start

from akbench.store.folder import ExperimentFolder
from akbench.store.index import Index


def rows(database: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, sorted."""
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)
    try:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {t: sorted(connection.execute(f'SELECT * FROM "{t}"').fetchall(), key=repr) for t in sorted(tables)}
    finally:
        connection.close()


@pytest.fixture
def all_rows() -> Callable[[Path], dict[str, list[tuple[object, ...]]]]:
    return rows


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def index(data: Path) -> Iterator[Index]:
    with Index.open(data) as index:
        yield index


class Laboratory:
    """Plays the coordinator: plans, runs and ends experiments, telling the index all of it."""

    def __init__(self, data: Path, index: Index) -> None:
        self.data = data
        self.index = index

    def plan(self, runs: int = 4) -> ExperimentFolder:
        folder = ExperimentFolder(self.data, self.index.next_experiment_id())
        folder.begin(experiment(folder.id, runs=runs))
        self.index.update_experiment(folder.id)
        return folder

    def start(self, folder: ExperimentFolder, number: int):
        record = folder.record()
        run = record.plan.runs[number]
        return start(folder.run_path(run.id), record, run, lambda run_id: self.index.update_run(folder.id, run_id))

    def run(self, folder: ExperimentFolder, number: int, message: str = "Done.") -> None:
        work = self.start(folder, number)
        record = folder.record()
        finish(work, result(record, record.plan.runs[number], message))
        self.index.update_run(folder.id, record.plan.runs[number].id)

    def end(self, folder: ExperimentFolder) -> None:
        folder.end(end())
        self.index.update_experiment(folder.id)


@pytest.fixture
def laboratory(data: Path, index: Index) -> Laboratory:
    return Laboratory(data, index)
