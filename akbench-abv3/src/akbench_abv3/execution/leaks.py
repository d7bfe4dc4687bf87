"""Secret values in the files that a run left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from akbench_abv3.completed import (
    EARLIER_ATTEMPTS_FOLDER,
    MAX_FOLDER_ENTRIES,
    MAX_TRANSCRIPT_BYTES,
    SHORTEST_MASKED_BYTES,
)
from akbench_abv3.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["leaks_in"]

_CHUNK: Final = 1024 * 1024


def leaks_in(
    folder: Path, secrets: Mapping[str, str], transcripts: frozenset[str], *, shown: str
) -> tuple[Finding, ...]:
    """Return a finding for each file of a run folder that contains a secret value.

    `secrets` are values by variable; only the variable is ever named. In a transcript it is an
    error, elsewhere a warning.
    """
    wanted = {
        variable: value.encode("utf-8", "surrogateescape")
        for variable, value in secrets.items()
        if len(value.encode("utf-8", "surrogateescape")) >= SHORTEST_MASKED_BYTES
    }
    if not wanted:
        return ()
    return tuple(_findings(folder, wanted, transcripts, shown))


def _findings(folder: Path, wanted: Mapping[str, bytes], transcripts: frozenset[str], shown: str) -> Iterator[Finding]:
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        for variable in sorted(_variables_in(path, wanted)):
            code = "T003" if name in transcripts else "W070"
            message = f"contains the value of {variable}"
            yield Finding(code=code, file=f"{shown}/{name}", section="results", message=message)


def _files(folder: Path) -> Iterator[Path]:
    seen = 0
    for inner, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != EARLIER_ATTEMPTS_FOLDER)
        for name in sorted(names):
            path = Path(inner, name)
            if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_TRANSCRIPT_BYTES:
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
