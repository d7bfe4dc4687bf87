"""Secret values in the files that a run left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from akbench_abv3.completed import (
    EARLIER_ATTEMPTS_FOLDER,
    MAX_FOLDER_ENTRIES,
    MAX_TRANSCRIPT_BYTES,
    MIB,
    SHORTEST_MASKED_BYTES,
)
from akbench_abv3.finding import Finding
from akbench_abv3.reading.bounded import is_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["leaks_in", "leaks_in_result"]

_CHUNK: Final = 1024 * 1024


def leaks_in(
    folder: Path, secrets: Mapping[str, str], transcripts: frozenset[str], *, shown: str
) -> tuple[Finding, ...]:
    """Return a finding for each file of a run folder that contains a secret value.

    `secrets` are values by variable; only the variable is ever named. In a transcript it is an
    error, elsewhere a warning.
    """
    wanted = _searchable(secrets)
    if not wanted:
        return ()
    return tuple(_findings(folder, wanted, transcripts, shown))


def leaks_in_result(path: Path, secrets: Mapping[str, str], *, shown: str) -> tuple[Finding, ...]:
    """Return a warning for each secret value in the file `path`, an experiment's result."""
    wanted = _searchable(secrets)
    if not wanted or path.is_symlink() or not is_file(path):
        return ()
    return tuple(_in_file(path, wanted, "W070", shown))


def _searchable(secrets: Mapping[str, str]) -> dict[str, bytes]:
    encoded = {variable: value.encode("utf-8", "surrogateescape") for variable, value in secrets.items()}
    return {variable: value for variable, value in encoded.items() if len(value) >= SHORTEST_MASKED_BYTES}


def _findings(folder: Path, wanted: Mapping[str, bytes], transcripts: frozenset[str], shown: str) -> Iterator[Finding]:
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        yield from _in_file(path, wanted, "T003" if name in transcripts else "W070", f"{shown}/{name}")


def _in_file(path: Path, wanted: Mapping[str, bytes], code: str, shown: str) -> Iterator[Finding]:
    try:
        if path.stat().st_size > MAX_TRANSCRIPT_BYTES:
            messages = [f"not searched for secret values: larger than {MAX_TRANSCRIPT_BYTES // MIB} MiB"]
            code = "W070"
        else:
            messages = [f"contains the value of {variable}" for variable in sorted(_variables_in(path, wanted))]
    except OSError as error:  # the command closed it to this user
        messages, code = [f"not searched for secret values: {error.strerror}"], "W070"
    for message in messages:
        yield Finding(code=code, file=shown, section="results", message=message)


def _files(folder: Path) -> Iterator[Path]:
    seen = 0
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != EARLIER_ATTEMPTS_FOLDER)
        for name in sorted(names):
            path = Path(inner, name)
            if path.is_symlink() or not is_file(path):
                continue
            seen += 1
            if seen > MAX_FOLDER_ENTRIES:
                return
            yield path


def _variables_in(path: Path, wanted: Mapping[str, bytes]) -> set[str]:
    overlap = max(map(len, wanted.values()))
    found: set[str] = set()
    kept = b""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            window = kept + chunk
            found.update(variable for variable, value in wanted.items() if value in window)
            kept = window[-overlap:]
    return found
