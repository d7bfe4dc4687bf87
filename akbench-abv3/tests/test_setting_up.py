"""`abv3 setup` asks only for what is missing, hides what is secret and runs nothing unasked."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECRET = "fixture-secret-value"


class Conversation:
    """A person at a terminal."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        command = (sys.executable, "-c", "from akbench_abv3.cli import main; main()", *arguments)
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=os.environ
        )
        os.close(theirs)
        self.seen = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            try:
                self.seen += os.read(self._ours, 4096).decode()
            except OSError as error:
                raise AssertionError(f"{text!r} never came:\n{self.seen}") from error

    def answer(self, text: str) -> None:
        os.write(self._ours, text.encode() + b"\n")

    def end(self) -> int:
        try:
            while chunk := os.read(self._ours, 4096):
                self.seen += chunk.decode()
        except OSError:
            pass
        os.close(self._ours)
        return self.process.wait(timeout=20)


def store_file() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"]) / "abv3/credentials.toml"


def test_a_person_is_asked_only_for_what_is_missing_and_secrets_stay_hidden(repository, abv3, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "from-the-environment")
    root = repository(
        add="[install]\ncommand = 'touch installed'\n[dependency.openai_api_key]\n[dependency.hf_token]\n"
        "[dependency.gemini_api_key]\nrequired = false\n[dependency.litellm]\ndescription = 'ours'"
    )
    person = Conversation("setup", "-C", str(root))
    person.wait_for("OPENAI_API_KEY: ")
    person.answer(SECRET)
    person.wait_for("GEMINI_API_KEY: ")
    person.answer("")
    person.wait_for("LITELLM_PROXY_API_KEY: ")
    person.answer("another-secret")
    person.wait_for("LITELLM_PROXY_API_BASE: ")
    person.answer("http://127.0.0.1:4000")
    person.wait_for("run it? [y/N]: ")
    person.answer("y")

    assert person.end() == 0, person.seen
    assert SECRET not in person.seen
    assert "another-secret" not in person.seen
    assert "http://127.0.0.1:4000" in person.seen
    assert "HF_TOKEN:" not in person.seen
    assert (root / "installed").exists()
    assert stat.S_IMODE(store_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(store_file().parent.stat().st_mode) == 0o700

    again = abv3("setup", "-C", str(root))
    assert again.exit_code == 0
    assert again.stdout.splitlines() == [
        "ok       openai_api_key         store",
        "ok       hf_token               environment",
        "skipped  gemini_api_key         optional; GEMINI_API_KEY not set",
        "ok       litellm                store",
        "ok       install                done",
        "Ready: abv3 run_exp",
    ]


def test_a_person_who_declines_the_install_command_is_not_ready(repository):
    root = repository(add="[install]\ncommand = 'touch installed'")
    person = Conversation("setup", "-C", str(root))
    person.wait_for("run it? [y/N]: ")
    person.answer("")

    assert person.end() == 4
    assert not (root / "installed").exists()


def test_control_c_keeps_what_was_given(repository):
    root = repository(add="[dependency.openai_api_key]\n[dependency.hf_token]")
    person = Conversation("setup", "-C", str(root))
    person.wait_for("OPENAI_API_KEY: ")
    person.answer(SECRET)
    person.wait_for("HF_TOKEN: ")
    person.process.send_signal(2)

    assert person.end() == 130
    assert SECRET in store_file().read_text()


def test_without_a_terminal_it_lists_what_is_missing_and_runs_nothing(repository, abv3):
    root = repository(
        add="[install]\ncommand = 'touch installed'\n[dependency.openai_api_key]\n"
        "[dependency.data]\ntype = 'dir'\nenv = 'DATA'\n"
        "[dependency.images]\ntype = 'step'\ncommand = 'touch stepped'\n"
        "[dependency.codex_login]\nrequired = false"
    )

    said = abv3("setup", "-C", str(root), environment={"DATA": "/nowhere"})

    assert said.exit_code == 4
    assert "missing  openai_api_key         OPENAI_API_KEY not set" in said.stdout
    assert "missing  data                   DATA names no directory: /nowhere" in said.stdout
    assert "skipped  codex_login            optional; no auth.json in" in said.stdout
    assert "Not ready: openai_api_key, data, install, images" in said.stdout
    assert not (root / "installed").exists()
    assert not (root / "stepped").exists()


def test_yes_installs_and_carries_out_steps_with_only_the_declared_credentials(repository, abv3):
    root = repository(
        add="[install]\ncommand = 'echo key=$OPENAI_API_KEY other=$HF_TOKEN | tee seen'\n"
        "[dependency.openai_api_key]\n"
        "[dependency.images]\ntype = 'step'\ncommand = 'echo . >> stepped'\ncheck = 'test -f stepped'"
    )
    environment = {"OPENAI_API_KEY": SECRET, "HF_TOKEN": "not-declared"}

    said = abv3("setup", "-C", str(root), "--yes", environment=environment)

    assert said.exit_code == 0, said.stdout + said.stderr
    assert (root / "seen").read_text() == f"key={SECRET} other=\n"
    assert "[install] key=*** other=" in said.stderr
    assert SECRET not in said.stdout + said.stderr
    assert (root / "stepped").read_text() == ".\n"

    abv3("setup", "-C", str(root), "--yes", environment=environment)
    assert (root / "stepped").read_text() == ".\n"
    abv3("setup", "-C", str(root), "--yes", "--again", environment=environment)
    assert (root / "stepped").read_text() == ".\n", "its check says that it is done"


def test_a_changed_install_command_has_to_be_run_again(repository, abv3):
    root = repository(add="[install]\ncommand = 'true'")
    assert abv3("setup", "-C", str(root), "--yes").exit_code == 0
    path = root / "agentbeats.toml"
    path.write_text(path.read_text().replace("'true'", "'true again'"))

    assert abv3("setup", "-C", str(root)).exit_code == 4
    assert abv3("run_exp", "-C", str(root)).exit_code == 4


def test_a_failing_install_command_is_not_taken_for_done(repository, abv3):
    root = repository(add="[install]\ncommand = 'exit 3'")

    assert abv3("setup", "-C", str(root), "--yes").exit_code == 4
    assert "install has not been run" in abv3("run_exp", "-C", str(root)).stderr.replace("exit 3", "install")


def test_an_install_command_that_takes_too_long_is_stopped(repository, abv3):
    root = repository(add="[install]\ncommand = 'sleep 60'\ntimeout_seconds = 0.5")

    assert abv3("setup", "-C", str(root), "--yes").exit_code == 4


def test_values_come_from_files_and_never_from_the_command_line(repository, abv3, tmp_path):
    root = repository(add="[dependency.openai_api_key]")
    (tmp_path / "key").write_text(f"{SECRET}\n")

    assert abv3("setup", "-C", str(root), "--from-file", f"OPENAI_API_KEY={tmp_path / 'key'}").exit_code == 0
    assert f'OPENAI_API_KEY = "{SECRET}"' in store_file().read_text()
    wrong = abv3("setup", "-C", str(root), "--from-file", f"OPENAI_API_KEY={SECRET}")
    assert wrong.exit_code == 2
    unknown = abv3("setup", "-C", str(root), "--from-file", f"NO_SUCH={tmp_path / 'key'}")
    assert "no declared dependency takes NO_SUCH (known: OPENAI_API_KEY, OPENAI_BASE_URL)" in unknown.stderr


def test_a_stored_value_can_be_forgotten(repository, abv3, tmp_path):
    root = repository(add="[dependency.openai_api_key]")
    (tmp_path / "key").write_text(SECRET)
    abv3("setup", "-C", str(root), "--from-file", f"OPENAI_API_KEY={tmp_path / 'key'}")

    assert "forgotten" in abv3("setup", "--forget", "OPENAI_API_KEY").stdout
    assert "was not stored" in abv3("setup", "--forget", "OPENAI_API_KEY").stdout
    assert SECRET not in store_file().read_text()


def test_a_run_gets_stored_values_and_the_environment_goes_before_them(experiment, abv3, tmp_path):
    root = experiment({"a": "result(success=1, extra=os.environ['OPENAI_API_KEY'])"}, add="[dependency.openai_api_key]")
    (tmp_path / "key").write_text("from-the-store")
    abv3("setup", "-C", str(root), "--from-file", f"OPENAI_API_KEY={tmp_path / 'key'}")

    abv3("run_exp", "-C", str(root))
    assert "from-the-store" in (root / "results/default/a/result.json").read_text()
    abv3("run_exp", "-C", str(root), "--overwrite", environment={"OPENAI_API_KEY": "from-the-environment"})
    assert "from-the-environment" in (root / "results/default/a/result.json").read_text()


def test_a_store_that_others_can_read_is_refused(repository, abv3):
    root = repository(add="[dependency.openai_api_key]")
    store_file().parent.mkdir(parents=True)
    store_file().write_text("[credentials]\n")
    store_file().chmod(0o644)

    said = abv3("setup", "-C", str(root))

    assert said.exit_code == 2
    assert "run: chmod 600" in said.stderr


def test_a_store_inside_a_git_work_tree_is_refused(repository, abv3, tmp_path, commit, monkeypatch):
    root = repository(add="[dependency.openai_api_key]")
    commit(root)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(root / "config"))
    (tmp_path / "key").write_text(SECRET)

    said = abv3("setup", "-C", str(root), "--from-file", f"OPENAI_API_KEY={tmp_path / 'key'}")

    assert said.exit_code == 2
    assert "lies in the Git work tree" in said.stderr
    assert not (root / "config/abv3/credentials.toml").exists()


