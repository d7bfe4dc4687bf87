"""Whatever the output is, it never steers a terminal, never breaks off with a trace, and JSON is JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project_under_test import AKBENCH, ProjectUnderTest

FIRST = "configs/experiments/first.yaml"
LISTINGS = [
    ("agent", "list"),
    ("agent", "inspect", "noop"),
    ("dataset", "list"),
    ("dataset", "validate", "--static"),
    ("experiment", "list"),
    ("experiment", "validate", FIRST),
    ("experiment", "plan", FIRST),
    ("experiment", "run", "--dry-run", FIRST),
    ("store", "verify"),
    ("store", "rebuild"),
]
HOSTILE = "Grüße \\e[31m\\x9b2J\\u202e ✓"


@pytest.fixture
def hostile(project: ProjectUnderTest) -> ProjectUnderTest:
    """A project whose titles hold what steers terminals."""
    for name in (FIRST, "datasets/starter/dataset.yaml", "datasets/starter/bug_fix/greet-001/task.yaml"):
        path = project.root / name
        lines = [f'title: "{HOSTILE}"' if line.startswith("title:") else line for line in path.read_text().splitlines()]
        path.write_text("\n".join(lines) + "\n")
    return project


def shell(project: ProjectUnderTest, redirection: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = f'"$@" {redirection}'
    environ = {**os.environ, **project.environ}
    return subprocess.run(
        ["bash", "-c", command, "bash", str(AKBENCH), *arguments],
        cwd=project.root,
        env=environ,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("listing", LISTINGS, ids="_".join)
def test_json_is_one_value_and_nothing_steers_the_terminal(hostile: ProjectUnderTest, listing):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "dumb", "COLUMNS": "20"}
    done = hostile.akbench(*listing, "--json")
    said = hostile.akbench(*listing, **plain)
    assert (done.returncode, said.returncode) == (0, 0), done.stderr + said.stderr
    json.loads(done.stdout)
    for text in (done.stdout, said.stdout, said.stderr):
        assert not {"\x1b", "\x9b", "\u202e"} & set(text)


@pytest.mark.parametrize("listing", [LISTINGS[0], LISTINGS[6]], ids="_".join)
def test_an_output_that_is_closed_or_full_leaves_no_trace(project: ProjectUnderTest, listing):
    closed = shell(project, ">&-", *listing)
    assert (closed.returncode, closed.stderr) == (0, b"")
    full = shell(project, ">/dev/full", *listing)
    assert full.returncode == 3
    assert full.stderr == b"error: No space left on device\n"
    gone = shell(project, "| true", *listing)
    assert gone.stderr == b""


@pytest.mark.slow
def test_without_any_standard_stream_the_work_is_done_and_no_file_takes_their_place(project: ProjectUnderTest):
    done = shell(project, "<&- >&- 2>&-", "experiment", "run", FIRST)
    assert done.returncode == 0
    assert project.show("exp-0001")["status"] == "valid"
    assert project.akbench("store", "verify").returncode == 0


def test_an_error_shows_the_control_characters_of_what_was_typed(project: ProjectUnderTest):
    done = project.akbench("experiment", "show", "\x1b[31m../\x9bx")
    assert done.returncode == 2
    assert "there is no experiment \\x1b[31m../\\x9bx" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_project_folder_that_is_not_there_is_named(project: ProjectUnderTest):
    done = project.akbench("agent", "list", "--project", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nowhere: no such folder" in done.stderr


def test_a_fault_of_akbench_itself_is_one_line_that_says_so(tmp_path):
    code = "import akbench.cli as c; c.COMMANDS['doctor'] = ('no_such_module:x', ''); c.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "doctor"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: AK-Bench has a fault: ModuleNotFoundError: No module named 'no_such_module'")
    assert done.stderr.count("\n") == 1
    strict = subprocess.run(
        [sys.executable, "-c", code, "doctor"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "AKBENCH_STRICT": "1"},
    )
    assert "Traceback" in strict.stderr


BROKEN_EXPORTER = """
from akbench.spec import ExporterRecord, hookimpl


@hookimpl
def akbench_register_exporters():
    return [ExporterRecord(id="html", target="broken_report:write", summary="fails")]


def write(data, target, experiments):
    raise RuntimeError("no paper left")
"""


def test_a_report_that_cannot_be_written_hides_no_result(project: ProjectUnderTest, tmp_path: Path):
    info = tmp_path / "broken_report-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-broken-report\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[akbench]\naa-broken = broken_report\n")
    (tmp_path / "broken_report.py").write_text(BROKEN_EXPORTER)
    environ = {"PYTHONPATH": str(tmp_path)}
    done = project.akbench("experiment", "run", "configs/experiments/first.yaml", **environ)
    assert done.returncode == 1
    assert "exp-0001" in done.stdout
    assert "RuntimeError: no paper left; the results are kept" in done.stderr
