from __future__ import annotations

import hashlib

import pytest

from akbench.dataset.mutation import apply_replace_line
from akbench.spec import InputError

SOURCE = b"""import os


class Shelf:
    @property
    def size(self):
        if os:

            def inner():
                return 1

        return len(self.items)


def take(n, xs):
    return xs[:n]
"""


def mutate(content=SOURCE, **changes):
    values = {
        "file": "lib/shelf.py",
        "file_sha256": hashlib.sha256(content).hexdigest(),
        "symbol": "take",
        "line": 16,
        "before": "    return xs[:n]",
        "after": "    return xs[: n + 1]",
    }
    return apply_replace_line(content, **{**values, **changes})


def test_exactly_one_line_is_replaced():
    assert mutate() == SOURCE.replace(b"xs[:n]", b"xs[: n + 1]")


@pytest.mark.parametrize(
    ("symbol", "line", "before"),
    [
        ("Shelf", 5, "    @property"),
        ("Shelf.size", 5, "    @property"),
        ("Shelf.size.inner", 10, "                return 1"),
        ("Shelf.size", 10, "                return 1"),
        ("Shelf.size", 12, "        return len(self.items)"),
    ],
)
def test_any_function_or_class_around_the_line_may_be_named(symbol, line, before):
    after = before.replace("property", "staticmethod").replace("return ", "return 2 + ")
    assert mutate(symbol=symbol, line=line, before=before, after=after).splitlines()[line - 1] == after.encode()


@pytest.mark.parametrize("ending", [b"\r\n", b"\r", b"\n"])
def test_line_endings_stay(ending):
    content = SOURCE.replace(b"\n", ending)
    assert mutate(content) == content.replace(b"xs[:n]", b"xs[: n + 1]")


def test_a_last_line_without_ending_stays_without():
    assert mutate(SOURCE.rstrip(b"\n")).endswith(b"xs[: n + 1]")


def test_a_form_feed_is_no_line_break():
    content = b"x = 1\n\x0c\ndef f():\n    return 1\n"
    changed = mutate(content, symbol="f", line=4, before="    return 1", after="    return 2")
    assert changed == content.replace(b"return 1", b"return 2")


def test_the_files_own_encoding_is_used():
    content = "# coding: latin-1\ndef f():\n    return 'ü'\n".encode("latin-1")
    changed = mutate(content, symbol="f", line=3, before="    return 'ü'", after="    return 'é'")
    assert changed == "# coding: latin-1\ndef f():\n    return 'é'\n".encode("latin-1")
    with pytest.raises(InputError, match="cannot be written in the file's encoding"):
        mutate(content, symbol="f", line=3, before="    return 'ü'", after="    return '€'")


def test_a_byte_order_mark_is_no_part_of_the_first_line():
    content = b"\xef\xbb\xbfdef f(): return 1\n"
    changed = mutate(content, symbol="f", line=1, before="def f(): return 1", after="def f(): return 2")
    assert changed == b"\xef\xbb\xbfdef f(): return 2\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"file_sha256": "0" * 64}, r"lib/shelf\.py: file_sha256 is 000.*, but the file's is "),
        ({"symbol": "Shelf.take"}, r"lib/shelf\.py:16: symbol 'Shelf\.take' does not enclose the line; .*: take$"),
        ({"line": 10, "symbol": "size"}, r"found around it: Shelf, Shelf\.size, Shelf\.size\.inner$"),
        ({"line": 1, "symbol": "take"}, r"nothing; the line is at the module's top"),
        ({"before": "\treturn xs[:n]"}, r"`before` is '\\treturn xs\[:n\]', but the line is '    return xs\[:n\]'"),
        ({"before": "    return xs[:n]\n"}, r"`before` is .*, but the line is"),
        ({"after": "    return xs[:n]"}, r"are the same"),
        ({"after": "    x = 1\n    return x"}, r"holds a line break"),
        ({"after": "    return xs["}, r"no Python any more"),
        ({"after": "return xs"}, r"no Python any more"),
    ],
)
def test_every_mismatch_says_what_was_expected_and_what_was_found(changes, message):
    with pytest.raises(InputError, match=message):
        mutate(**changes)


def test_a_line_beyond_the_file_is_around_nothing():
    with pytest.raises(InputError, match="does not enclose"):
        mutate(line=99)


def test_a_file_that_is_no_python_cannot_be_mutated():
    for content in (b"def f(:\n", b"\xff\xfe\n", b"# coding: nonsense\n"):
        with pytest.raises(InputError, match=r"lib/shelf\.py"):
            mutate(content, symbol="f", line=1)
