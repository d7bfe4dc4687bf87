"""Repositories built from compact declarations, and the command in this process and in its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

BASE_DESCRIPTION = """\
[abv3_repo]
name = "example"
role = "judge"
author = "Ada"
version = "0.1.0"
logo_file = "./logo.svg"
tags = ["one", "two"]

[run]
command = 'python3 main.py "$RUN_CONFIG_FILE"'

[run_configs]
folder = "./run_configs"

[results]
folder = "./results"
"""
BASE_FILES: dict[str, object] = {
    "agentbeats.toml": BASE_DESCRIPTION,
    "logo.svg": "<svg/>",
    "run_configs/default/a.json": '{"n": 1}',
}
GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
}

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs like this; what the tests start would inherit it and never see a Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def write_file(root: Path, name: str, content: object) -> None:
    """Make one file: text, or a table saying link, hex, sparse, repeat, fifo or folder."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case str():
            path.write_text(content, encoding="utf-8")
        case {"link": target}:
            path.symlink_to(target)
        case {"hex": digits}:
            path.write_bytes(bytes.fromhex(digits))
        case {"sparse": size}:
            with path.open("wb") as stream:
                stream.truncate(size)
        case {"repeat": text, "times": times, **around}:
            path.write_text(around.get("before", "") + text * times + around.get("after", ""))
        case {"fifo": True}:
            os.mkfifo(path)
        case {"folder": True}:
            path.mkdir()
        case _:
            raise ValueError(f"{name}: {content!r}")


def git(root: Path, *arguments: str) -> str:
    """Run git with no configuration but its own."""
    done = subprocess.run(
        ("git", "-C", root, "-c", "init.defaultBranch=main", *arguments),
        env={**os.environ, **GIT_ENVIRONMENT},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit_all(root: Path, message: str = "Change", *tags: str) -> str:
    """Commit everything and tag the commit; make the repository at the first call."""
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    for tag in tags:
        git(root, "tag", tag)
    return git(root, "rev-parse", "HEAD")


def build_repository(root: Path, declaration: dict[str, object]) -> Path:
    """Build a repository from the base and what differs from it."""
    files = {**BASE_FILES, **declaration.get("files", {})}  # type: ignore[dict-item]
    for name in declaration.get("remove", ()):  # type: ignore[attr-defined]
        del files[name]
    if "toml" in declaration:
        files["agentbeats.toml"] = declaration["toml"]
    for old, new in declaration.get("change", {}).items():  # type: ignore[attr-defined]
        text = files["agentbeats.toml"]
        assert isinstance(text, str)
        assert text.count(old) == 1, f"{old!r} is not once in agentbeats.toml"
        files["agentbeats.toml"] = text.replace(old, new)
    if "add" in declaration:
        files["agentbeats.toml"] = f"{files['agentbeats.toml']}\n{declaration['add']}"
    root.mkdir(parents=True)
    for name, content in files.items():
        write_file(root, name, content)
    for step in declaration.get("git", ()):  # type: ignore[attr-defined]
        commit_all(root, "Change", *step)
    return root


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """Build a repository: `repository(change={...}, files={...}, …)`."""

    def build(name: str = "repo", **declaration: object) -> Path:
        return build_repository(tmp_path / name, declaration)

    return build


@pytest.fixture
def commit() -> Callable[..., str]:
    """Commit everything in a repository: `commit(root, message, *tags)`."""
    return commit_all


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test its own home, and none of this machine's credentials."""
    home = tmp_path_factory.mktemp("home")
    for name in tuple(os.environ):
        if name.endswith(("_API_KEY", "_TOKEN", "_BASE_URL")) or name.startswith(("ABV3_", "XDG_", "DOCKER_")):
            monkeypatch.delenv(name)
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "RUN_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command said."""

    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def abv3() -> Callable[..., Said]:
    """Run `abv3` in this process."""
    from akbench_abv3.cli import _abv3

    def run(*arguments: str, environment: dict[str, str] | None = None) -> Said:
        done = CliRunner().invoke(_abv3, arguments, prog_name="abv3", env=environment or {})
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Said(exit_code=done.exit_code, stdout=done.stdout, stderr=done.stderr)

    return run


@pytest.fixture
def abv3_process() -> Callable[..., subprocess.Popen[bytes]]:
    """Start `abv3` as a process of its own."""

    def start(*arguments: str, environment: dict[str, str] | None = None, **more: object) -> subprocess.Popen[bytes]:
        command = (sys.executable, "-c", "from akbench_abv3.cli import main; main()", *arguments)
        whole = {**os.environ, **(environment or {})}
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **more}
        return subprocess.Popen(command, env=whole, **more)  # type: ignore[call-overload, no-any-return]

    return start


@pytest.fixture
def abv3_ended(abv3_process: Callable[..., subprocess.Popen[bytes]]) -> Callable[..., Said]:
    """Run `abv3` as a process of its own to its end."""

    def run(*arguments: str, environment: dict[str, str] | None = None) -> Said:
        process = abv3_process(*arguments, environment=environment)
        out, err = process.communicate(timeout=60)
        return Said(exit_code=process.returncode, stdout=out.decode(), stderr=err.decode())

    return run


MAIN = '''\
"""Does what its run config says."""
import json, os, signal, subprocess, sys, time
from pathlib import Path

def result(**values):
    Path(os.environ["ABV3_RESULT_FILE"]).write_text(json.dumps(values))

config = json.loads(Path(os.environ.get("RUN_CONFIG_FILE", "run.json")).read_text())
exec(config["do"])
'''
COMMAND = f"""command = '"{sys.executable}" main.py "$RUN_CONFIG_FILE"'"""
BASE_COMMAND = """command = 'python3 main.py "$RUN_CONFIG_FILE"'"""


@pytest.fixture
def experiment(repository: Callable[..., Path]) -> Callable[..., Path]:
    """Build a repository whose run configs say, in Python, what their run does; Git only if asked for."""
    import json

    def build(
        runs: dict[str, str],
        *,
        add: str = "",
        change: dict[str, str] | None = None,
        committed: bool = False,
        **more: object,
    ) -> Path:
        configs = {f"run_configs/default/{name}.json": json.dumps({"do": do}) for name, do in runs.items()}
        files = {"main.py": MAIN, **configs, **more.pop("files", {})}  # type: ignore[dict-item]
        root = repository(
            change={BASE_COMMAND: COMMAND, **(change or {})},
            add=add,
            files=files,
            remove=[] if "a" in runs else ["run_configs/default/a.json"],
            **more,
        )
        if committed:
            commit_all(root)
        return root

    return build
