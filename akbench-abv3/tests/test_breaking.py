"""Hostile repositories and machines that refuse: one clear line, an exit code, nothing half written, no secret."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from akbench_abv3.check import check_repository
from akbench_abv3.dependencies.env_file import EnvFileError, write_env_file
from akbench_abv3.dependencies.store import FileStore, StoreError, user_folder
from akbench_abv3.execution.masking import masked
from akbench_abv3.reading.bounded import UnreadableError
from akbench_abv3.reading.config_text import scan_config
from akbench_abv3.reading.json_text import parse_json
from akbench_abv3.results.aggregate import RunTally, aggregate
from akbench_abv3.results.atif import atif_faults
from akbench_abv3.results.document import Tier, judge_result
from akbench_abv3.writing import write_atomically

GOOD = "result(success=1)"
SECRET = "fixture-secret-value"
MINE = "[dependency.mine]\ntype = 'env'\nenv = 'MINE'\nrequired = false"
DIR = "import shutil; D = Path(os.environ['ABV3_RUN_DIR']); "


def wait_until(holds, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# --- what a run may do to its own folder ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("do", "status"),
    [
        (f"{DIR} shutil.rmtree(D)", "no_result"),
        (f"{DIR} shutil.rmtree(D.parent)", "no_result"),
        (f"{DIR} os.mkfifo(D / 'result.json')", "invalid_result"),
        (f"{DIR} (D / 'result.json').mkdir()", "invalid_result"),
        (f"{DIR} os.symlink('/dev/zero', D / 'result.json')", "invalid_result"),
        (f"{DIR} (D / 'result.json').touch(); os.truncate(D / 'result.json', 10**11)", "invalid_result"),
        (f"{DIR} shutil.rmtree(D); D.write_text('x')", "failed"),
    ],
)
def test_a_run_that_ruins_its_folder_does_not_finish_and_stops_no_other(experiment, abv3, do, status):
    root = experiment({"a": do, "b": GOOD})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 1
    record = json.loads((root / "results/default/abv3_exp.json").read_text())
    assert record["runs"] == {"a": status, "b": "finished"}
    assert json.loads((root / "results/default/results.json").read_text())["count"] == 1


def test_a_result_that_links_out_of_the_run_folder_does_not_count(experiment, abv3, tmp_path):
    (tmp_path / "other.json").write_text('{"success": 1}')
    root = experiment({"a": f"{DIR} os.symlink('{tmp_path}/other.json', D / 'result.json')"})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 1
    assert "R001 results/default/a/result.json: a link out of the run folder" in said.stderr


def test_a_run_that_removes_a_later_run_config_fails_that_run_only(experiment, abv3):
    root = experiment({"a": f"Path('run_configs/default/b.json').unlink(); {GOOD}", "b": GOOD, "c": GOOD})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 1
    record = json.loads((root / "results/default/abv3_exp.json").read_text())
    assert record["runs"] == {"a": "finished", "b": "failed", "c": "finished"}
    assert "b: failed: its run config cannot be read: No such file or directory" in said.stderr


def test_a_results_json_beyond_the_limit_is_not_read_into_memory(experiment, abv3):
    own = "Path(os.environ['ABV3_EXPERIMENT_RESULT_FILE'])"
    root = experiment({"a": f"{GOOD}; {own}.touch(); os.truncate({own}, 10**12)"})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 1
    assert "R001 results/default/results.json: larger than 10 MiB" in said.stderr


def test_what_the_machine_refuses_is_said_in_one_line(experiment, abv3):
    root = experiment({"a": GOOD})
    (root / "results").mkdir()
    (root / "results/default").write_text("in the way")

    said = abv3("run_exp", "-C", str(root))

    assert (said.exit_code, said.stderr) == (2, f"Error: {root}/results/default: File exists\n")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "soon"])
def test_a_time_limit_that_is_no_time_is_refused(experiment, abv3, value):
    root = experiment({"a": GOOD})
    said = abv3("run_exp", "-C", str(root), "--timeout", value)
    assert said.exit_code == 2
    assert not (root / "results").exists()


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="Is a directory") as caught:
        write_atomically(tmp_path / "taken", "text")
    assert (caught.value.filename, caught.value.filename2) == (str(tmp_path / "taken"), None)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_output_that_cannot_be_written_is_said_in_one_line(repository, abv3_process):
    root = repository()
    with Path("/dev/full").open("wb") as full:
        process = abv3_process("check", "-C", str(root), stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == b"Error: No space left on device\n"


def test_results_are_never_put_aside_through_a_link_out_of_the_repository(experiment, abv3, tmp_path):
    root, outside = experiment({"a": GOOD}), tmp_path / "outside"
    outside.mkdir()
    assert abv3("run_exp", "-C", str(root)).exit_code == 0
    (root / "results/.old").symlink_to(outside)
    said = abv3("run_exp", "-C", str(root), "--overwrite")
    assert said.exit_code == 2
    assert "results/.old leaves the repository" in said.stderr
    (root / "results/.old").unlink()
    (root / "results/default/a/.abv3_attempts").symlink_to(outside)
    said = abv3("run_exp", "-C", str(root), "--resume")
    assert said.exit_code == 2
    assert ".abv3_attempts leaves the repository" in said.stderr
    assert not any(outside.iterdir())
    assert (root / "results/default/a/result.json").exists()


def test_results_that_cannot_be_listed_are_a_finding(repository, monkeypatch):
    from akbench_abv3.reading import bounded

    root = repository(files={"results/default/a/result.json": '{"a": 1}'})
    listed = os.scandir

    def closed(folder: Path) -> object:
        if Path(folder).name == "default" and Path(folder).parent.name == "results":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    monkeypatch.setattr(bounded.os, "scandir", closed)
    for level in ("1", "1+t"):
        found = [str(one) for one in check_repository(root, level=level, results=True).findings]
        assert found == ["R001 results/default: its results cannot be listed: Permission denied"]


# --- secrets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "do",
    [
        "result(**{os.environ['MINE']: 1})",
        "result(main_metric=os.environ['MINE'], x=1)",
        "result(success=1, status=os.environ['MINE'], metric_info={os.environ['MINE']: 3})",
        "Path(os.environ['ABV3_EXPERIMENT_RESULT_FILE']).write_text(json.dumps({'count': 1, os.environ['MINE']: 2}))",
    ],
)
def test_a_secret_that_a_result_quotes_is_shown_and_recorded_nowhere(experiment, abv3, do):
    root = experiment({"a": do, "b": GOOD}, add=MINE)

    said = abv3("run_exp", "-C", str(root), environment={"MINE": SECRET})

    assert SECRET not in said.stdout + said.stderr
    records = [path.read_text() for path in root.rglob("abv3_*.json")]
    assert len(records) == 3
    assert not any(SECRET in text for text in records)
    assert "contains the value of MINE" in said.stderr


def test_a_text_is_masked_whole():
    assert masked("a fixture-secret-value, é", [SECRET]) == "a ***, é"


def test_a_secret_as_long_as_a_page_does_not_slow_masking_down():
    from akbench_abv3.execution.masking import StreamMask

    secret = "ab" * 50_000
    mask = StreamMask([secret])
    began = time.process_time()
    shown = b"".join(mask.feed(b"x" * 65536) for _ in range(20)) + mask.feed(secret.encode()) + mask.finish()
    assert shown == b"x" * 65536 * 20 + b"***"
    assert time.process_time() - began < 5


# --- numbers and depth ----------------------------------------------------------------------------------------


def test_counts_beyond_every_number_of_data_points_are_refused():
    huge = json.loads("9" * 4299)
    for document in ({"count": huge, "a": 1}, {"a": 1, "coverage": {"a": huge}}, {"a": 1, "runs": {"total": huge}}):
        result, findings = judge_result(document, Tier.RUN, shown="r")
        assert result is None
        assert [one.code for one in findings] in (["R002"], ["R008"], ["R007"])


@pytest.mark.parametrize("value", [1.7e308, 17 * 10**307])
def test_values_that_add_up_to_no_finite_number_give_no_result(value):
    document = {"a": value, "metric_info": {"a": {"aggregate": "sum"}}}
    result, _ = judge_result(document, Tier.RUN, shown="r")
    assert result is not None
    aggregated = aggregate({"x": result, "y": result}, RunTally(total=2, finished=2, failed=0), shown="s")
    assert aggregated.document is None
    assert aggregated.reason == "the runs' values of a add up to no finite number"


def test_json_is_read_to_a_hundred_levels_and_no_deeper():
    assert parse_json("[" * 100 + "]" * 100)
    assert parse_json("[" + "[]," * 500 + "[]]")
    with pytest.raises(UnreadableError, match="nested more than 100 levels deep"):
        parse_json('{"a":' * 101 + "1" + "}" * 101)


def test_json_with_millions_of_values_is_refused_before_it_fills_the_memory():
    with pytest.raises(UnreadableError, match="more than 2000000 commas"):
        parse_json("[" + "[]," * 2_000_001 + "[]]")


def test_a_transcript_with_too_many_faults_to_list_says_how_many():
    document = {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [[]] * 10_001}
    assert atif_faults(document) == (None, (("", "10001 faults, too many to list"),))


def test_credentials_are_found_in_document_order_however_deep():
    key = "sk-" + "a" * 24
    text = json.dumps({"a": [1, {"b": key}, [], key], "c": {}, "d": {"e": [[key]]}})
    assert scan_config(text, ".json").credentials == ("a[1].b", "a[3]", "d.e[0][0]")
    assert scan_config(json.dumps(key), ".json").credentials == ("",)


# --- much of everything: a check must not take a square of it -------------------------------------------------


def test_many_dependencies_and_a_long_name_are_told_in_proportion(repository, abv3):
    many = "".join(f"[dependency.a{number}]\n" for number in range(2000))
    root = repository(add=f"[dependency.{'b' * 100_000}]\n{many}")
    said = abv3("check", "-C", str(root))
    assert said.exit_code == 1
    assert len(said.stdout) < 1_000_000


def test_a_command_of_nothing_but_dollars_is_looked_through_once(tmp_path, repository):
    root = repository(
        "a folder/repo", change={'python3 main.py "$RUN_CONFIG_FILE"': f"$RUN_CONFIG_FILE{'$' * 300_000}"}
    )
    began = time.process_time()
    assert "W023" in [one.code for one in check_repository(root).findings]
    assert time.process_time() - began < 10


def test_the_results_folder_may_not_lie_in_the_git_folder(repository, abv3):
    root = repository(change={'folder = "./results"': 'folder = ".git/hooks"'})
    said = abv3("check", "-C", str(root))
    assert said.exit_code == 1
    assert "FAIL E060" in said.stdout


# --- credentials ----------------------------------------------------------------------------------------------


def test_an_env_file_that_is_a_link_is_refused(repository, commit, tmp_path):
    root = repository(files={".gitignore": ".env\n", "tracked": "x"})
    commit(root)
    for target in ("tracked", str(tmp_path / "elsewhere")):
        (root / ".env").symlink_to(target)
        with pytest.raises(EnvFileError, match="is a link"):
            write_env_file(root, {"MINE": SECRET})
        (root / ".env").unlink()
    assert (root / "tracked").read_text() == "x"
    assert not (tmp_path / "elsewhere").exists()


def test_an_env_file_is_not_written_where_git_cannot_be_asked(repository, commit, monkeypatch):
    from akbench_abv3.description import git

    root = repository(files={".gitignore": ".env\n"})
    commit(root)
    os.mkfifo(root / "never-answers")
    with (root / ".git/config").open("a") as config:
        config.write(f"[core]\nexcludesFile = {root}/never-answers\n")
    monkeypatch.setattr(git, "GIT_TIMEOUT_SECONDS", 2)
    with pytest.raises(EnvFileError, match="Git data cannot be read within 2 s"):
        write_env_file(root, {"MINE": SECRET})
    (root / ".git/config").write_text("[core\n")
    with pytest.raises(EnvFileError, match="Git data cannot be read"):
        write_env_file(root, {"MINE": SECRET})
    assert not (root / ".env").exists()


def test_a_store_that_cannot_be_used_says_so_without_a_value(tmp_path):
    path = tmp_path / "credentials.toml"
    path.symlink_to("nowhere")
    with pytest.raises(StoreError, match="cannot be read"):
        FileStore(path).get("MINE")
    path.unlink()
    path.write_text(f'[credentials]\nMINE = "{SECRET}\\u0000"\n')
    path.chmod(0o600)
    with pytest.raises(StoreError, match="not a table of credentials") as caught:
        FileStore(path).get("MINE")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("given", [SECRET, f"MINE={SECRET}", "MINE=", f"MINE=/{SECRET}"])
def test_a_value_given_in_place_of_a_path_is_not_repeated(repository, abv3, given):
    said = abv3("setup", "-C", str(repository(add=MINE)), "--from-file", given)
    assert said.exit_code == 2
    assert SECRET not in said.stdout + said.stderr


def test_a_relative_configuration_folder_is_ignored(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", "in/the/repository")
    assert user_folder("XDG_CONFIG_HOME", ".config") == Path.home() / ".config"
    monkeypatch.setenv("XDG_CONFIG_HOME", "/somewhere")
    assert user_folder("XDG_CONFIG_HOME", ".config") == Path("/somewhere")


# --- beginning ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [("--command", "run \udcff"), ("--install", " "), ("--install", "\udcff"), ("--name", "a\n"), ("--tag", "a\x1b")],
)
def test_an_answer_that_would_not_pass_the_check_writes_nothing(tmp_path, abv3, option, value):
    assert abv3("init", "-C", str(tmp_path), "--author", "Ada", option, value).exit_code == 2
    assert not any(tmp_path.iterdir())


def test_more_tags_than_allowed_are_refused_and_not_dropped(tmp_path, abv3):
    said = abv3("init", "-C", str(tmp_path), "--author", "Ada", "--tag", ",".join(f"t{n}" for n in range(51)))
    assert (said.exit_code, said.stderr) == (2, "Error: at most 50\n")


def test_a_new_repository_is_written_whole_or_not_at_all(tmp_path, abv3, monkeypatch):
    from akbench_abv3.cli import init

    def refusing(path: Path, text: str) -> None:
        if path.name == "assess.py":
            raise OSError(28, "No space left on device", str(path))
        path.write_text(text)

    monkeypatch.setattr(init, "write_atomically", refusing)
    said = abv3("init", "-C", str(tmp_path), "--author", "Ada")
    assert (said.exit_code, said.stderr) == (2, f"Error: {tmp_path}/assess.py: No space left on device\n")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_new_repository_is_not_written_through_a_link(tmp_path, abv3):
    (tmp_path / "outside").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root/run_configs").symlink_to("../outside")
    said = abv3("init", "-C", str(tmp_path / "root"), "--author", "Ada")
    assert said.exit_code == 2
    assert "leaves the repository; nothing was written" in said.stderr
    assert not any((tmp_path / "outside").iterdir())


def test_a_new_repository_that_does_not_pass_is_no_success(tmp_path, abv3):
    (tmp_path / "run_configs/empty").mkdir(parents=True)
    said = abv3("init", "-C", str(tmp_path), "--author", "Ada")
    assert said.exit_code == 1
    assert "FAIL E053" in said.stdout
    assert "Next:" not in said.stdout


# --- ends that nobody wished for ------------------------------------------------------------------------------


def test_a_killed_abv3_leaves_no_process_and_an_honest_record(experiment, abv3_process, abv3):
    do = (
        "inner = subprocess.Popen(['sleep', '60'], start_new_session=True); "
        "Path('pids').write_text(f'{os.getpid()} {inner.pid}'); time.sleep(60)"
    )
    root = experiment({"a": do, "b": GOOD})
    process = abv3_process("run_exp", "-C", str(root))
    wait_until(lambda: (root / "pids").exists() and len((root / "pids").read_text().split()) == 2)
    pids = [int(text) for text in (root / "pids").read_text().split()]

    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)

    wait_until(lambda: not any(map(is_running, pids)))
    record = json.loads((root / "results/default/a/abv3_run.json").read_text())
    assert (record["status"], record["finished_at"]) == ("interrupted", None)
    assert not (root / "results/default/results.json").exists()
    (root / "run_configs/default/a.json").write_text(json.dumps({"do": GOOD}))
    wait_until(lambda: abv3("run_exp", "-C", str(root), "--resume").exit_code == 0)
    assert json.loads((root / "results/default/results.json").read_text())["count"] == 2


def test_the_lock_of_a_killed_abv3_is_held_until_its_run_has_ended(experiment, abv3_process, abv3):
    do = (
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), Path('cleaned').touch(), os._exit(1))); "
        "Path('up').touch(); time.sleep(60)"
    )
    root = experiment({"a": do})
    process = abv3_process("run_exp", "-C", str(root))
    wait_until((root / "up").exists)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)

    said = abv3("run_exp", "-C", str(root), "--resume", "--timeout", "0.01")

    assert said.exit_code == 5
    wait_until((root / "cleaned").exists)


def test_stopping_a_question_ends_with_the_code_of_an_interrupt(tmp_path, abv3_process):
    import pty

    ours, theirs = pty.openpty()
    process = abv3_process("init", "-C", str(tmp_path), stdin=theirs, start_new_session=True)
    os.close(theirs)
    os.write(ours, b"\x04")
    _, err = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130
    assert b"stopped" in err
    assert not any(tmp_path.iterdir())
