"""Reading a diff for showing."""

from __future__ import annotations

from akbench_report.diff import read_diff


def _read(text, **bounds):
    return read_diff(text, **{"lines": 1000, "columns": 1000} | bounds)


def _kinds(text):
    return [line.kind for file in _read(text).files for line in file.lines]


HEADER = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"


def test_lines_are_told_apart_by_the_hunk_they_are_in():
    text = HEADER + "@@ -1,2 +1,2 @@ def f():\n same\n-old\n+new\n\\ No newline at end of file\n"
    assert _kinds(text) == ["header", "header", "hunk", "context", "removed", "added", "header"]


def test_a_removed_line_that_looks_like_a_header_is_a_removed_line():
    assert _kinds(HEADER + "@@ -1,2 +1 @@\n--- a/secret\n same\n")[3:] == ["removed", "context"]


def test_a_new_file_ends_a_hunk_whose_counts_promise_more():
    diff = _read(HEADER + "@@ -1,9 +1,9 @@\n-old\ndiff --git a/y b/y\nnew file mode 100644\n")
    assert [file.title for file in diff.files] == ["x", "y"]
    assert diff.files[1].lines[0].kind == "header"


def test_a_renamed_file_keeps_both_names():
    assert _read("diff --git a/x b/y\n").files[0].title == "a/x b/y"


def test_a_diff_longer_than_the_bound_says_so():
    diff = _read(HEADER + "@@ -0,0 +1,50 @@\n" + "+x\n" * 50, lines=10)
    assert diff.is_cut
    assert sum(len(file.lines) for file in diff.files) == 9


def test_a_diff_that_just_fits_is_not_called_cut():
    assert not _read("diff --git a/x b/x\nsimilarity index 100%\n", lines=2).is_cut


def test_a_line_wider_than_the_bound_says_how_much_is_missing():
    (line,) = [
        line for line in _read(HEADER + "@@ -0,0 +1 @@\n+" + "x" * 500, columns=100).files[0].lines if line.left_out
    ]
    assert (len(line.text), line.left_out) == (100, 401)


def test_separators_other_than_newlines_do_not_make_lines():
    (file,) = _read(HEADER + "@@ -0,0 +1 @@\n+a\x0bb\u2028c\rd\n").files
    assert file.lines[-1].text == "+a\x0bb\u2028c\rd"
    assert file.added == 1


def test_an_empty_diff_has_no_files():
    assert _read("").files == ()
