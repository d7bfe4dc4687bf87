"""A process that outlives abv3: ends the command of a run when abv3 itself was killed and cannot.

A program of its own, started as a file without the rest of the package, so that it is there within milliseconds.
Arguments: the seconds of grace. Standard input: the command's first process, then an empty line when abv3 has seen its
end. The stream ending without that line means that abv3 is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TICK_SECONDS = 0.05


def main() -> None:
    """Wait for either end of the stream."""
    leader = sys.stdin.readline().strip()
    if leader and not sys.stdin.readline():
        _end(int(leader), float(sys.argv[1]))


def _end(leader: int, grace_seconds: float) -> None:
    members = _members({leader})
    _send(leader, members, signal.SIGTERM)
    deadline = time.monotonic() + grace_seconds
    while members and time.monotonic() < deadline:
        time.sleep(_TICK_SECONDS)
        members = _members({leader, *members})
    _send(leader, members, signal.SIGKILL)


def _send(leader: int, members: Iterable[int], number: signal.Signals) -> None:
    for wanted in (number, signal.SIGCONT):  # a stopped process is woken to hear it
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, wanted)
        for pid in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, wanted)


def _members(known: set[int]) -> set[int]:
    """Return the living processes that are known, of a known session, or below one of them (Linux)."""
    everyone = {pid: facts for pid in _numbers() if (facts := _facts(pid)) is not None}
    found = {pid for pid, (_, session) in everyone.items() if pid in known or session in known}
    while True:
        below = {pid for pid, (parent, _) in everyone.items() if parent in found} - found
        if not below:
            return found
        found |= below


def _numbers() -> Iterable[int]:
    proc = Path("/proc")
    return (int(one.name) for one in proc.iterdir() if one.name.isdigit()) if proc.is_dir() else ()


def _facts(pid: int) -> tuple[int, int] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:  # it ended meanwhile
        return None
    state, parent, _, session, *_ = text.rpartition(b")")[2].split()
    return None if state in (b"Z", b"X") else (int(parent), int(session))


if __name__ == "__main__":
    main()
