"""Verification of the stored files, and the commands of ``akbench store``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from store_samples import experiment, finish, result, start

from akbench.run.lifecycle import RunState
from akbench.store.folder import ExperimentFolder
from akbench.store.index import Index
from akbench.store.query import Store
from akbench.store.verify import verify


@pytest.fixture
def folder(data: Path) -> ExperimentFolder:
    """An experiment with one finished, one unfinished and two pending runs; no index."""
    record = experiment("exp-0001")
    folder = ExperimentFolder(data, record.id)
    folder.begin(record)
    first, second = record.plan.runs[:2]
    finish(start(folder.run_path(first.id), record, first), result(record, first))
    start(folder.run_path(second.id), record, second)
    return folder


def test_untouched_files_are_in_order_and_counted(folder, data):
    found = verify(data)
    assert found.faults == ()
    assert (found.experiments, found.finished, found.unfinished, found.files) == (1, 1, 1, 4)
    kept = folder.run_path("run-0001")
    names = ("diff.patch", "events.jsonl", "manifest.json", "tool_calls.jsonl")
    assert found.size == sum((kept / name).stat().st_size for name in names)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def lengthen(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


def link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


@pytest.mark.parametrize("name", ["diff.patch", "tool_calls.jsonl", "events.jsonl"])
@pytest.mark.parametrize(
    ("change", "message"),
    [(flip, "has SHA-256"), (lengthen, "bytes"), (Path.unlink, "is missing"), (link, "is not a regular file")],
    ids=["one bit", "one byte more", "deleted", "replaced by a link"],
)
def test_a_changed_file_is_named(folder, data, name, change, message):
    change(folder.run_path("run-0001") / name)
    faults = [fault for fault in verify(data).faults if "cannot be read" not in fault.message]
    assert [(f.experiment_id, f.run_id, f.file) for f in faults] == [("exp-0001", "run-0001", name)]
    assert message in faults[0].message


def test_a_file_whose_folder_became_a_file_is_missing(folder, data):
    record = folder.record()
    third = record.plan.runs[2]
    work = start(folder.run_path(third.id), record, third)
    work.write("agent/rollout.jsonl", b"{}\n", "application/jsonl")
    finish(work, result(record, third))
    (folder.run_path(third.id) / "agent" / "rollout.jsonl").unlink()
    (folder.run_path(third.id) / "agent").rmdir()
    (folder.run_path(third.id) / "agent").write_text("")
    (fault,) = verify(data).faults
    assert (fault.file, fault.message) == ("agent/rollout.jsonl", "is missing")


def test_a_recorded_name_that_leads_out_of_the_folder_is_not_followed(folder, data):
    path = folder.run_path("run-0001") / "result.json"
    path.write_bytes(path.read_bytes().replace(b'"diff.patch"', b'"../../../x"'))
    (fault,) = verify(data).faults
    assert fault.message == "the name leads out of the run's folder"


@pytest.mark.parametrize("name", ["experiment.json", "end.json", "run-0001/result.json", "run-0002/manifest.json"])
def test_a_damaged_record_is_named(folder, data, name):
    (folder.path / name).write_bytes(b"{")
    (fault,) = verify(data).faults
    run_id, _, file = name.rpartition("/")
    assert (fault.run_id, fault.file) == (run_id or None, file)
    assert "cannot be read" in fault.message


def akbench(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from akbench.cli import main; main()", *arguments, "--project", project]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_verify_says_what_it_checked_and_ends_with_1_on_a_fault(folder, data):
    good = akbench(data.parent, "store", "verify")
    assert (good.returncode, good.stderr) == (0, "")
    assert "of 1 finished runs and their 0 later gradings in 1 experiments; 1 unfinished" in good.stdout
    flip(folder.run_path("run-0001") / "diff.patch")
    bad = akbench(data.parent, "store", "verify")
    assert bad.returncode == 1
    assert "diff.patch" in bad.stdout
    listed = akbench(data.parent, "store", "verify", "--json")
    assert listed.returncode == 1
    assert [fault["file"] for fault in json.loads(listed.stdout)["faults"]] == ["diff.patch"]


def test_the_command_rebuild_makes_the_index_and_says_what_is_in_it(folder, data):
    (data / "akbench.sqlite").write_bytes(b"rubbish" * 1000)
    done = akbench(data.parent, "store", "rebuild")
    assert (done.returncode, done.stdout, done.stderr) == (0, "indexed 1 experiments with 4 runs\n", "")
    listed = akbench(data.parent, "store", "rebuild", "--json")
    assert json.loads(listed.stdout) == {"experiments": 1, "runs": 4, "gradings": 0, "unreadable": []}


def test_the_command_rebuild_ends_with_3_while_an_experiment_runs(folder, data):
    with Index.open(data):
        done = akbench(data.parent, "store", "rebuild")
    assert done.returncode == 3
    assert "an experiment runs in" in done.stderr


def test_the_command_line_starts_without_the_database_libraries():
    heavy = "{'sqlmodel', 'sqlalchemy', 'alembic'}"
    program = f"import sys, akbench.cli, akbench.cli.store; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_only_the_store_imports_the_database_libraries():
    source = Path(verify.__code__.co_filename).parents[1]
    users = {
        path.relative_to(source).parts[0]
        for path in source.rglob("*.py")
        for line in path.read_text().splitlines()
        if line.strip().startswith(("import ", "from "))
        and line.split()[1].partition(".")[0] in {"sqlmodel", "sqlalchemy", "alembic"}
    }
    assert users == {"store"}


def replaced_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replaced_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [replaced_by_folder, replaced_by_pipe], ids=["a folder", "a pipe"])
@pytest.mark.parametrize("name", ["manifest.json", "events.jsonl", "result.json"])
def test_what_lies_in_the_place_of_a_runs_file_is_named_and_stops_no_one(folder, data, name, change):
    change(folder.run_path("run-0001") / name)
    faults = {(fault.run_id, fault.file): fault.message for fault in verify(data).faults}
    assert faults["run-0001", name] == "is not a regular file"
    assert Index.rebuild(data).experiments == 1
    view = Store(data).experiment("exp-0001")
    assert f"{name} is not a regular file" in view.runs[0].oddities


def test_a_file_in_the_place_of_a_runs_folder_stops_no_one(folder, data):
    shutil.rmtree(folder.run_path("run-0001"))
    folder.run_path("run-0001").write_text("")
    assert Index.rebuild(data).experiments == 1
    assert Store(data).experiment("exp-0001").runs[0].state is RunState.PENDING


@pytest.mark.parametrize("name", ["experiment.json", "end.json"])
def test_what_lies_in_the_place_of_an_experiments_file_is_named(folder, data, name):
    (folder.path / name).unlink(missing_ok=True)
    (folder.path / name).mkdir()
    faults = [(fault.file, fault.message) for fault in verify(data).faults]
    assert (name, "is not a regular file") in faults
    assert len(Index.rebuild(data).unreadable) == (name == "experiment.json")


def test_the_command_list_names_a_damaged_experiment_and_lists_the_others(folder, data):
    record = experiment("exp-0002")
    damaged = ExperimentFolder(data, record.id)
    damaged.begin(record)
    damaged.record_path.write_text("{")
    done = akbench(data.parent, "experiment", "list", "--json")
    assert done.returncode == 0
    assert [each["id"] for each in json.loads(done.stdout)] == ["exp-0001"]
    assert "left out: " in done.stderr
    assert "exp-0002/experiment.json: cannot be read" in done.stderr


def test_a_folder_with_an_absurd_number_is_no_experiment(folder, data):
    shutil.copytree(folder.path, folder.path.with_name("exp-" + "9" * 30))
    with Index.open(data) as index:
        assert index.next_experiment_id() == "exp-0002"
    assert Store(data).experiment_ids() == ("exp-0001",)
