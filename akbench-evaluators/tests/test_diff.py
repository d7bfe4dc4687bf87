"""The evaluator `diff`: what was changed is measured on the trees themselves."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from evaluator_stage import Files, Judge, tree

from akbench.spec import EvaluationEvidence, EvaluationRequest, InputError, Judgement, Outcome, ProcessEvidence
from akbench_evaluators.diff import DiffEvaluator
from akbench_evaluators.path_globs import matches_any
from akbench_evaluators.signed_report import ReportWriter

GIVEN: Files = {
    "src/a.py": "one\ntwo\nthree\n",
    "src/b.py": "b\n",
    "tests/test_a.py": "t\n",
    "tool.sh": "#!/bin/sh\n",
    "old.orig": "kept\n",
}


@pytest.fixture
def judge(tmp_path) -> Judge:
    return Judge(tmp_path / "room", DiffEvaluator(), sandbox="local")


def changed(**files: str | bytes | None) -> Files:
    """The given files with some changed; as keywords names are spelt with __ for / and _DOT_ for the dot."""
    named = {
        name if "." in name else name.replace("__", "/").replace("_DOT_", "."): content
        for name, content in files.items()
    }
    return {name: text for name, text in {**GIVEN, **named}.items() if text is not None}


def test_added_removed_and_modified_lines_and_files_are_counted(judge):
    final = changed(src__a_DOT_py="one\n2\nthree\nfour\n", src__b_DOT_py=None, new_DOT_py="x\ny\n")
    found = judge(tree(final), tree(GIVEN), max_lines=7, max_files=3)
    assert found.outcome is Outcome.FULL_SUCCESS
    assert found.score == 1.0
    assert {key: found.raw[key] for key in ("files", "lines", "lines_added", "lines_removed")} == {
        "files": 3,
        "lines": 6,
        "lines_added": 4,
        "lines_removed": 2,
    }
    assert found.raw["changes"] == {"new.py": "added", "src/a.py": "modified", "src/b.py": "removed"}
    assert found.reason == "3 files and 6 lines changed"


def test_a_line_that_only_moved_is_no_change_of_size(judge):
    found = judge(tree(changed(src__a_DOT_py="three\none\ntwo\n")), tree(GIVEN), max_lines=1)
    assert (found.outcome, found.raw["lines"], found.raw["files"]) == (Outcome.FULL_SUCCESS, 0, 1)


def test_line_ends_and_empty_lines_count(judge):
    found = judge(tree(changed(src__a_DOT_py="one\r\ntwo\r\nthree\r\n")), tree(GIVEN))
    assert found.raw["lines"] == 6
    found = judge(tree(changed(src__a_DOT_py="one\ntwo\nthree\n\n\n")), tree(GIVEN))
    assert (found.raw["lines"], found.raw["bytes"]) == (2, 2)


def records(*bodies: dict[str, object]) -> bytes:
    reading, writing = os.pipe()
    report = ReportWriter(writing)
    for body in bodies:
        report.write(**body)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        return stream.read()


def judged(report: bytes, tmp_path: Path, *, truncated: bool = False) -> Judgement:
    now = datetime.now(UTC)
    process = ProcessEvidence(
        exit_code=0,
        signal=None,
        timed_out=False,
        cancelled=False,
        started_at=now,
        finished_at=now,
        duration_seconds=0.1,
        stdout=tmp_path / "out",
        stderr=tmp_path / "err",
    )
    request = EvaluationRequest(
        workspace="",
        tools="",
        tmp="",
        python="",
        hidden_files=(),
        environ={},
        report_fd=3,
        timeout_seconds=1.0,
        config={"forbid": ["src/vendor/**"]},
    )
    evidence = EvaluationEvidence(request=request, process=process, report=report, report_truncated=truncated)
    return DiffEvaluator().judge(evidence)


def test_changes_that_cannot_all_be_looked_at_are_a_failure(tmp_path):
    """20,000 harmless files would hide the forbidden one behind them."""
    found = judged(records({"kind": "started"}, {"kind": "ended", "files": 20_001}), tmp_path)
    assert (found.outcome, found.score) == (Outcome.FAILURE, 0.0)
    assert found.reason == "20001 files changed, of which only 0 were looked at"
    cut = judged(records({"kind": "started"}), tmp_path, truncated=True)
    assert (cut.outcome, cut.reason) == (Outcome.FAILURE, "the list of changed files is longer than the harness keeps")


@pytest.mark.parametrize(
    ("lines", "outcome", "score"),
    [(10, Outcome.FULL_SUCCESS, 1.0), (15, Outcome.PARTIAL_SUCCESS, 0.5), (20, Outcome.FAILURE, 0.0)],
)
def test_the_score_falls_to_nothing_at_twice_the_bound(judge, lines, outcome, score):
    found = judge(tree(changed(new_DOT_py="x\n" * lines)), tree(GIVEN), max_lines=10)
    assert (found.outcome, found.score) == (outcome, score)


VIOLATIONS = {
    "a forbidden path": ({"tests__test_a_DOT_py": "easy\n"}, {"forbid": ["tests/**"]}, "tests/test_a.py must not be"),
    "a path not allowed": ({"docs_DOT_md": "x"}, {"allow": ["src/**"]}, "docs.md is not among the paths"),
    "byte code": ({"src/__pycache__/a.pyc": b"\0"}, {}, "generated noise"),
    "an editor's file": ({"src__a_DOT_py~": "x"}, {}, "src/a.py~ is generated noise"),
    "a rejected hunk": ({"src__a_DOT_py_DOT_rej": "x"}, {}, "src/a.py.rej is generated noise"),
    "build output": ({"build__lib__a_DOT_py": "x"}, {}, "build/lib/a.py is generated noise"),
    "an installation's traces": ({"x_DOT_egg-info__PKG-INFO": "x"}, {}, "x.egg-info/PKG-INFO is generated noise"),
    "a binary": ({"data_DOT_bin": b"a\0b"}, {"allow_binary": False}, "data.bin is binary"),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_violation_is_a_failure_that_names_the_path(judge, name):
    files, config, phrase = VIOLATIONS[name]
    found = judge(tree(changed(**files)), tree(GIVEN), **config)
    assert (found.outcome, found.score) == (Outcome.FAILURE, 0.0)
    assert phrase in found.reason


def test_what_was_given_is_no_noise_when_it_changes(judge):
    assert judge(tree(changed(old_DOT_orig="new\n")), tree(GIVEN)).outcome is Outcome.FULL_SUCCESS


def test_a_changed_executable_bit_is_seen_and_may_be_forbidden(judge):
    final = tree(GIVEN, programs=("tool.sh",))
    assert judge(final, tree(GIVEN)).raw["made_executable"] == ["tool.sh"]
    found = judge(final, tree(GIVEN), allow_mode_changes=False)
    assert found.reason == "tool.sh was made executable"
    assert judge(tree(GIVEN), final, allow_mode_changes=False).reason == "tool.sh was made a plain file"


def test_a_link_is_compared_by_its_target_and_never_followed(judge):
    final = tree({**GIVEN, "src/b.py": "/etc/passwd"}, links=("src/b.py",))
    found = judge(final, tree(GIVEN))
    assert found.raw["changes"] == {"src/b.py": "modified"}
    assert found.raw["lines"] == 2


def test_uncounted_paths_do_not_count_for_the_bounds(judge):
    final = tree(changed(tests__test_new_DOT_py="x\n" * 500, src__b_DOT_py="c\n"))
    assert judge(final, tree(GIVEN), max_lines=2, uncounted=["tests/**"]).outcome is Outcome.FULL_SUCCESS


def test_nothing_changed_is_no_success_unless_it_may_be(judge):
    assert judge(tree(GIVEN), tree(GIVEN)).reason == "nothing was changed"
    assert judge(tree(GIVEN), tree(GIVEN), allow_empty=True).outcome is Outcome.FULL_SUCCESS


def test_protected_files_are_seen_as_the_agent_left_them(judge):
    found = judge(tree(changed(conftest_DOT_py="evil")), tree(GIVEN), forbid=["**/conftest.py"])
    assert found.reason == "conftest.py must not be changed"


@pytest.mark.parametrize(
    ("config", "message"),
    [({"max_files": 0}, "'max_files' is 0"), ({"allow": ["/etc/*"]}, "'allow' holds"), ({"noise": "x"}, "'noise' is")],
)
def test_a_wrong_configuration_is_named(config, message):
    with pytest.raises(InputError, match=message):
        DiffEvaluator().check_config(config)


@pytest.mark.parametrize(
    ("glob", "matching", "others"),
    [
        ("tests/**", ["tests/a", "tests/b/c"], ["tests", "src/tests/a"]),
        ("**/x.py", ["x.py", "a/x.py", "a/b/x.py"], ["ax.py"]),
        ("src/*.py", ["src/a.py"], ["src/a/b.py", "src/a.pyc"]),
        ("a?.[c]", ["ab.[c]"], ["ab.c", "a/.[c]"]),
        ("**", ["a", "a/b"], []),
    ],
)
def test_globs_match_whole_paths(glob, matching, others):
    assert [path for path in (*matching, *others) if matches_any(path, [glob])] == matching
