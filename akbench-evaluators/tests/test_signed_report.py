"""A report is believed in what the check itself writes, and in nothing that somebody signed who found the key."""

from __future__ import annotations

import hashlib
import hmac
import json
import os

import pytest

from akbench_evaluators.signed_report import ReportWriter, SignedReport, read_report

SHAPES = {"started": {}, "phase": {"id": (str,), "seconds": (int, float), "message": (str, type(None))}}
GOOD = {"kind": "phase", "id": "a", "seconds": 0.5, "message": None}


def written(*records: dict[str, object]) -> bytes:
    reading, writing = os.pipe()
    report = ReportWriter(writing)
    for record in records:
        report.write(**record)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        return stream.read()


def signed(*bodies: bytes) -> SignedReport:
    key = b"k" * 32
    lines = [
        hmac.new(key, b"%d " % n + body, hashlib.sha256).hexdigest().encode() + b" " + body
        for n, body in enumerate(bodies)
    ]
    found = read_report(b"\n".join([key.hex().encode(), *lines, b""]), SHAPES)
    assert found is not None
    return found


def test_what_the_check_writes_is_read_back():
    record = {**GOOD, "id": "caf\u00e9 \ud800 \n", "message": "m"}
    found = read_report(written({"kind": "started"}, record), SHAPES)
    assert found == SignedReport(records=({"kind": "started"}, record), forged=False)


MALFORMED = {
    "a field is missing": {"kind": "phase", "id": "a", "seconds": 1.0},
    "another type": {**GOOD, "id": ["a"]},
    "true for a number": {**GOOD, "seconds": True},
    "no number": {**GOOD, "seconds": float("nan")},
    "without end": {**GOOD, "seconds": float("-inf")},
    "an unknown kind": {"kind": "verdict"},
    "a kind that is no text": {"kind": ["phase"]},
    "no object": [GOOD],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_signed_record_that_the_check_never_writes_is_a_forgery(name):
    good, bad = (json.dumps(each).encode() for each in (GOOD, MALFORMED[name]))
    assert signed(good, bad) == SignedReport(records=(GOOD,), forged=True)


@pytest.mark.parametrize("body", [b"no json", b"\xff", b"[" * 100_000, b"9" * 10_000])
def test_a_signed_line_that_is_no_record_is_a_forgery(body):
    assert signed(body).forged


def test_a_patched_standard_library_changes_nothing_in_the_report(monkeypatch):
    monkeypatch.setattr(json, "dumps", lambda *_: '{"kind": "started"}')
    monkeypatch.setattr(json.JSONEncoder, "encode", lambda *_: '{"kind": "started"}')
    monkeypatch.setattr(json.JSONEncoder, "iterencode", lambda *_, **__: iter(['{"kind": "started"}']))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(hmac, "new", None)
    data = written(GOOD)
    monkeypatch.undo()
    assert read_report(data, SHAPES) == SignedReport(records=(GOOD,), forged=False)
