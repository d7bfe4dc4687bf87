"""The writer of the index: rows that depend on the files alone, ids, threads, faults of the machine."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from akbench.run.lifecycle import RunState
from akbench.spec import AkbenchError, HostError
from akbench.store.database import memory_engine
from akbench.store.folder import ExperimentFolder
from akbench.store.index import Index
from akbench.store.query import Store
from akbench.store.rows import REVISIONS, Row


def schema(path: Path) -> dict[str, set[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    try:
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if name != "alembic_version"
        ]
        found: dict[str, set[tuple[object, ...]]] = {}
        for table in tables:
            for pragma in ("table_xinfo", "foreign_key_list", "index_list"):
                rows = connection.execute(f"PRAGMA {pragma}({table})").fetchall()
                # The first column only counts.
                found[f"{table} {pragma}"] = {row if pragma == "table_xinfo" else row[2:] for row in rows}
            for (name,) in connection.execute("SELECT name FROM pragma_index_list(?)", (table,)):
                found[f"{table} {name}"] = set(connection.execute(f"PRAGMA index_info({name})").fetchall())
        return found
    finally:
        connection.close()


def test_the_migrations_make_the_schema_of_the_rows(data, tmp_path):
    Index.open(data).close()
    engine = create_engine(f"sqlite:///{tmp_path / 'rows.sqlite'}")
    Row.metadata.create_all(engine)
    engine.dispose()
    migrated = schema(data / "akbench.sqlite")
    assert migrated == schema(tmp_path / "rows.sqlite")
    assert len([name for name in migrated if name.endswith("table_xinfo")]) == 12


def test_the_known_revisions_are_the_migrations_in_order():
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(sys.modules[Index.__module__].__file__).parent / "migrations"))
    scripts = ScriptDirectory.from_config(config)
    assert tuple(script.revision for script in reversed(list(scripts.walk_revisions()))) == REVISIONS


def test_an_index_kept_up_step_by_step_equals_one_made_again(laboratory, data, index, all_rows):
    first, second = laboratory.plan(), laboratory.plan(runs=6)
    for number in range(4):
        laboratory.run(first, number)
    laboratory.end(first)
    laboratory.run(second, 3)
    laboratory.start(second, 4)
    kept_up = all_rows(data / "akbench.sqlite")
    assert {table: len(rows) for table, rows in kept_up.items()} == {
        "agent_observations": 5,
        "alembic_version": 1,
        "artifacts": 20,
        "datasets": 1,
        "descriptor_snapshots": 2,
        "evaluations": 5,
        "events": 28,
        "experiment_variants": 4,
        "experiments": 2,
        "metrics": 20,
        "model_observations": 10,
        "task_runs": 10,
        "tasks": 4,
    }
    index._engine.dispose()
    copy = data.with_name("copy")
    shutil.copytree(data / "artifacts", copy / "artifacts")
    rebuilt = Index.rebuild(copy)
    assert (rebuilt.experiments, rebuilt.runs, rebuilt.unreadable) == (2, 10, ())
    assert all_rows(copy / "akbench.sqlite") == kept_up
    caught_up = data.with_name("caught-up")
    shutil.copytree(data / "artifacts", caught_up / "artifacts")
    Index.open(caught_up).close()
    assert all_rows(caught_up / "akbench.sqlite") == kept_up


def test_a_rebuild_names_what_it_cannot_read(laboratory, data, index):
    laboratory.plan().record_path.write_bytes(b"[]")
    laboratory.plan()
    copy = data.with_name("copy")
    shutil.copytree(data / "artifacts", copy / "artifacts")
    rebuilt = Index.rebuild(copy)
    assert rebuilt.experiments == 1
    (message,) = rebuilt.unreadable
    assert "exp-0001/experiment.json: cannot be read" in message


def test_a_rebuild_is_refused_while_a_coordinator_has_the_index_open(index, data):
    with pytest.raises(HostError, match="an experiment runs in"):
        Index.rebuild(data)


def test_opening_forgets_experiments_whose_folder_is_gone(data, all_rows):
    with Index.open(data) as index:
        for _ in range(2):
            folder = ExperimentFolder(data, index.next_experiment_id())
            from store_samples import experiment

            folder.begin(experiment(folder.id))
            index.update_experiment(folder.id)
    shutil.rmtree(data / "artifacts" / "exp-0002")
    with Index.open(data) as index:
        assert {row[0] for row in all_rows(data / "akbench.sqlite")["experiments"]} == {"exp-0001"}
        assert index.next_experiment_id() == "exp-0003"


def test_ids_are_above_every_folder_even_without_a_database(data):
    for name in ("exp-0007", "exp-12345", "notes", "exp-x"):
        (data / "artifacts" / name).mkdir(parents=True)
    with Index.open(data) as index:
        assert index.next_experiment_id() == "exp-12346"
        assert index.next_experiment_id() == "exp-12347"


def test_coordinators_at_the_same_time_get_different_ids(data):
    ids: list[str] = []

    def reserve() -> None:
        with Index.open(data) as index:
            ids.extend(index.next_experiment_id() for _ in range(5))

    threads = [threading.Thread(target=reserve) for _ in range(3)]
    Index.open(data).close()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids) == [f"exp-{number:04}" for number in range(1, 16)]


def test_four_threads_report_events_of_their_runs(laboratory, data, all_rows):
    folder = laboratory.plan()
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            journal = laboratory.start(folder, number)
            for step in range(40):
                journal.record("note", f"step {step}", step=step)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    events = all_rows(data / "akbench.sqlite")["events"]
    assert len(events) == 4 * 43
    store = Store(data)
    for run in store.experiment(folder.id).runs:
        assert [event.data.get("step") for event in store.events(run)] == [None] * 3 + list(range(40))


HOSTILE = [
    "'; DROP TABLE task_runs; --",
    "nul \0 bell \a",
    "half a pair \ud83d, and \udc00",
    "\U0001f600 \u202e right-to-left \ufeff",
    '{"json": "inside"}\n{"and": "lines"}',
    "x" * 1_000_000,
    "",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_of_an_agent_survives_the_whole_way(laboratory, data, text):
    folder = laboratory.plan()
    journal = laboratory.start(folder, 0)
    journal.record("note", text, detail={"said": [text]})
    laboratory.run(folder, 1, message=text)
    store = Store(data)
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    running, done = store.experiment(folder.id).runs[:2]
    assert done.final_message == expected
    event = store.events(running)[-1]
    assert (event.text, event.data["detail"]) == (expected, {"said": [expected]})


def test_a_data_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match=r"cannot write to .*file.*--project"):
        Index.open(tmp_path / "file" / "data")


@pytest.mark.bubblewrap
@pytest.mark.parametrize("ending", ["closed", pytest.param("killed", marks=pytest.mark.slow), "alive"])
def test_on_a_read_only_disk_reading_works_and_writing_is_refused(data, ending):
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    script = Path(__file__).with_name("store_writer.py")
    writer = subprocess.Popen(
        [sys.executable, script, data, "stop"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with writer:
        assert writer.stdout.readline() == "exp-0001\n"
        if ending != "alive":
            writer.communicate() if ending == "closed" else writer.kill()
            writer.wait()
        logs = {path.name for path in data.glob("akbench.sqlite-*")}
        assert logs == (set() if ending == "closed" else {"akbench.sqlite-wal", "akbench.sqlite-shm"})
        state, refusal = read_and_write_on_a_read_only_disk(data)
    assert state == RunState.COMPLETED
    assert refusal.startswith("cannot ")
    assert str(data) in refusal


def read_and_write_on_a_read_only_disk(data: Path) -> list[str]:
    program = (
        "from pathlib import Path; from akbench.store.query import Store\n"
        "from akbench.store.index import Index; from akbench.spec import HostError\n"
        f"data = Path({str(data)!r}); print(Store(data).experiment('exp-0001').runs[0].state)\n"
        "try: Index.open(data)\n"
        "except HostError as error: print(error)\n"
    )
    command = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", sys.executable, "-B", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_an_experiment_is_worked_on_by_one_process_only(laboratory, monkeypatch):
    monkeypatch.setattr("akbench.store.folder._PATIENCE_SECONDS", 0.1)
    folder = laboratory.plan()
    assert not folder.is_held()
    with folder.hold():
        assert folder.is_held()
        with pytest.raises(AkbenchError, match=r"exp-0001 is being worked on by process \d+ on "), folder.hold():
            pass
    assert not folder.is_held()


def test_a_copy_in_memory_holds_what_the_file_holds(laboratory, data):
    laboratory.plan()
    engine = memory_engine(data / "akbench.sqlite")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT id FROM experiments").fetchall() == [("exp-0001",)]
    engine.dispose()