def test_a_broken_store_is_named_without_its_content(repository, abv3):
    root = repository(add="[dependency.openai_api_key]")
    store_file().parent.mkdir(parents=True)
    store_file().write_text(f"[credentials]\nX = ['{SECRET}']\n")
    store_file().chmod(0o600)

    said = abv3("setup", "-C", str(root))

    assert said.exit_code == 2
    assert "cannot be read: not a table of credentials" in said.stderr
    assert SECRET not in said.stderr


def test_the_env_file_is_written_only_where_git_ignores_it(repository, abv3, commit):
    root = repository(add="[dependency.openai_api_key]", files={".env": "A=1\nOPENAI_API_KEY=old\n"})
    environment = {"OPENAI_API_KEY": "it's $ecret"}
    refused = abv3("setup", "-C", str(root), "--write-env", environment=environment)
    assert refused.exit_code == 2
    assert "Git does not ignore .env here" in refused.stderr
    (root / ".gitignore").write_text(".env\n")
    commit(root)

    assert abv3("setup", "-C", str(root), "--write-env", environment=environment).exit_code == 0

    assert (root / ".env").read_text() == 'A=1\nOPENAI_API_KEY="it\'s \\$ecret"\n'
    assert stat.S_IMODE((root / ".env").stat().st_mode) == 0o600


