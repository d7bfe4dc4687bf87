"""Secrets are blacked out wherever they stand and however the content is cut into pieces."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akbench.redaction import RedactedStream, Redaction

KEY = 'sk-canary/"0f3a"'
REDACTION = Redaction((KEY,))
PIECES = st.lists(st.sampled_from([KEY.encode(), b"sk-", b"sk-canary/", b"s", b"\n", b"other"]), max_size=8)


def test_a_secret_gives_way_to_a_mark_of_its_length():
    assert REDACTION.apply(f"key={KEY}.".encode()) == b"key=[secret]********."


def test_a_secret_is_found_as_json_spells_it():
    redacted = REDACTION.apply(json.dumps({"message": f"wrong key {KEY}"}).encode())
    assert b"canary" not in redacted
    assert json.loads(redacted)["message"].startswith("wrong key [secret]")


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("after", ["", "z", "yz"])
def test_a_secret_is_found_inside_base64(before, after):
    redacted = REDACTION.apply(base64.b64encode(f"{before}{KEY}{after}".encode()))
    assert b"[secret]" in redacted
    assert b"canary" not in base64.b64decode(redacted.translate(bytes.maketrans(b"[]*", b"AAA")), validate=True)


def test_what_is_too_short_for_a_key_is_left_alone():
    assert Redaction(("key",)).apply(b"a key") == b"a key"
    assert not Redaction(("key",))


@given(pieces=PIECES, cut=st.integers(1, 7))
def test_a_stream_is_redacted_as_its_whole_would_be(pieces, cut):
    whole = b"".join(pieces)
    stream = RedactedStream(REDACTION)
    passed = [stream.feed(whole[start : start + cut]) for start in range(0, len(whole), cut)]
    assert b"".join(passed) + stream.end() == REDACTION.apply(whole)


def test_a_stream_holds_back_only_what_could_become_a_secret():
    stream = RedactedStream(REDACTION)
    assert stream.feed(b"data: done\n\n") == b"data: done\n\n"
    assert stream.feed(b"data: sk-can") == b"data: "
    assert stream.feed(b"dy\n\n") == b"sk-candy\n\n"
