from __future__ import annotations

import difflib
import hashlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akbench.dataset.format import MutationPart, OperatorChoice
from akbench.dataset.mutation import apply_mutation, apply_unified_diff
from akbench.dataset.unified_diff import apply_hunks, parse_hunks
from akbench.spec import InputError

OLD = "def a():\n    one = 1\n    return one\n\n\ndef b():\n    return 2\n"
DIFF = """\
--- a/m.py
+++ b/m.py
@@ -1,4 +1,3 @@
 def a():
-    one = 1
-    return one
+    return 3

"""


def diff(old: str, new: str, context: int = 3) -> str:
    return "\n".join(difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=context)) + "\n"


def apply(content: bytes, text: str, symbol: str | None = None) -> bytes:
    return apply_unified_diff(content, file="m.py", symbol=symbol, diff=text)


def test_a_patch_is_applied_where_it_says():
    assert apply(OLD.encode(), DIFF, "a").decode() == OLD.replace("    one = 1\n    return one", "    return 3")


@pytest.mark.parametrize("context", [0, 1, 3])
@pytest.mark.parametrize(
    "new",
    [
        OLD.replace("return 2", "return 3"),
        OLD.replace("one = 1", "one = 1\n    two = 2").replace("return 2", "return 3"),
        "first\n" + OLD,
        OLD + "last\n",
        "",
        OLD.replace("    one = 1\n", ""),
    ],
)
def test_what_a_diff_tool_writes_leads_to_what_it_was_written_from(new: str, context: int):
    text = "".join(difflib.unified_diff(OLD.splitlines(keepends=True), new.splitlines(keepends=True), n=context))
    assert apply(OLD.encode(), text).decode() == new


# Python itself does not find an encoding named in a file whose lines end with \r alone.
@pytest.mark.parametrize(("ending", "encoding"), [("\r\n", "latin-1"), ("\n", "latin-1"), ("\r", "utf-8")])
def test_line_endings_and_encoding_stay(ending: str, encoding: str):
    old = f"# coding: {encoding}{ending}def f():{ending}    return 'ä'{ending}"
    text = "@@ -2,2 +2,2 @@\n def f():\n-    return 'ä'\n+    return 'ö'\n"
    old = old if ending != "\r" else old.partition("\r")[2]
    number = 2 if ending != "\r" else 1
    new = apply(old.encode(encoding), text.replace("-2,2 +2,2", f"-{number},2 +{number},2"), "f")
    assert new == old.replace("ä", "ö").encode(encoding)


def test_kept_lines_keep_a_line_ending_of_their_own():
    new = apply(b"a\nb\r\nc\n", "@@ -1,3 +1,3 @@\n a\n b\n-c\n+d\n")
    assert new == b"a\nb\r\nd\n"


def test_a_line_break_at_the_end_is_part_of_what_must_fit():
    without = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    assert apply(b"a", without) == b"b"
    with pytest.raises(InputError, match="whether a line break ends the file"):
        apply(b"a\n", without)


lines = st.lists(st.sampled_from(["a", "b", "", " ", "@@ -1 +1 @@", "--- x", "\u2028", "-", "\x0c"]), max_size=8)


@settings(max_examples=150, deadline=None)
@given(lines, lines, st.booleans(), st.booleans(), st.integers(0, 3))
def test_every_change_that_a_diff_tool_can_write_is_applied(old, new, old_ends, new_ends, context):
    before, after = ("\n".join(each) + "\n" * ends * bool(each) for each, ends in ((old, old_ends), (new, new_ends)))
    kept = [each.split("\n") for each in (before, after)]
    parts = [[f"{line}\n" for line in each[:-1]] + ([each[-1]] if each[-1] else []) for each in kept]
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(*parts, n=context)
    )
    if before != after:
        assert apply_hunks(before, parse_hunks(text), file="x") == after


