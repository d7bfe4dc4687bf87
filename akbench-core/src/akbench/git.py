"""The git command line, cut off from every configuration, hook and attribute of the machine and its user."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from akbench.spec import HostError

__all__ = ["INFO_ATTRIBUTES", "bare_repository", "git"]

_NOTHING = os.devnull
_SETTINGS = {
    "core.hooksPath": _NOTHING,
    "core.attributesFile": _NOTHING,
    "core.excludesFile": _NOTHING,
    "core.fsmonitor": "false",
    "core.symlinks": "true",
    "core.fileMode": "true",
    "core.autocrlf": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_IDENTITY = {"NAME": "Repository", "EMAIL": "repository@example.invalid", "DATE": "2000-01-01T00:00:00Z"}

INFO_ATTRIBUTES = b"* -text !eol -ident !filter !working-tree-encoding !diff\n"
"""For a repository's info/attributes, which no file of a tree can overrule: files are bytes, nothing converts them."""


def git(*arguments: str, repository: Path, stdin: bytes = b"", environ: dict[str, str] | None = None) -> bytes:
    """Run git on the bare repository and return what it prints. Raises `HostError` if git is missing or fails."""
    settings = [part for item in _SETTINGS.items() for part in ("-c", "=".join(item))]
    command = ["git", *settings, "--git-dir", str(repository), *arguments]
    try:
        done = subprocess.run(
            command, input=stdin, capture_output=True, check=False, env={**_environment(), **(environ or {})}
        )
    except FileNotFoundError as error:
        raise HostError("git is not on the PATH; install git 2.36 or newer") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise HostError(f"git {arguments[0]} failed in {repository}: {said or f'exit code {done.returncode}'}")
    return done.stdout


def _environment() -> dict[str, str]:
    """Built from nothing, so that no GIT_* variable of the user counts. HOME has no attributes and no ignore rules."""
    identity = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _IDENTITY.items()}
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": _NOTHING,
        "XDG_CONFIG_HOME": _NOTHING,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": _NOTHING,
        "GIT_CONFIG_GLOBAL": _NOTHING,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        **identity,
    }


def bare_repository(place: Path, *, settings: str = "") -> Path:
    """Lay out an empty bare repository without objects, templates or hooks; `settings` is more text for its config."""
    for folder in ("refs/heads", "refs/tags", "objects/info", "objects/pack", "info"):
        (place / folder).mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    (place / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n" + settings
    )
    (place / "info" / "attributes").write_bytes(INFO_ATTRIBUTES)
    return place
