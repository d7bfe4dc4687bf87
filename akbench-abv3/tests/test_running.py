"""An experiment runs as the standard says, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

GOOD = "result(success=1)"


def read(root: Path, path: str) -> dict[str, object]:
    return json.loads((root / path).read_text())


def wait_until(holds, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_run_configs_are_executed_in_natural_order_and_their_results_aggregated(experiment, abv3_ended):
    do = "open('order.txt', 'a').write(os.environ['ABV3_RUN'] + ' '); result(success={}, latency_s={})"
    root = experiment({"c10": do.format(1, 3.0), "c2": do.format(0, 1.0), "c1": do.format(1, "None")})

    said = abv3_ended("run_exp", "-C", str(root))

    assert said.exit_code == 0, said.stderr
    assert (root / "order.txt").read_text() == "c1 c2 c10 "
    assert read(root, "results/default/results.json") == {
        "count": 3,
        "main_metric": "success",
        "success": pytest.approx(2 / 3),
        "latency_s": 2.0,
        "coverage": {"success": 3, "latency_s": 2},
        "status": "complete",
        "runs": {"total": 3, "finished": 3, "failed": 0, "excluded": 0},
    }
    assert said.stdout.splitlines()[-1] == (
        "default: 3 of 3 runs finished, success 0.666667 (3 data points) → results/default/results.json"
    )


def test_a_run_is_told_where_everything_is(experiment, abv3):
    root = experiment(
        {
            "a": "own = {k: v for k, v in os.environ.items() if k.startswith(('ABV3_', 'RUN_CONFIG'))}; "
            "result(success=1, extra=own)"
        }
    )

    assert abv3("run_exp", "-C", str(root)).exit_code == 0

    run_dir = root / "results/default/a"
    assert read(run_dir, "result.json")["extra"] == {
        "RUN_CONFIG_FILE": str(root / "run_configs/default/a.json"),
        "ABV3_REPO_ROOT": str(root),
        "ABV3_EXPERIMENT": "default",
        "ABV3_RUN": "a",
        "ABV3_RUN_DIR": str(run_dir),
        "ABV3_RESULT_FILE": str(run_dir / "result.json"),
        "ABV3_TRANSCRIPT_FILE": str(run_dir / "transcript.json"),
        "ABV3_EXPERIMENT_RESULT_FILE": str(root / "results/default/results.json"),
        "ABV3_RESUME": "0",
    }


def test_each_way_of_not_finishing_has_its_status_and_stops_nothing(experiment, abv3):
    root = experiment(
        {
            "c1": GOOD,
            "c2": "result(success=1); sys.exit(3)",
            "c3": "time.sleep(60)",
            "c4": "Path(os.environ['ABV3_RESULT_FILE']).write_text('{\"success\": NaN}')",
            "c5": "print('done, says the program')",
            "c6": "os.kill(os.getppid(), signal.SIGKILL); time.sleep(5)",
            "c7": "result(success=0)",
        }
    )

    said = abv3("run_exp", "-C", str(root), "--timeout", "2")

    assert said.exit_code == 1
    statuses = read(root, "results/default/abv3_exp.json")["runs"]
    assert statuses == {
        "c1": "finished",
        "c2": "failed",
        "c3": "timeout",
        "c4": "invalid_result",
        "c5": "no_result",
        "c6": "failed",
        "c7": "finished",
    }
    document = read(root, "results/default/results.json")
    assert document["runs"] == {"total": 7, "finished": 2, "failed": 5, "excluded": 0}
    assert (document["count"], document["success"], document["status"]) == (2, 0.5, "partial")
    assert read(root, "results/default/c2/abv3_run.json")["exit_code"] == 3
    assert read(root, "results/default/c6/abv3_run.json")["signal"] == "SIGKILL"
    assert "R001 results/default/c4/result.json" in said.stderr
    assert "not finished: c2, c3, c4, c5, c6" in said.stdout


def test_the_record_of_a_run_says_what_it_ran_with_and_no_values(experiment, abv3):
    root = experiment({"a": GOOD}, committed=True, add="[dependency.openai_api_key]")

    abv3("run_exp", "-C", str(root), environment={"OPENAI_API_KEY": "fixture-secret"})

    record = read(root, "results/default/a/abv3_run.json")
    assert record["status"] == "finished"
    assert record["attempt"] == 1
    assert record["config_path"] == "run_configs/default/a.json"
    assert len(record["config_sha256"]) == 64
    assert len(record["git_commit"]) == 40
    assert record["git_dirty"] is False
    assert record["repo_version"] == "0.1.0"
    assert record["dependencies"] == ["openai_api_key"]
    assert record["duration_s"] > 0
    assert "fixture-secret" not in json.dumps(record)


def test_without_any_valid_result_there_is_no_results_json(experiment, abv3):
    root = experiment({"a": "sys.exit(1)"})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 1
    assert not (root / "results/default/results.json").exists()
    assert read(root, "results/default/abv3_exp.json")["no_results_reason"] == "no run has a valid result"
    assert "no results.json: no run has a valid result" in said.stdout


def test_runs_that_name_different_main_metrics_are_not_averaged(experiment, abv3):
    root = experiment({"a": "result(success=1)", "b": "result(score=2)"})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 1
    assert "R009 results/default/results.json: runs name different main metrics: score, success" in said.stderr


def test_the_results_of_the_command_itself_are_kept(experiment, abv3):
    own = {"count": 250, "main_metric": "accuracy", "accuracy": 0.8}
    root = experiment({"a": f"Path(os.environ['ABV3_EXPERIMENT_RESULT_FILE']).write_text(json.dumps({own}))"})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 0, said.stderr
    assert read(root, "results/default/results.json") == own
    assert read(root, "results/default/abv3_exp.json")["results_written_by"] == "command"
    assert read(root, "results/default/abv3_exp.json")["runs"] == {"a": "no_result"}


def test_the_first_metric_becomes_the_main_one_where_the_command_named_none(experiment, abv3):
    own = {"count": 250, "note": "x", "accuracy": 0.8, "cost": 3}
    root = experiment({"a": f"Path(os.environ['ABV3_EXPERIMENT_RESULT_FILE']).write_text(json.dumps({own}))"})

    assert abv3("run_exp", "-C", str(root)).exit_code == 0

    assert read(root, "results/default/results.json") == {**own, "main_metric": "accuracy"}


def test_invalid_results_of_the_command_itself_fail_the_experiment(experiment, abv3):
    root = experiment({"a": "result(success=1); Path(os.environ['ABV3_EXPERIMENT_RESULT_FILE']).write_text('{}')"})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 1
    assert "R002 results/default/results.json count" in said.stderr
    assert read(root, "results/default/results.json") == {}


def test_a_repository_without_run_configs_has_one_default_way(experiment, abv3):
    root = experiment(
        {"a": GOOD},
        change={'[run_configs]\nfolder = "./run_configs"\n': "", '[results]\nfolder = "./results"\n': ""},
        files={"run.json": json.dumps({"do": "result(success=int('RUN_CONFIG_FILE' not in os.environ))"})},
    )

    said = abv3("run_exp", "-C", str(root), environment={"RUN_CONFIG_FILE": "/inherited.json"})

    assert said.exit_code == 0, said.stderr
    assert read(root, "results/default/results.json")["success"] == 1
    assert read(root, "results/default/default/abv3_run.json")["config_path"] is None


def test_default_exp_names_the_experiment_that_runs_by_itself(experiment, abv3):
    root = experiment(
        {"a": "sys.exit(1)"},
        change={"[results]": 'default_exp = "smoke"\n[results]'},
        files={"run_configs/smoke/s.json": json.dumps({"do": GOOD})},
    )

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 0
    assert (root / "results/smoke/s/result.json").exists()
    assert not (root / "results/default").exists()


def test_an_unknown_experiment_is_refused_with_the_list(experiment, abv3):
    root = experiment({"a": GOOD}, files={"run_configs/other/x.json": "{}"})

    said = abv3("run_exp", "nonsense", "-C", str(root))

    assert said.exit_code == 2
    assert said.stderr == "Error: there is no experiment nonsense; there are:\n  default\n  other\n"


def test_an_unknown_run_is_refused_with_the_list(experiment, abv3):
    root = experiment({"a": GOOD, "b": GOOD})

    said = abv3("run_exp", "-C", str(root), "--only", "c")

    assert said.exit_code == 2
    assert "default has no run c; there are: a, b" in said.stderr


def test_only_the_selected_runs_are_executed_and_the_rest_counts_as_not_run(experiment, abv3):
    root = experiment({"a": GOOD, "b": GOOD})

    said = abv3("run_exp", "-C", str(root), "--only", "b")

    assert said.exit_code == 0, "what was asked for finished"
    assert read(root, "results/default/abv3_exp.json")["runs"] == {"a": "not_run", "b": "finished"}
    assert read(root, "results/default/results.json")["status"] == "partial"


def test_a_dry_run_prints_the_plan_and_writes_nothing(experiment, abv3):
    root = experiment({"c10": GOOD, "c9": GOOD}, add="[dependency.openai_api_key]")

    said = abv3("run_exp", "-C", str(root), "--dry-run", "--only", "c9")

    assert said.exit_code == 0
    assert said.stdout.splitlines()[3:] == [
        "   1  c9  run_configs/default/c9.json",
        "   2  c10  run_configs/default/c10.json (not selected)",
    ]
    assert not (root / "results").exists()


def test_fail_fast_leaves_the_rest_out(experiment, abv3):
    root = experiment({"a": "sys.exit(1)", "b": GOOD})

    assert abv3("run_exp", "-C", str(root), "--fail-fast").exit_code == 1

    assert read(root, "results/default/abv3_exp.json")["runs"] == {"a": "failed", "b": "not_run"}


def test_a_wrong_description_is_refused_with_its_report(experiment, abv3):
    root = experiment({"a": GOOD}, change={'"judge"': '"green"'})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 3
    assert "FAIL E012" in said.stderr
    assert not (root / "results").exists()


def test_a_missing_dependency_and_installation_are_named_before_anything_runs(experiment, abv3):
    root = experiment(
        {"a": GOOD},
        add="[install]\ncommand = 'true'\n[dependency.openai_api_key]\n[dependency.hf_token]\nrequired = false",
    )

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 4
    assert said.stderr.splitlines() == [
        "Error: not ready to run:",
        "  openai_api_key: OPENAI_API_KEY not set",
        "  install: true has not been run here",
        "provide it with: abv3 setup",
    ]
    assert not (root / "results").exists()


def test_credentials_that_were_not_declared_do_not_reach_the_run(experiment, abv3):
    do = (
        "result(success=1, extra=sorted(k for k in os.environ if k in ('HF_TOKEN', "
        "'OPENAI_API_KEY', 'DOCKER_HOST', 'MINE')))"
    )
    root = experiment({"a": do}, add="[dependency.openai_api_key]")
    environment = {
        "HF_TOKEN": "aaaaaaaa",
        "OPENAI_API_KEY": "bbbbbbbb",
        "DOCKER_HOST": "unix:///x",
        "MINE": "1",
    }

    abv3("run_exp", "-C", str(root), environment=environment)
    assert read(root, "results/default/a/result.json")["extra"] == ["MINE", "OPENAI_API_KEY"]

    abv3("run_exp", "-C", str(root), "--overwrite", "--inherit-credentials", environment=environment)
    assert read(root, "results/default/a/result.json")["extra"] == [
        "DOCKER_HOST",
        "HF_TOKEN",
        "MINE",
        "OPENAI_API_KEY",
    ]


def test_earlier_results_are_neither_overwritten_nor_reused_silently(experiment, abv3):
    root = experiment({"a": GOOD})
    assert abv3("run_exp", "-C", str(root)).exit_code == 0
    before = (root / "results/default/a/abv3_run.json").read_text()

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 2
    assert all(option in said.stderr for option in ("--resume", "--overwrite", "--results DIR"))
    assert (root / "results/default/a/abv3_run.json").read_text() == before


def test_overwrite_moves_the_earlier_results_aside(experiment, abv3):
    root = experiment({"a": GOOD})
    abv3("run_exp", "-C", str(root))
    before = (root / "results/default/a/abv3_run.json").read_text()

    assert abv3("run_exp", "-C", str(root), "--overwrite").exit_code == 0

    (old,) = (root / "results/.old").iterdir()
    assert old.name.startswith("default-")
    assert (old / "a/abv3_run.json").read_text() == before
    assert (root / "results/default/a/abv3_run.json").read_text() != before


def test_results_can_go_to_another_folder(experiment, abv3):
    root = experiment({"a": GOOD}, committed=True)
    abv3("run_exp", "-C", str(root))

    assert abv3("run_exp", "-C", str(root), "--results", "results-rerun").exit_code == 0
    assert (root / "results-rerun/default/results.json").exists()
    assert abv3("run_exp", "-C", str(root), "--results", "results-rerun", "--resume").stderr.count("kept") == 1


def test_resume_keeps_finished_runs_and_repeats_the_others(experiment, abv3):
    flaky = "result(success=int(os.environ['ABV3_RESUME'])); sys.exit(os.environ['ABV3_RESUME'] == '0')"
    root = experiment({"a": GOOD, "b": flaky}, committed=True)
    assert abv3("run_exp", "-C", str(root)).exit_code == 1
    before = (root / "results/default/a/abv3_run.json").read_text()

    said = abv3("run_exp", "-C", str(root), "--resume")

    assert said.exit_code == 0, said.stderr
    assert "a: finished, success 1: kept from an earlier execution" in said.stderr
    assert "[b] (abv3) running again: it ended as failed" in said.stderr
    assert (root / "results/default/a/abv3_run.json").read_text() == before
    assert read(root, "results/default/b/abv3_run.json")["attempt"] == 2
    assert (root / "results/default/b/.abv3_attempts/1/result.json").exists()
    assert read(root, "results/default/results.json")["runs"]["finished"] == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda root: (root / "run_configs/default/a.json").write_text('{"do": "result(success=0)"}'),
            "the run config changed",
        ),
        (
            lambda root: (root / "main.py").write_text((root / "main.py").read_text() + "#"),
            "main.py differs from the commit",
        ),
        (lambda root: (root / "new.py").write_text(""), "new.py differs from the commit"),
        (lambda root: (root / "results/default/a/result.json").unlink(), "its result is not valid"),
        (lambda root: (root / "results/default/a/abv3_run.json").unlink(), None),
    ],
)
def test_resume_repeats_a_finished_run_when_anything_is_in_doubt(experiment, abv3, change, reason):
    root = experiment({"a": GOOD}, committed=True)
    abv3("run_exp", "-C", str(root))
    change(root)

    said = abv3("run_exp", "-C", str(root), "--resume")

    assert "[1/1] a" in said.stderr
    assert reason is None or f"running again: {reason}" in said.stderr


def test_resume_does_not_trust_results_of_another_commit(experiment, abv3, commit):
    root = experiment({"a": GOOD}, committed=True, files={".gitignore": "results/\n"})
    abv3("run_exp", "-C", str(root))
    commit(root)

    said = abv3("run_exp", "-C", str(root), "--resume")

    assert "running again: it ran on another Git commit" in said.stderr


def test_a_second_run_of_the_same_experiment_is_locked_out(experiment, abv3_process, abv3_ended):
    root = experiment({"a": "Path('started').touch(); time.sleep(30)"})
    first = abv3_process("run_exp", "-C", str(root))
    wait_until((root / "started").exists)

    said = abv3_ended("run_exp", "-C", str(root), "--resume")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=20)

    assert said.exit_code == 5
    assert "another abv3 is running this experiment" in said.stderr


TREE = """
inner = "import os, time, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); "
inner += "open('pids', 'a').write(str(os.getpid()) + ' '); time.sleep(120)"
subprocess.Popen([sys.executable, '-c', inner])
subprocess.Popen([sys.executable, '-c', inner], start_new_session=True)
subprocess.Popen(['/bin/sh', '-c', f'setsid {sys.executable} -c "{inner}" &'])
while len(Path('pids').read_text().split() if Path('pids').exists() else ()) < 3: time.sleep(0.02)
"""


def tree_pids(root: Path) -> list[int]:
    return [int(pid) for pid in (root / "pids").read_text().split()]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_ends_the_whole_tree_and_leaves_a_true_record(experiment, abv3_process, number, code):
    root = experiment({"a": GOOD, "b": TREE + "Path('ready').touch(); time.sleep(60)", "c": GOOD})
    process = abv3_process("run_exp", "-C", str(root))
    wait_until((root / "ready").exists)

    process.send_signal(number)
    out, err = process.communicate(timeout=20)

    assert process.returncode == code
    assert b"stopping, at most 15 s; again to end it at once" in err
    assert not any(is_running(pid) for pid in tree_pids(root))
    record = read(root, "results/default/abv3_exp.json")
    assert record["runs"] == {"a": "finished", "b": "interrupted", "c": "not_run"}
    assert read(root, "results/default/results.json")["status"] == "partial"
    assert b"default: 1 of 3 runs finished" in out


def test_a_second_signal_kills_what_ignores_the_first(experiment, abv3_process):
    stubborn = (
        "[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGINT, signal.SIGTERM)]; "
        "Path('ready').touch(); time.sleep(60)"
    )
    root = experiment({"a": stubborn})
    process = abv3_process("run_exp", "-C", str(root))
    wait_until((root / "ready").exists)

    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)

    assert process.returncode == 130
    assert time.monotonic() - began < 10


def test_a_timeout_ends_the_whole_tree(experiment, abv3):
    root = experiment({"a": TREE + "time.sleep(60)"})

    said = abv3("run_exp", "-C", str(root), "--timeout", "3")

    assert said.exit_code == 1
    assert read(root, "results/default/a/abv3_run.json")["status"] == "timeout"
    assert not any(is_running(pid) for pid in tree_pids(root))


def test_processes_that_a_finished_run_left_behind_are_ended_and_counted(experiment, abv3):
    root = experiment({"a": TREE + GOOD})

    said = abv3("run_exp", "-C", str(root))

    assert said.exit_code == 0
    assert not any(is_running(pid) for pid in tree_pids(root))
    assert read(root, "results/default/a/abv3_run.json")["left_behind"] == 3
    assert "ended 3 processes that it left running" in said.stderr


def test_after_kill_9_the_record_is_true_the_lock_free_and_resume_repeats_the_run(experiment, abv3_process, abv3_ended):
    do = (
        "Path('pid').write_text(str(os.getpid())); Path('ready').touch(); "
        "time.sleep(0 if os.environ['ABV3_RESUME'] == '1' else 60); result(success=1)"
    )
    root = experiment({"a": GOOD, "b": do}, committed=True)
    process = abv3_process("run_exp", "-C", str(root))
    wait_until((root / "ready").exists)
    process.kill()
    process.communicate(timeout=20)
    assert read(root, "results/default/b/abv3_run.json")["status"] == "interrupted"
    wait_until(lambda: not is_running(int((root / "pid").read_text())))
    for name in ("pid", "ready"):
        (root / name).unlink()

    said = abv3_ended("run_exp", "-C", str(root), "--resume")
    while said.exit_code == 5:  # the guardian holds the lock for the blink until it has seen the end
        said = abv3_ended("run_exp", "-C", str(root), "--resume")

    assert said.exit_code == 0, said.stderr
    assert "a: finished, success 1: kept" in said.stderr
    assert "running again: it ended as interrupted" in said.stderr


def test_secrets_are_masked_on_the_terminal_and_in_the_logs_also_across_writes(experiment, abv3):
    do = (
        "k = os.environ['OPENAI_API_KEY']; os.write(1, b'key ' + k[:7].encode()); "
        "time.sleep(0.3); os.write(1, k[7:].encode() + b'!'); print(k, file=sys.stderr); "
        "result(success=1)"
    )
    root = experiment({"a": do}, add="[dependency.openai_api_key]")

    said = abv3("run_exp", "-C", str(root), environment={"OPENAI_API_KEY": "fixture-secret-value"})

    logs = (
        (root / "results/default/a/stdout.log").read_text(),
        (root / "results/default/a/stderr.log").read_text(),
    )
    assert logs == ("key ***!", "***\n")
    assert "[a] key ***!" in said.stderr
    assert "secret-value" not in said.stdout + said.stderr


def test_a_secret_in_a_file_of_the_run_is_reported_without_its_value(experiment, abv3):
    do = (
        "k = os.environ['OPENAI_API_KEY']; d = Path(os.environ['ABV3_RUN_DIR']); "
        "(d / 'notes.txt').write_text('x' * 1048570 + k); "
        "(d / 'transcript.json').write_text(k); result(success=1)"
    )
    root = experiment({"a": do}, add="[dependency.openai_api_key]")

    said = abv3("run_exp", "-C", str(root), environment={"OPENAI_API_KEY": "fixture-secret-value"})

    assert "W070 results/default/a/notes.txt: contains the value of OPENAI_API_KEY" in said.stderr
    assert "T003 results/default/a/transcript.json: contains the value of OPENAI_API_KEY" in said.stderr
    assert "secret-value" not in said.stdout + said.stderr
    assert len(read(root, "results/default/a/abv3_run.json")["findings"]) == 2


def test_no_terminal_escape_of_a_run_reaches_the_terminal(experiment, abv3):
    do = (
        r"print('\x1b[31mred\x1b[0m \x1b]0;title\x07done\x9b31m\u202eback'); print('10%\r20%\r', end=''); "
        r"os.write(1, b'\xff\xfe\n'); result(success=1)"
    )
    root = experiment({"a": do})

    said = abv3("run_exp", "-C", str(root))

    assert "[a] red done\\x9b31m\\u202eback\n[a] 10%\n[a] 20%\n" in said.stderr
    assert not any(ord(character) < 32 and character != "\n" for character in said.stdout + said.stderr)


def test_a_flood_of_output_without_line_ends_is_taken(experiment, abv3):
    root = experiment({"a": "[os.write(1, b'x' * 65536) for _ in range(64)]; result(success=1)"})

    assert abv3("run_exp", "-C", str(root), "--quiet").exit_code == 0

    assert (root / "results/default/a/stdout.log").stat().st_size == 64 * 65536


def test_standard_input_of_a_run_is_empty(experiment, abv3_process):
    root = experiment({"a": "result(success=int(sys.stdin.read() == ''))"})
    process = abv3_process("run_exp", "-C", str(root), stdin=subprocess.PIPE)

    process.communicate(b"y\n" * 10, timeout=30)

    assert read(root, "results/default/results.json")["success"] == 1


def test_a_results_folder_that_links_outside_is_refused(experiment, abv3, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    root = experiment({"a": GOOD}, files={"results/default": {"link": str(outside)}})

    said = abv3("run_exp", "-C", str(root), "--overwrite")

    assert said.exit_code == 2
    assert "leaves the repository" in said.stderr
    assert not any(outside.iterdir())


def test_the_path_of_the_config_survives_a_root_with_blanks(experiment, abv3):
    root = experiment({"a": GOOD}, name="a root with blanks")

    assert abv3("run_exp", "-C", str(root)).exit_code == 0


def test_a_terminal_shows_progress_and_the_outcome_stays(experiment, abv3_process):
    import pty

    root = experiment({"a": "print('hello'); time.sleep(0.3); result(success=1)"})
    ours, theirs = pty.openpty()
    process = abv3_process("run_exp", "-C", str(root), stdout=theirs, stderr=theirs, environment={"TERM": "xterm"})
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)

    assert process.wait(timeout=20) == 0
    assert b"0/1" in seen
    assert b"[a] hello" in seen
    assert b"default: 1 of 1 runs finished" in seen.splitlines()[-1]


if sys.platform != "linux":
    pytestmark = pytest.mark.skip(reason="the process tree is only followed on Linux")
