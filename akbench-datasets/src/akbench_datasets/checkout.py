"""A checkout that was given: its files, none of them outside of it, and what it says of where it comes from."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from dulwich.config import ConfigFile
from dulwich.errors import NotGitRepository
from dulwich.repo import Repo

from akbench.spec import InputError

__all__ = ["Checkout", "Origin", "json_of"]

_LICENSE_FILES = ("LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "COPYING")
_LICENSES = (
    (r"Apache License\s+Version 2\.0", "Apache-2.0"),
    (r"Mozilla Public License Version 2\.0", "MPL-2.0"),
    (r"Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
    (r"Redistribution and use in source and binary forms.*Neither the name", "BSD-3-Clause"),
    (r"Redistribution and use in source and binary forms", "BSD-2-Clause"),
)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LARGEST_BYTES = 32 << 20
"""As much as a file of a task's tree may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """`source` is a public URL (`known` where the checkout names none), `commit` None outside of a git checkout."""

    source: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files below `root`, named by their path in it with slashes. No link is followed, wherever it leads."""

    root: Path

    def place(self, name: str) -> str:
        """How a message names the file."""
        return f"{self.root}/{name}"

    def has(self, name: str) -> bool:
        """Whether there is a file of that name; reading it may still be refused."""
        return os.path.isfile(self.place(name))  # noqa: PTH113 - unlike Path.is_file, answers for any name

    def folder(self, name: str) -> Path:
        """A folder of the checkout. Raises `InputError` if there is none."""
        if not self._is_plain(name) or not os.path.isdir(self.place(name)):  # noqa: PTH112 - see `has`
            raise InputError("there is no such folder in the checkout; is it another one?", place=self.place(name))
        return self.root / name

    def content(self, name: str, most: int = _LARGEST_BYTES) -> bytes:
        """The content of a plain file, up to `most` bytes. Raises `InputError` that names it if it is anything else."""
        if not self.has(name):
            raise InputError("there is no such plain file in the checkout", place=self.place(name))
        if not self._is_plain(name):
            raise InputError("leads elsewhere, by a link or its name; put the file itself here", place=self.place(name))
        try:
            with (self.root / name).open("rb") as file:
                found = file.read(most + 1)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", place=self.place(name)) from error
        if len(found) > most:
            raise InputError(f"larger than {most} bytes, the bound of a file", place=self.place(name))
        return found

    def text(self, name: str) -> str:
        """The content as text. Raises `InputError` if it is not UTF-8."""
        try:
            return self.content(name).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 (byte {error.start}); save it as UTF-8", place=self.place(name)) from error

    def json(self, name: str) -> object:
        """The value that the file holds. Raises `InputError` with the line of what is no JSON."""
        return json_of(self.content(name), self.place(name))

    def origin(self, known: str) -> Origin:
        """Where the git checkout comes from. Raises `InputError` if git's files are damaged."""
        try:
            with _Repository(str(self.root)) as repository:
                commit = _head(repository)
                url = _remote(repository) if commit else None
        except NotGitRepository:
            return Origin(source=known, commit=None)
        except Exception as error:
            # Its errors for damaged files have no base of their own.
            raise InputError(
                f"its git repository cannot be read ({type(error).__name__}: {error}); mend it, or remove it to import "
                "the files without their commit",
                place=self.place(".git"),
            ) from error
        return Origin(source=url or known, commit=commit)

    def license(self) -> str | None:
        """The SPDX name of the licence file's text; None if there is no file or it is none of the usual ones."""
        name = next((name for name in _LICENSE_FILES if self.has(name)), None)
        if name is None:
            return None
        text = " ".join(self.content(name).decode(errors="replace").split())
        return next((spdx for pattern, spdx in _LICENSES if re.search(pattern, text)), None)

    def _is_plain(self, name: str) -> bool:
        """Whether the name is a path below the root, and no part of it a link."""
        return os.path.realpath(self.place(name)) == f"{os.path.realpath(self.root).rstrip('/')}/{name}"


class _Repository(Repo):
    """A repository whose configuration is its own file alone: what that includes may lie anywhere."""

    def get_config(self) -> ConfigFile:
        path = Path(self.commondir()) / "config"
        return ConfigFile.from_path(path, expand_includes=False) if path.is_file() else ConfigFile()


def _head(repository: Repo) -> str | None:
    """The commit it stands at; None before the first one. Raises `ValueError` if HEAD names none."""
    try:
        found = repository.head().decode()
    except KeyError:
        return None
    if not _COMMIT.fullmatch(found):
        raise ValueError(f"HEAD is {found!r}")
    return found


def _remote(repository: Repo) -> str | None:
    """The URL of ``origin`` if others can use it: no path of this machine, no user name, no password."""
    try:
        found = urlsplit(repository.get_config().get((b"remote", b"origin"), b"url").decode())
    except (KeyError, ValueError):
        return None
    if found.scheme not in ("http", "https") or not found.hostname:
        return None
    return f"{found.scheme}://{found.hostname}{found.path}"


def json_of(text: bytes, place: str, *, line: int = 1) -> object:
    """The value that `text`, which begins in `line` of `place`, says. Raises `InputError` with line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{place}:{line + error.lineno - 1}:{error.colno}"
        raise InputError(f"no JSON: {error.msg}", place=where) from error
    except RecursionError as error:
        raise InputError("no JSON that can be read: too deeply nested", place=f"{place}:{line}") from error
    except ValueError as error:
        raise InputError(f"no JSON: {str(error).partition(';')[0]}", place=f"{place}:{line}") from error