def test_a_tracked_env_file_is_refused_although_it_is_ignored(repository, abv3, commit):
    root = repository(add="[dependency.openai_api_key]", files={".env": "A=1\n"})
    commit(root)
    (root / ".gitignore").write_text(".env\n")

    assert abv3("setup", "-C", str(root), "--write-env", environment={"OPENAI_API_KEY": "x"}).exit_code == 2


def test_without_a_usable_keyring_the_keyring_store_says_so(repository, abv3_ended):
    root = repository(add="[dependency.openai_api_key]")
    environment = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}

    said = abv3_ended("setup", "-C", str(root), "--store", "keyring", environment=environment)

    assert said.exit_code == 2
    assert said.stderr == "Error: this machine has no usable keyring (found keyring.backends.fail); use --store file\n"


BACKEND = '''
"""A keyring in a file, for one test."""
import json, os
from pathlib import Path
from keyring.backend import KeyringBackend

class Keyring(KeyringBackend):
    priority = 1
    path = Path(os.environ["TEST_KEYRING"])
    def _all(self): return json.loads(self.path.read_text()) if self.path.exists() else {}
    def get_password(self, service, username): return self._all().get(f"{service}/{username}")
    def set_password(self, service, username, password):
        self.path.write_text(json.dumps({**self._all(), f"{service}/{username}": password}))
    def delete_password(self, service, username):
        self.path.write_text(json.dumps({k: v for k, v in self._all().items() if not k.endswith(username)}))
'''


