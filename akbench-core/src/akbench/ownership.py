"""Which process of which machine something belongs to, so that what it left can be told from what it still uses.

Public for distributions that bring a sandbox, as `akbench.sandbox.process` is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

__all__ = ["Owner"]

_FIELDS = 5
_NUMBER = re.compile("[0-9]{1,20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process: its machine's name and boot, its PID namespace, its number there and its start in clock ticks."""

    machine: str
    boot: str
    namespace: str
    pid: int
    started: int

    @classmethod
    def this(cls) -> Self:
        """The process that asks."""
        started = _start(os.getpid())
        assert started is not None, "this process is there"
        return cls(
            machine=os.uname().nodename,
            boot=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
            namespace=str(Path("/proc/self/ns/pid").readlink()),
            pid=os.getpid(),
            started=started,
        )

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The owner that `str` made this text of; None for any other text."""
        parts = text.split()
        if len(parts) != _FIELDS or not all(_NUMBER.fullmatch(part) for part in parts[3:]):
            return None
        return cls(machine=parts[0], boot=parts[1], namespace=parts[2], pid=int(parts[3]), started=int(parts[4]))

    def __str__(self) -> str:
        return f"{self.machine} {self.boot} {self.namespace} {self.pid} {self.started}"

    def is_gone(self) -> bool:
        """Whether it surely lives no more. False where that cannot be seen: on other machines, in other containers."""
        here = Owner.this()
        if self.machine != here.machine:
            return False
        if self.boot != here.boot:
            return True
        try:
            return self.namespace == here.namespace and _start(self.pid) != self.started
        except OSError:  # the kernel does not tell
            return False


def _start(pid: int) -> int | None:
    """When the process was started, in clock ticks since the boot; None if it is there no more, or dead."""
    try:
        line = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *fields = line.rpartition(")")[2].split()
    return None if state in {"Z", "X"} else int(fields[18])