pieces = ["@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@", " a", "-a", "+b", "", "\\ No newline at end of file", "x"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(pieces)))
def test_any_text_is_a_patch_or_refused(parts):
    """Anything but an `InputError` fails."""
    with suppress(InputError):
        assert isinstance(apply_hunks("a\na\n", parse_hunks("\n".join(parts)), file="x"), str)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 of the patch, '', is no head of a hunk"),
        ("--- a/m.py\n", "the patch has no hunk"),
        ("nonsense\n@@ -1 +1 @@\n-a\n+b\n", "line 1 of the patch, 'nonsense'"),
        ("@@ -1 +1 @@\n-def a():\n*def b():\n", "line 3 of the patch, .* begins with neither"),
        ("@@ -1,2 +1,1 @@\n-def a():\n+def b():\n", "says 2 lines before and 1 after, but has 1 and 1"),
        ("@@ -1 +1 @@\n def a():\n", "0 of them changed"),
        (
            "@@ -2 +2 @@\n-def a():\n+def b():\n",
            r"m\.py:2: the patch expects 'def a\(\):', but the line is '    one = 1'",
        ),
        ("@@ -7,2 +7,1 @@\n     return 2\n-x\n", r"m\.py:8: the patch expects 'x', but the file ends before it"),
        ("@@ -99 +99 @@\n-x\n+y\n", "begin after the file's end"),
        ("@@ -6 +6 @@\n-def b():\n+def c():\n@@ -1 +1 @@\n-def a():\n+def d():\n", "out of order"),
    ],
)
def test_a_patch_that_does_not_fit_exactly_is_refused(text: str, message: str):
    with pytest.raises(InputError, match=message):
        apply(OLD.encode(), text)


def test_a_changed_line_outside_of_the_symbol_is_refused():
    text = diff(OLD, OLD.replace("return 2", "return 3"))
    with pytest.raises(InputError, match=r"m\.py:7: symbol 'a' does not enclose the line; found around it: b"):
        apply(OLD.encode(), text, "a")


def test_a_patch_of_a_symbol_must_leave_python():
    text = "@@ -1 +1 @@\n-def a():\n+def a(:\n"
    with pytest.raises(InputError, match="patched, the file is no Python any more"):
        apply(OLD.encode(), text, "a")
    assert b"def a(:" in apply(OLD.encode(), text)


def part(before: bytes, after: bytes, **way: object) -> MutationPart:
    hashes = {name: hashlib.sha256(each).hexdigest() for name, each in (("file", before), ("result", after))}
    return MutationPart(
        file="m.py", file_sha256=hashes["file"], result_sha256=hashes["result"], **{"symbol": "f", **way}
    )


def test_mutations_are_stacked_each_on_the_result_of_the_one_before():
    states = [b"def f(a):\n    return a + 1\n", b"def f(a):\n    return a - 1\n", b"def f(a):\n    return a\n"]
    operator = OperatorChoice(id="arithmetic-operator", version=1, occurrence=1)
    first = part(states[0], states[1], operator=operator)
    second = part(states[1], states[2], patch="@@ -2 +2 @@\n-    return a - 1\n+    return a\n")
    assert apply_mutation(apply_mutation(states[0], first), second) == states[2]
    with pytest.raises(InputError, match=r"m\.py: file_sha256 is .* does another mutation come first"):
        apply_mutation(states[0], second)


def test_a_result_other_than_the_one_written_down_is_refused():
    before = b"def f(a):\n    return a + 1\n"
    wrong = part(before, b"other", operator=OperatorChoice(id="arithmetic-operator", version=1, occurrence=1))
    with pytest.raises(InputError, match=r"result_sha256 is .*, but the mutated file's is"):
        apply_mutation(before, wrong)


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        ({}, "exactly one of replace_line, operator and patch; found none"),
        ({"patch": "x", "replace_line": {"line": 1, "before": "", "after": "x"}}, "found replace_line and patch"),
        ({"patch": "x", "result_sha256": None}, "a mutation by patch needs result_sha256"),
        ({"operator": {"id": "x", "version": 1, "occurrence": 1}, "symbol": None}, "by operator needs the symbol"),
        ({"operator": {"id": "x", "version": 1, "occurrence": 0}}, "greater than or equal to 1"),
    ],
)
def test_a_mutation_says_what_it_does_in_one_complete_way(ways, message):
    values = {"file": "m.py", "file_sha256": "0" * 64, "result_sha256": "1" * 64, "symbol": "f", **ways}
    with pytest.raises(ValueError, match=message):
        MutationPart.model_validate(values)