def test_a_keyring_keeps_and_gives_values(repository, abv3_ended, tmp_path):
    root = repository(add="[dependency.openai_api_key]")
    (tmp_path / "file_keyring.py").write_text(BACKEND)
    (tmp_path / "key").write_text(SECRET)
    environment = {
        "PYTHON_KEYRING_BACKEND": "file_keyring.Keyring",
        "PYTHONPATH": str(tmp_path),
        "TEST_KEYRING": str(tmp_path / "ring.json"),
        "ABV3_STORE": "keyring",
    }

    given = abv3_ended(
        "setup", "-C", str(root), "--from-file", f"OPENAI_API_KEY={tmp_path / 'key'}", environment=environment
    )
    assert given.exit_code == 0, given.stderr
    assert "ok       openai_api_key         store" in given.stdout
    assert not store_file().exists()
    assert "forgotten" in abv3_ended("setup", "--forget", "OPENAI_API_KEY", environment=environment).stdout


@pytest.mark.parametrize("answer", ["alive", "dead", "absent"])
def test_docker_counts_only_if_the_engine_answers(experiment, abv3, tmp_path, answer):
    root = experiment(
        {"a": "result(success=1, extra=os.environ.get('DOCKER_HOST'))"},
        add="[dependency.docker_sock]\nrequired = false",
    )
    programs = tmp_path / "bin"
    programs.mkdir()
    if answer != "absent":
        # A stand-in for the Docker client: no engine runs where the tests do.
        says = "echo 28.0" if answer == "alive" else "echo 'Cannot connect' >&2; exit 1"
        (programs / "docker").write_text(
            f'#!/bin/sh\n[ "$1" = version ] || {{ echo unix:///engine; exit 0; }}\n{says}\n'
        )
        (programs / "docker").chmod(0o755)
    for name in ("sh",):
        (programs / name).symlink_to(f"/bin/{name}")

    said = abv3("run_exp", "-C", str(root), environment={"PATH": str(programs)})

    import json

    assert said.exit_code == 0, said.stderr
    wanted = "unix:///engine" if answer == "alive" else None
    assert json.loads((root / "results/default/a/result.json").read_text())["extra"] == wanted


def test_a_login_of_a_cli_is_found_but_never_read(repository, abv3, tmp_path):
    root = repository(add="[dependency.codex_login]\n[dependency.claude_login]\nrequired = false")
    assert "codex login" in abv3("setup", "-C", str(root)).stdout
    (tmp_path / "codex").mkdir()
    (tmp_path / "codex/auth.json").mkdir()
    assert abv3("setup", "-C", str(root), environment={"CODEX_HOME": str(tmp_path / "codex")}).exit_code == 4
    (tmp_path / "codex/auth.json").rmdir()
    (tmp_path / "codex/auth.json").write_text("{")

    said = abv3("setup", "-C", str(root), environment={"CODEX_HOME": str(tmp_path / "codex")})

    assert said.exit_code == 0
    assert "ok       codex_login            machine" in said.stdout
