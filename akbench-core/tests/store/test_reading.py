"""What readers see of an experiment, in whatever state it and the index are."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from store_samples import T0, experiment, finish, result, start

from akbench.run.lifecycle import RunState
from akbench.spec import HostError, InputError, Outcome, Reading
from akbench.store.database import reading_engine
from akbench.store.folder import ExperimentFolder
from akbench.store.index import Index
from akbench.store.query import Store


def test_a_finished_run_is_read_back_as_it_was_written(laboratory, data):
    folder = laboratory.plan()
    laboratory.run(folder, 0)
    laboratory.end(folder)
    view = Store(data).experiment(folder.id)
    record = folder.record()
    written = result(record, record.plan.runs[0])
    run = view.runs[0]
    assert (run.id, run.experiment_id, run.variant_id, run.task_id) == ("run-0001", "exp-0001", "v0", "bugfix-000")
    assert (run.state, run.interrupted, run.is_final) == (RunState.COMPLETED, False, True)
    assert (run.outcome, run.solved, run.reason) == (Outcome.FULL_SUCCESS, True, None)
    assert (run.started_at, run.finished_at) == (T0, T0 + timedelta(seconds=12.5))
    assert (run.agent_version, run.session_id, run.final_message) == ("0.171.0", "s-1", "Done.")
    assert (run.model_source, run.sandbox) == ("provider", "bubblewrap")
    assert run.metrics == written.metrics
    assert type(run.metrics["input_tokens"].value) is int
    assert run.metrics["cached"].value is True
    assert run.metrics["total_cost"] == Reading(unavailable="the provider reports no price")
    assert (run.config, run.tests) == (written.config, written.tests)
    assert (run.touched_protected, run.oddities) == (written.touched_protected, written.oddities)
    assert [a.name for a in run.artifacts] == ["diff.patch", "events.jsonl", "manifest.json", "tool_calls.jsonl"]
    assert all(a.path.is_absolute() and a.path.stat().st_size == a.size for a in run.artifacts)


def test_an_experiment_is_read_back_as_it_was_planned_and_ended(laboratory, data):
    folder = laboratory.plan()
    laboratory.run(folder, 0)
    laboratory.end(folder)
    view, record = Store(data).experiment(folder.id), folder.record()
    assert (view.id, view.descriptor_id, view.title, view.created_at) == (record.id, "compare", record.title, T0)
    assert (view.status, view.status_reasons) == ("valid_with_warnings", ("no sandbox",))
    assert (view.finished_at, view.labels) == (T0 + timedelta(minutes=3), ("scripted model",))
    assert (view.dataset_id, view.dataset_version, view.dataset_hash) == ("examples", "1.0.0", "h" * 64)
    assert (view.descriptor, view.snapshots, view.extensions) == (
        record.descriptor,
        record.snapshots,
        record.extensions,
    )
    assert [(v.id, v.is_baseline, v.is_control) for v in view.variants] == [("v0", True, False), ("v1", False, True)]
    assert view.variants[0].agent_config == {"model": "m", "retries": [1, 2.5, None]}
    assert [v.agent_version for v in view.variants] == ["0.171.0", None]
    assert view.variants[1].values == {"agent": "codex", "reasoning_effort": None}
    assert [t.id for t in view.tasks] == ["bugfix-000", "bugfix-001"]
    assert [r.id for r in view.runs] == [r.id for r in record.plan.runs]


def test_a_run_that_never_started_is_pending_and_not_interrupted(laboratory, data):
    run = Store(data).experiment(laboratory.plan().id).runs[0]
    assert (run.state, run.interrupted, run.started_at, run.outcome, run.metrics) == (
        RunState.PENDING, False, None, None, {},
    )  # fmt: skip


def test_events_tool_calls_and_diff_come_from_the_runs_files(laboratory, data):
    folder = laboratory.plan()
    laboratory.run(folder, 0)
    store = Store(data)
    done, pending = store.experiment(folder.id).runs[:2]
    assert [event.state for event in store.events(done)] == [
        RunState.PREPARING,
        RunState.CREATING_WORKSPACE,
        RunState.EXECUTING,
        RunState.EVALUATING,
        RunState.COMPLETED,
    ]
    (call,) = store.tool_calls(done)
    assert (call.name, call.command, call.status, call.exit_code, call.output) == ("shell", "ls", None, 0, "a\n")
    assert store.diff(done) == "--- a\n+++ b\n\ufffd\n"
    assert store.diff(done, limit=3) == "---"
    assert (store.events(pending), store.tool_calls(pending), store.diff(pending)) == ((), (), None)


def test_an_unknown_experiment_is_refused_with_the_known_ones(laboratory, data):
    laboratory.plan()
    laboratory.plan()
    with pytest.raises(InputError, match=r"no experiment exp-9.*exp-0001, exp-0002"):
        Store(data).experiment("exp-9")


def test_a_project_without_data_has_no_experiments_and_gets_no_files(data):
    assert Store(data).experiment_ids() == ()
    with pytest.raises(InputError, match="none yet"):
        Store(data).experiment("exp-0001")
    assert not data.exists()


@pytest.mark.parametrize("stale", [False, True])
def test_reading_leaves_the_data_folder_as_it_is(data, stale):
    with Index.open(data) as index:
        folder = ExperimentFolder(data, index.next_experiment_id())
        record = experiment(folder.id)
        folder.begin(record)
        index.update_experiment(folder.id)
    if stale:
        start(folder.run_path("run-0001"), record, record.plan.runs[0])
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    assert {path.name for path in data.iterdir()} == {"akbench.lock", "akbench.sqlite", "artifacts"}
    assert Store(data).experiment(folder.id).runs[0].interrupted == stale
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before


def test_without_a_database_everything_is_read_from_the_files(data):
    with Index.open(data) as index:
        experiment_id = index.next_experiment_id()
    folder = ExperimentFolder(data, experiment_id)
    record = experiment(experiment_id)
    folder.begin(record)
    finish(start(folder.run_path("run-0001"), record, record.plan.runs[0]), result(record, record.plan.runs[0]))
    (data / "akbench.sqlite").unlink()
    assert Store(data).experiment(experiment_id).runs[0].state == RunState.COMPLETED
    assert not (data / "akbench.sqlite").exists()


def test_a_result_that_the_index_has_not_seen_is_shown(laboratory, data, all_rows):
    folder = laboratory.plan()
    record = folder.record()
    laboratory.run(folder, 0)
    before = all_rows(data / "akbench.sqlite")
    finish(start(folder.run_path("run-0002"), record, record.plan.runs[1]), result(record, record.plan.runs[1]))
    assert [run.state for run in Store(data).experiment(folder.id).runs[:2]] == [RunState.COMPLETED] * 2
    assert all_rows(data / "akbench.sqlite") == before


def test_an_end_that_the_index_has_not_seen_is_shown(laboratory, data):
    from store_samples import end

    folder = laboratory.plan()
    assert Store(data).experiment(folder.id).status == "incomplete"
    folder.end(end())
    assert Store(data).experiment(folder.id).status == "valid_with_warnings"


def test_an_older_schema_is_read_from_the_files(laboratory, data):
    folder = laboratory.plan()
    laboratory.run(folder, 0)
    change(data, "DROP TABLE metrics", "DELETE FROM alembic_version")
    assert Store(data).experiment(folder.id).runs[0].metrics["input_tokens"].value == 1200


def test_a_newer_schema_is_refused_with_the_mend(laboratory, data):
    folder = laboratory.plan()
    change(data, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match=r"newer AK-Bench \(schema 9999.*akbench store rebuild"):
        Store(data).experiment(folder.id)
    with pytest.raises(InputError, match="akbench store rebuild"):
        Index.open(data)


@pytest.mark.parametrize("content", [b"not a database" * 100, b"\0" * 5000], ids=["text", "zeros"])
def test_a_file_that_is_no_database_is_reported_and_rebuilt(data, content):
    with Index.open(data) as index:
        folder = ExperimentFolder(data, index.next_experiment_id())
        folder.begin(experiment(folder.id))
        index.update_experiment(folder.id)
    (data / "akbench.sqlite").write_bytes(content)
    with pytest.raises(HostError, match=r"akbench\.sqlite is damaged .*akbench store rebuild"):
        Store(data).experiment(folder.id)
    with pytest.raises(HostError, match="akbench store rebuild"):
        Index.open(data)
    assert Index.rebuild(data).experiments == 1
    assert Store(data).experiment(folder.id).title == "Does effort help?"


def test_a_truncated_database_is_reported(data):
    with Index.open(data) as index:
        folder = ExperimentFolder(data, index.next_experiment_id())
        folder.begin(experiment(folder.id, runs=200))
        index.update_experiment(folder.id)
    database = data / "akbench.sqlite"
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 3])
    with pytest.raises(HostError, match="akbench store rebuild"):
        Store(data).experiment(folder.id)


def test_a_damaged_plan_hides_no_other_experiment(data):
    with Index.open(data) as index:
        folders = [ExperimentFolder(data, index.next_experiment_id()) for _ in range(2)]
        for folder in folders:
            folder.begin(experiment(folder.id))
            index.update_experiment(folder.id)
    folders[0].record_path.write_bytes(b'{"format": "1"')
    with Index.open(data):
        assert Store(data).experiment_ids() == ("exp-0001", "exp-0002")
        assert Store(data).experiment("exp-0002").status == "incomplete"
        with pytest.raises(InputError, match=r"experiment\.json: cannot be read"):
            Store(data).experiment("exp-0001")


def test_a_damaged_end_leaves_the_experiment_incomplete_and_says_so(laboratory, data):
    folder = laboratory.plan()
    laboratory.run(folder, 0)
    folder.end_path.write_bytes(b'{"status": "val')
    view = Store(data).experiment(folder.id)
    assert (view.status, view.finished_at, view.runs[0].solved) == ("incomplete", None, True)
    assert "end.json: cannot be read" in view.status_reasons[0]


def test_a_file_of_another_format_is_named_as_such(laboratory, data):
    folder = laboratory.plan()
    folder.record_path.write_bytes(folder.record_path.read_bytes().replace(b'"format": "1"', b'"format": "27"', 1))
    with pytest.raises(InputError, match="is of format 27, this version reads 1"):
        Store(data).experiment(folder.id)


def test_a_damaged_result_leaves_the_run_unfinished_and_says_so(laboratory, data):
    folder = laboratory.plan()
    laboratory.run(folder, 0)
    (folder.run_path("run-0001") / "result.json").write_bytes(b"{}")
    run = Store(data).experiment(folder.id).runs[0]
    assert (run.state, run.interrupted, run.outcome) == (RunState.EVALUATING, True, None)
    assert run.oddities[0].startswith("result.json cannot be read")


def test_a_damaged_event_is_left_out_and_named(laboratory, data):
    folder = laboratory.plan()
    laboratory.run(folder, 0)
    path = folder.run_path("run-0001") / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\xff garbage\n" + b"".join(lines[1:]))
    run = Store(data).experiment(folder.id).runs[0]
    assert run.oddities[0].startswith("events.jsonl line 2 cannot be read")
    assert len(Store(data).events(run)) == len(lines)


def test_a_last_event_cut_by_a_crash_does_not_count(laboratory, data):
    folder = laboratory.plan()
    laboratory.start(folder, 0)
    with (folder.run_path("run-0001") / "events.jsonl").open("ab") as file:
        file.write(b'{"at": "2026-05-01T12:0')
    run = Store(data).experiment(folder.id).runs[0]
    assert (run.state, run.oddities) == (RunState.EXECUTING, ())


def test_a_final_event_without_a_result_is_an_interrupted_run(laboratory, data):
    folder = laboratory.plan()
    laboratory.start(folder, 0).enter(RunState.COMPLETED)
    run = Store(data).experiment(folder.id).runs[0]
    assert (run.state, run.interrupted, run.is_final) == (RunState.EXECUTING, True, False)


def test_kill_9_of_the_writer_leaves_a_store_that_tells_the_truth(data):
    script = Path(__file__).with_name("store_writer.py")
    writer = subprocess.Popen(
        [sys.executable, script, data, "stop"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with writer:
        experiment_id = writer.stdout.readline().strip()
        alive = Store(data).experiment(experiment_id)
        writer.kill()
    dead = Store(data).experiment(experiment_id)
    states = [RunState.COMPLETED, RunState.COMPLETED, RunState.EXECUTING, RunState.PENDING]
    assert [run.state for run in alive.runs] == [run.state for run in dead.runs] == states
    assert [run.interrupted for run in alive.runs] == [False] * 4
    assert [run.interrupted for run in dead.runs] == [False, False, True, False]
    assert "EXECUTING" in dead.runs[2].reason
    assert alive.status_reasons == ("it is still running: 2 of 4 runs have finished",)
    assert dead.status_reasons == ("it was interrupted before its end: 2 of 4 runs have finished",)


@pytest.mark.parametrize("delay", [0.0, 0.11, 0.23, 0.37, 0.52])
def test_kill_9_at_any_moment_loses_no_finished_run(data, delay, all_rows):
    script = Path(__file__).with_name("store_writer.py")
    writer = subprocess.Popen([sys.executable, script, data, "go"], stdout=subprocess.PIPE, text=True)
    with writer:
        experiment_id = writer.stdout.readline().strip()
        threading.Event().wait(delay)
        writer.kill()
    view = Store(data).experiment(experiment_id)
    finished = {path.parent.name for path in (data / "artifacts" / experiment_id).glob("*/result.json")}
    assert {run.id for run in view.runs if run.is_final} == finished
    assert sum(run.interrupted for run in view.runs) <= 1
    with Index.open(data) as index:
        assert index.next_experiment_id() == "exp-0002"
        assert Store(data).experiment(experiment_id) == view
    kept_up = all_rows(data / "akbench.sqlite")
    Index.rebuild(data)
    assert all_rows(data / "akbench.sqlite") == kept_up


def test_readers_see_whole_states_while_a_writer_is_active(laboratory, data):
    folder = laboratory.plan(runs=30)
    done = threading.Event()
    faults: list[str] = []
    readings = 0

    def read() -> None:
        nonlocal readings
        while not done.is_set():
            faults.extend(
                f"{run.id} in {run.state} has {len(run.metrics)} metrics and the outcome {run.outcome}"
                for run in Store(data).experiment(folder.id).runs
                if not run.is_final == bool(run.metrics) == (run.outcome is not None)
            )
            readings += 1

    reader = threading.Thread(target=read)
    with folder.hold():
        reader.start()
        for number in range(30):
            laboratory.run(folder, number)
        done.set()
        reader.join()
    assert readings > 0
    assert faults == []
    assert all(run.is_final for run in Store(data).experiment(folder.id).runs)


def test_a_reader_keeps_seeing_the_state_that_it_began_with(laboratory, data):
    folder = laboratory.plan()
    engine = reading_engine(data / "akbench.sqlite")
    with engine.connect() as connection:
        count = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM metrics)"
        assert connection.exec_driver_sql(count).one() == (0, 0)
        laboratory.run(folder, 0)
        assert connection.exec_driver_sql(count).one() == (0, 0)
    with engine.connect() as connection:
        assert connection.exec_driver_sql(count).one() == (5, 4)
    engine.dispose()


def change(data: Path, *statements: str) -> None:
    connection = sqlite3.connect(data / "akbench.sqlite")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
