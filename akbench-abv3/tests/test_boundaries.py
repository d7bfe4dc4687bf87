"""What must never happen: foreign code run by a check, names spread over modules, slow help, survivors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import akbench_abv3
from akbench_abv3 import completed
from akbench_abv3.execution import supervise as supervising
from akbench_abv3.execution.interrupts import Interrupts

SOURCES = sorted(Path(akbench_abv3.__file__).parent.rglob("*.py"))


def test_a_check_executes_nothing_that_a_foreign_git_configuration_names(repository, abv3, commit):
    root = repository(files={".gitattributes": "* filter=evil diff=evil\n"})
    commit(root)
    trap = f"touch {root}/executed; cat"
    with (root / ".git/config").open("a") as config:
        config.write(f'[core]\nfsmonitor = "{trap}"\nsshCommand = "{trap}"\nhooksPath = hooks\n')
        config.write(f'[filter "evil"]\nclean = "{trap}"\nsmudge = "{trap}"\nprocess = "{trap}"\n')
        config.write(f'[diff "evil"]\ntextconv = "{trap}"\n')
    (root / "logo.svg").write_text("<svg>changed</svg>")

    said = abv3("check", "-C", str(root), "--json")

    assert said.exit_code == 0
    assert '"dirty": true' in said.stdout
    assert not (root / "executed").exists()


def test_a_git_configuration_that_includes_a_foreign_file_does_not_leak_it(repository, abv3, commit, tmp_path):
    root = repository()
    commit(root)
    (tmp_path / "private").write_text("fixture-private-line\n")
    with (root / ".git/config").open("a") as config:
        config.write(f"[include]\npath = {tmp_path}/private\n")

    said = abv3("check", "-C", str(root), "--json")

    assert "Git data cannot be read (ValueError)" in said.stdout
    assert "fixture-private-line" not in said.stdout + said.stderr


def test_a_git_folder_that_never_answers_is_given_up(repository, monkeypatch, commit):
    from akbench_abv3.description import git

    root = repository()
    commit(root)
    (root / ".git/config").unlink()
    os.mkfifo(root / ".git/config")
    monkeypatch.setattr(git, "GIT_TIMEOUT_SECONDS", 2)

    assert git.git_facts(root).unavailable == "Git data cannot be read within 2 s"


def test_a_commit_a_tag_and_an_origin_without_its_password_are_reported(repository, abv3, commit):
    from json import loads

    root = repository()
    head = commit(root, "One", "v0.1.0")
    with (root / ".git/config").open("a") as config:
        config.write('[remote "origin"]\nurl = https://ada:fixture-secret@example.org/r.git\n')

    git = loads(abv3("check", "-C", str(root), "--json").stdout)["repo"]["git"]

    assert git == {
        "commit": head,
        "tag": "v0.1.0",
        "commits_beyond_tag": 0,
        "dirty": False,
        "origin": "https://example.org/r.git",
        "unavailable": None,
    }


def test_a_transcript_may_name_an_address_but_not_a_declared_secret(repository, abv3):
    from json import dumps

    step = {"step_id": 1, "source": "user", "message": "ask http://127.0.0.1:9 with fixture-secret-value"}
    transcript = {
        "schema_version": "ATIF-v1.7",
        "session_id": "default/a",
        "agent": {"name": "x", "version": "1"},
        "steps": [step],
    }
    root = repository(
        add="[dependency.mine]\ntype = 'env'\nenv = 'MINE'\n[dependency.openai_api_key]",
        files={
            "results/default/results.json": '{"count": 1, "main_metric": "a", "a": 1}',
            "results/default/a/result.json": '{"a": 1}',
            "results/default/a/transcript.json": dumps(transcript),
        },
    )
    environment = {"MINE": "fixture-secret-value", "OPENAI_BASE_URL": "http://127.0.0.1:9"}

    said = abv3("check", "-C", str(root), "-l1+t", environment=environment)

    assert re.findall(r"T003.*", said.stdout) == [
        f"T003  {'[results]':27}  results/default/a/transcript.json: contains the value of MINE"
    ]


def test_every_completed_name_stands_in_one_module():
    names = {value for name, value in vars(completed).items() if name.endswith("_VARIABLE") and name.isupper()}
    names |= {completed.TRANSCRIPT, completed.RUN_RECORD, completed.EXPERIMENT_RECORD, completed.LOCK_FILE}
    names |= {variable for known in completed.RECOGNISED.values() for variable in known.variables}
    assert len(names) > 20
    for path in SOURCES:
        if path.name != "completed.py":
            code = re.sub(r'""".*?"""|#[^\n]*', "", path.read_text(), flags=re.DOTALL)
            literals = set(re.findall(r'"([^"\n]*)"', code))
            assert not literals & names, f"{path.name}: {literals & names}"


def test_the_command_stands_alone_and_only_the_exchange_knows_the_other_system():
    alone = [path for path in SOURCES if path.parent.name != "exchange"]
    assert 0 < len(alone) < len(SOURCES)
    for path in alone:
        assert not re.search(r"^\s*(from|import) akbench\b(?!_)", path.read_text(), re.MULTILINE)


def test_help_loads_nothing_heavy():
    program = (
        "import sys; sys.argv = ['abv3', '--help']; HEAVY = 'pydantic dulwich rich yaml tomli'.split()\n"
        "import akbench_abv3.cli as c\n"
        "try: c.main()\n"
        "except SystemExit: print([m for m in HEAVY if m in sys.modules])"
    )
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_exit_code_is_in_the_readme():
    text = (Path(__file__).parent.parent / "README.md").read_text()
    sentence = text[text.index("Exit codes:") :].split("\n\n")[0]
    assert {int(number) for number in re.findall(r"\b\d+\b", sentence)} == {int(code) for code in completed.ExitCode}


def test_the_example_in_this_repository_passes_its_check(abv3):
    root = Path(__file__).parents[2] / "examples/abv3-agentdojo"
    assert abv3("check", "-C", str(root), "--strict").exit_code == 0


class _Kept:
    def __init__(self) -> None:
        self.text = b""

    def feed(self, chunk: bytes) -> None:
        self.text += chunk


@pytest.mark.parametrize("timeout_seconds", [0.5])
def test_what_ignores_the_polite_signal_is_killed_after_the_grace(monkeypatch, tmp_path, timeout_seconds):
    monkeypatch.setattr(supervising, "KILL_AFTER_SECONDS", 0.5)
    out, err = _Kept(), _Kept()
    began = time.monotonic()
    with Interrupts() as interrupts:
        ended = supervising.supervise(
            "trap '' TERM; (trap '' TERM; setsid sleep 60) & echo started; while :; do sleep 1; done",
            cwd=tmp_path,
            environment=os.environ,
            stdout=out,
            stderr=err,
            timeout_seconds=timeout_seconds,
            interrupts=interrupts,
        )

    assert (ended.ending, ended.exit_code, ended.signal) == (supervising.Ending.TIMEOUT, None, "SIGKILL")
    assert out.text == b"started\n"
    assert time.monotonic() - began < 10
    assert not _sleepers(tmp_path)


def _sleepers(folder: Path) -> list[str]:
    found = []
    for one in Path("/proc").iterdir():
        try:
            if one.name.isdigit() and (one / "cwd").resolve() == folder:
                found.append(one.name)
        except OSError:
            continue
    return found


def test_handlers_of_signals_are_as_before_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.first is signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before
