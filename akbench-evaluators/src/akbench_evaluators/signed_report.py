"""The report of a check, as signed JSON lines that are flushed one by one.

The tested code runs with the check or below it, so it may find the report's descriptor and write there too. Each line
therefore carries a signature made with a key that only the first line tells, before any tested code has run.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from typing import Any

__all__ = ["ReportWriter", "SignedReport", "read_report"]


@dataclass(frozen=True)
class SignedReport:
    """The records of a report in their order; `forged` if any line was not written by the check itself."""

    records: tuple[dict[str, Any], ...]
    forged: bool


class ReportWriter:
    """Writes records to the descriptor; create it before any tested code is loaded."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - its parameters have no names
        self._descriptor = descriptor
        self._file = _identity(descriptor)
        self._owner = os.getpid()
        self._key = secrets.token_bytes(32)
        self._count = 0
        self._send(self._key.hex().encode())

    def write(self, kind: str, **content: object) -> None:
        """Append one record. A forked copy of the process writes nothing: its results are not the suite's."""
        if os.getpid() != self._owner:
            return
        if _identity(self._descriptor) != self._file:
            raise RuntimeError("the tested code closed or replaced the report's descriptor")
        body = json.dumps({"kind": kind, **content}).encode()
        self._send(_signature(self._key, self._count, body) + b" " + body)
        self._count += 1

    def _send(self, line: bytes) -> None:
        rest = line + b"\n"
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


def read_report(data: bytes) -> SignedReport | None:
    """The report in `data`, without a last line that was cut; None if not even its start is there."""
    *lines, _cut = data.split(b"\n")
    key = _key(lines[0]) if lines else None
    if key is None:
        return None
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines[1:]):
        signature, _, body = line.partition(b" ")
        if not hmac.compare_digest(signature, _signature(key, number, body)):
            return SignedReport(records=tuple(records), forged=True)
        records.append(json.loads(body))
    return SignedReport(records=tuple(records), forged=False)


def _key(line: bytes) -> bytes | None:
    try:
        return bytes.fromhex(line.decode("ascii"))
    except ValueError:
        return None


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _signature(key: bytes, number: int, body: bytes) -> bytes:
    return hmac.new(key, b"%d " % number + body, hashlib.sha256).hexdigest().encode()
