"""The report of a check, as signed JSON lines that are flushed one by one.

The tested code runs with the check or below it, so it may find the report's descriptor and write there too. Each line
therefore carries a signature made with a key that only the first line tells, before any tested code has run.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ReportWriter", "Shapes", "SignedReport", "read_report"]

type Shapes = Mapping[str, Mapping[str, tuple[type, ...]]]
"""The records that a check writes: kind -> field -> the types that its value has in JSON."""


def _encoder() -> Callable[[object], str]:
    """`json.dumps` without its Python parts, where the interpreter has it in C."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return json.dumps
    encode = make(None, _refuse, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True)  # noqa: FBT003 - a function in C, its parameters have no names
    return lambda value: "".join(encode(value, 0))


def _refuse(value: object) -> object:
    raise TypeError(f"a record holds {type(value).__name__}, which is no JSON")


# Taken hold of before any tested code runs, which may patch the standard library as it likes.
_encode = _encoder()
_hmac, _sha256 = hmac.new, hashlib.sha256
_getpid, _fstat, _write = os.getpid, os.fstat, os.write


@dataclass(frozen=True)
class SignedReport:
    """The records of a report in their order; `forged` if any line is not what the check itself writes."""

    records: tuple[dict[str, Any], ...]
    forged: bool


class ReportWriter:
    """Writes records to the descriptor; create it before any tested code is loaded."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - its parameters have no names
        self._descriptor = descriptor
        self._file = _identity(descriptor)
        self._owner = _getpid()
        self._key = secrets.token_bytes(32)
        self._count = 0
        self._send(self._key.hex().encode())

    def write(self, kind: str, **content: object) -> None:
        """Append one record. A forked copy of the process writes nothing: its results are not the suite's."""
        if _getpid() != self._owner:
            return
        if _identity(self._descriptor) != self._file:
            raise RuntimeError("the tested code closed or replaced the report's descriptor")
        body = _encode({"kind": kind, **content}).encode()
        self._send(_signature(self._key, self._count, body) + b" " + body)
        self._count += 1

    def _send(self, line: bytes) -> None:
        rest = line + b"\n"
        while rest:
            rest = rest[_write(self._descriptor, rest) :]


def read_report(data: bytes, shapes: Shapes) -> SignedReport | None:
    """The report in `data`, without a last line that was cut; None if not even its start is there.

    Tested code that found the key in memory can sign. So what is signed is believed only in the `shapes` of the check.
    """
    *lines, _cut = data.split(b"\n")
    key = _key(lines[0]) if lines else None
    if key is None:
        return None
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines[1:]):
        signature, _, body = line.partition(b" ")
        signed = hmac.compare_digest(signature, _signature(key, number, body))
        record = _record(body, shapes) if signed else None
        if record is None:
            return SignedReport(records=tuple(records), forged=True)
        records.append(record)
    return SignedReport(records=tuple(records), forged=False)


def _record(body: bytes, shapes: Shapes) -> dict[str, Any] | None:
    """The record, None if it is none that the check writes."""
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        return None
    fields = shapes.get(record["kind"])
    fits = fields is not None and all(name in record and _is(record[name], types) for name, types in fields.items())
    return record if fits else None


def _is(value: object, types: tuple[type, ...]) -> bool:
    """Whether it is of the very type: true is no number here, and neither is infinity."""
    return type(value) in types and not (isinstance(value, float) and not math.isfinite(value))


def _key(line: bytes) -> bytes | None:
    try:
        return bytes.fromhex(line.decode("ascii"))
    except ValueError:
        return None


def _identity(descriptor: int) -> tuple[int, int]:
    status = _fstat(descriptor)
    return status.st_dev, status.st_ino


def _signature(key: bytes, number: int, body: bytes) -> bytes:
    return _hmac(key, b"%d " % number + body, _sha256).hexdigest().encode()
