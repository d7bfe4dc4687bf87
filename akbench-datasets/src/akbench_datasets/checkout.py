"""What a checkout says about itself: where it comes from, at which commit, under which licence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from dulwich.errors import NotGitRepository
from dulwich.repo import Repo

from akbench.spec import InputError

__all__ = ["Origin", "license_of", "origin_of", "read_bytes"]

_LICENSE_FILES = ("LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "COPYING")
_LICENSES = (
    (r"Apache License\s+Version 2\.0", "Apache-2.0"),
    (r"Mozilla Public License Version 2\.0", "MPL-2.0"),
    (r"Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
    (r"Redistribution and use in source and binary forms.*Neither the name", "BSD-3-Clause"),
    (r"Redistribution and use in source and binary forms", "BSD-2-Clause"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """`source` is a public URL (`known` where the checkout names none), `commit` None outside of a git checkout."""

    source: str
    commit: str | None


def origin_of(folder: Path, known: str) -> Origin:
    """The origin of the git checkout at `folder`."""
    try:
        with Repo(str(folder)) as repository:
            commit = repository.head().decode()
            url = _remote(repository)
    except (NotGitRepository, KeyError):
        return Origin(source=known, commit=None)
    return Origin(source=url or known, commit=commit)


def _remote(repository: Repo) -> str | None:
    """The URL of ``origin`` if others can use it: no path of this machine, no user name, no password."""
    try:
        text = repository.get_config().get((b"remote", b"origin"), b"url").decode()
    except (KeyError, UnicodeDecodeError):
        return None
    found = urlsplit(text)
    if found.scheme not in ("http", "https") or not found.hostname:
        return None
    return f"{found.scheme}://{found.hostname}{found.path}"


def license_of(folder: Path) -> str | None:
    """The SPDX name of the licence file's text; None if there is no file or it is none of the usual ones."""
    for name in _LICENSE_FILES:
        path = folder / name
        if path.is_file():
            text = " ".join(path.read_text(encoding="utf-8", errors="replace").split())
            return next((spdx for pattern, spdx in _LICENSES if re.search(pattern, text)), None)
    return None


def read_bytes(path: Path) -> bytes:
    """The content of a plain file. Raises `InputError` that names it; a link is not followed."""
    if path.is_symlink() or not path.is_file():
        raise InputError("there is no such plain file", place=str(path))
    return path.read_bytes()
