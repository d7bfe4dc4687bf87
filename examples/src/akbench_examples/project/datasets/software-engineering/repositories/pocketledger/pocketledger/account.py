"""Account names: paths of words joined by colons."""

from __future__ import annotations

import re

from pocketledger.errors import LedgerError

_PART = re.compile(r"[a-z0-9][a-z0-9_-]*( [a-z0-9_-]+)*")


def check_name(name: str) -> str:
    """The name itself when it is well formed; raises LedgerError otherwise."""
    if not all(_PART.fullmatch(part) for part in name.split(":")):
        raise LedgerError(f"not an account name: {name!r}")
    return name


def is_within(name: str, ancestor: str) -> bool:
    """Whether an account is the given one or lies below it; ``expenses:foot`` is not within ``expenses:foo``."""
    return name == ancestor or name.startswith(f"{ancestor}:")


def shorten(name: str, depth: int) -> str:
    """The account's ancestor at the given depth, counted from 1; the account itself when it lies higher."""
    return ":".join(name.split(":")[:depth])
