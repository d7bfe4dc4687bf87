"""`abv3 init` writes what passes and runs; `abv3 index` lists what is there and what can run."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from akbench_abv3.codes import CODES


def test_a_new_repository_passes_its_check_and_runs(tmp_path, abv3):
    root = tmp_path / "my bench!"
    root.mkdir()

    said = abv3("init", "-C", str(root), "--author", 'Ada "the first"', "--tag", "x", "--tag", "y")

    assert said.exit_code == 0
    assert "Result: PASS (0 errors, 1 warning)" in said.stdout
    assert abv3("run_exp", "-C", str(root), environment={"PATH": os.environ["PATH"]}).exit_code == 0
    assert json.loads((root / "results/default/results.json").read_text())["even_rate"] == 0.5


def test_a_new_repository_declares_the_dependencies_that_were_named(tmp_path, abv3):
    said = abv3(
        "init", "-C", str(tmp_path), "--author", "Ada", "--name", "n", "--role", "subject",
        "--version", "1.0.0-rc.1",
        "--command", "make run", "--install", "make", "--dependency", "openai_api_key",
        "--dependency", "MY_KEY",
    )  # fmt: skip

    assert said.exit_code == 0
    shown = json.loads(abv3("check", "-C", str(tmp_path), "--json").stdout)["repo"]
    assert [one["variables"] for one in shown["dependencies"]] == [["OPENAI_API_KEY"], ["MY_KEY"]]
    assert shown["version"] == "1.0.0-rc.1"
    assert not (tmp_path / "assess.py").exists()


def test_existing_files_are_never_replaced(tmp_path, abv3):
    (tmp_path / "assess.py").write_text("mine")

    said = abv3("init", "-C", str(tmp_path), "--author", "Ada")

    assert said.exit_code == 2
    assert (tmp_path / "assess.py").read_text() == "mine"
    assert not (tmp_path / "agentbeats.toml").exists()


def test_a_wrong_answer_given_as_an_option_is_refused(tmp_path, abv3):
    for option, value in (
        ("--name", "a b"),
        ("--version", "v1"),
        ("--dependency", "foo"),
        ("--command", " "),
    ):
        assert abv3("init", "-C", str(tmp_path), "--author", "Ada", option, value).exit_code == 2
    assert "--author is needed" in abv3("init", "-C", str(tmp_path)).stderr
    assert not any(tmp_path.iterdir())


def test_a_person_is_asked_and_asked_again_after_a_wrong_answer(tmp_path):
    root = tmp_path / "bench"
    root.mkdir()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        (sys.executable, "-c", "from akbench_abv3.cli import main; main()", "init", "-C", root),
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, b"a b\nbetter\n\nAda\n\n\n\nt1, t2\nhf_token\n")
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:
        pass
    os.close(ours)

    assert process.wait(timeout=20) == 0, seen.decode()
    assert b"only letters, digits" in seen
    text = (root / "agentbeats.toml").read_text()
    assert 'name = "better"' in text
    assert 'tags = ["t1", "t2"]' in text
    assert "[dependency.hf_token]" in text


def build_three(repository) -> Path:
    first = repository("all/one", change={'name = "example"': 'name = "one"'})
    repository(
        "all/deep/er/two",
        change={'"example"': '"two"', '"judge"': '"subject"'},
        add="[dependency.openai_api_key]",
    )
    repository("all/three", change={'"example"': '"three"', '"Ada"': '""', '"two"': '"coding"'})
    repository("all/node_modules/four")
    (first / "nested").mkdir()
    (first / "nested/agentbeats.toml").write_text("")
    return first.parent


def test_an_index_lists_what_each_repository_needs_and_whether_it_can_run(repository, abv3):
    folder = build_three(repository)

    said = abv3("index", str(folder), str(folder / "one"))

    assert said.stdout.replace(str(folder), "ALL").splitlines() == [
        "NAME   ROLE     VERSION  TAGS        NEEDS           CAN RUN             PATH",
        "two    subject  0.1.0    one,two     openai_api_key  no: openai_api_key  ALL/deep/er/two",
        "one    judge    0.1.0    one,two     -               yes                 ALL/one",
        "three  judge    0.1.0    one,coding  -               no: E013            ALL/three",
    ]
    assert said.stderr == "3 of 3 repositories\n"


def test_an_index_can_be_filtered_and_read_by_programs(repository, abv3):
    folder = build_three(repository)

    def names(*options: str, **more: object) -> list[str]:
        said = abv3("index", str(folder), "--json", *options, **more)
        return [one["name"] for one in json.loads(said.stdout)["repositories"]]

    assert names() == ["two", "one", "three"]
    assert names("--role", "subject") == ["two"]
    assert names("--tag", "one", "--tag", "coding") == ["three"]
    assert names("--search", "ADA") == ["two", "one"]
    assert names("--ready") == ["one"]
    assert names("--ready", environment={"OPENAI_API_KEY": "x" * 8}) == ["two", "one"]


def test_an_index_says_what_is_not_installed(repository, abv3):
    root = repository(add="[install]\ncommand = 'true'")
    assert "no: install" in abv3("index", str(root)).stdout
    abv3("setup", "-C", str(root), "--yes")
    assert "  yes  " in abv3("index", str(root)).stdout


def test_a_code_is_explained(abv3):
    assert abv3("explain", "e043").stdout.startswith("E043  a dependency is not recognised\nMend:  give type")
    assert len(abv3("explain").stdout.splitlines()) == len(CODES)
    assert abv3("explain", "E999").exit_code == 2
