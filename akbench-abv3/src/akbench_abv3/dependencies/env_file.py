"""A `.env` file for programs that read one, written only where Git ignores it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from akbench_abv3.completed import ENV_FILE, MIB
from akbench_abv3.description.git import is_ignored_by_git
from akbench_abv3.reading.bounded import UnreadableError, is_there, read_text
from akbench_abv3.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["EnvFileError", "env_text", "write_env_file"]


class EnvFileError(Exception):
    """The file cannot be written safely; the text says why."""


def write_env_file(root: Path, values: Mapping[str, str]) -> Path:
    """Write the values into `.env`, readable by its owner only; other lines of it stay."""
    path = root / ENV_FILE
    if path.is_symlink():
        # What it leads to need not be ignored by Git, nor be in the repository.
        raise EnvFileError(f"{ENV_FILE} is a link; remove it first")
    try:
        if not is_ignored_by_git(root, ENV_FILE):
            raise EnvFileError(f"Git does not ignore {ENV_FILE} here; add it to .gitignore first")
        before = read_text(path, MIB) if is_there(path) else ""
    except UnreadableError as error:
        raise EnvFileError(f"{ENV_FILE}: {error}") from error
    write_atomically(path, env_text(before, values), mode=0o600)
    return path


def env_text(before: str, values: Mapping[str, str]) -> str:
    """Return the file's text with the values in place of their earlier lines. Pure."""
    kept = [line for line in before.splitlines() if _name_of(line) not in values]
    return "".join(f"{line}\n" for line in (*kept, *(f"{name}={_quoted(value)}" for name, value in values.items())))


def _name_of(line: str) -> str:
    match = re.match(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=", line)
    return match[1] if match else ""


def _quoted(value: str) -> str:
    if "'" not in value and "\n" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("\n", "\\n")
    return f'"{escaped}"'
