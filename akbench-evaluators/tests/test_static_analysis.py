"""The evaluator `static-analysis`: real tools, and only what is new counts."""

from __future__ import annotations

import json
import sys

import pytest
from evaluator_stage import Judge, tree

from akbench.spec import InputError, Outcome
from akbench_evaluators.analysis_runner import tool_output
from akbench_evaluators.findings import LARGEST_SOURCE, UnreadableError, read_findings, suppressions, unseen
from akbench_evaluators.static_analysis import StaticAnalysis, new_findings

RUFF = ("ruff==0.17.6",)
GIVEN = {
    "pyproject.toml": '[tool.ruff.lint]\nselect = ["F", "E7"]\n',
    "a.py": "import os\n\n\ndef f():\n    return 1\n",
}


@pytest.fixture(scope="module")
def ruff(tmp_path_factory) -> Judge:
    return Judge(tmp_path_factory.mktemp("ruff"), StaticAnalysis(), RUFF)


def test_an_old_finding_on_another_line_is_not_new(ruff):
    final = {**GIVEN, "a.py": f'"""Words."""\n\n{GIVEN["a.py"]}'}
    found = ruff(tree(final), tree(GIVEN), tool="ruff")
    assert found.outcome is Outcome.FULL_SUCCESS, found
    assert (found.raw["before"], found.raw["after"], found.raw["new"]) == (1, 1, 0)


def test_a_tool_that_is_not_there_is_told_with_what_to_do(ruff):
    found = ruff(tree(GIVEN), tree(GIVEN), tool="mypy")
    assert found.outcome is Outcome.EVALUATOR_ERROR
    assert found.reason.endswith("No module named mypy; write mypy==VERSION into the requirements of task.yaml")


def test_a_new_finding_is_a_failure_that_says_where(ruff):
    final = {**GIVEN, "b.py": "import sys\n"}
    found = ruff(tree(final), tree(GIVEN), tool="ruff")
    assert (found.outcome, found.score) == (Outcome.FAILURE, 0.0)
    assert "1 new findings, 0 are allowed; b.py:1: F401" in found.reason
    assert found.raw["findings"][0]["text"] == "import sys"


def test_thresholds_give_a_score_between(ruff):
    final = {**GIVEN, "b.py": "import sys\nimport re\n"}
    found = ruff(tree(final), tree(GIVEN), tool="ruff", max_new=1, zero_at=3)
    assert (found.outcome, found.score) == (Outcome.PARTIAL_SUCCESS, 0.5)
    assert ruff(tree(final), tree(GIVEN), tool="ruff", max_new=2).outcome is Outcome.FULL_SUCCESS


def test_rules_switched_off_by_the_agent_hold_all_the_same(ruff):
    silenced = {
        **GIVEN,
        "pyproject.toml": "[tool.ruff.lint]\nselect = []\n",
        "b.py": "import sys\n",
        "sub/ruff.toml": "exclude = ['*']\n",
        "sub/c.py": "import re\n",
        ".gitignore": "*.py\n",
    }
    found = ruff(tree(silenced), tree(GIVEN), tool="ruff")
    assert found.raw["new"] == 2
    assert found.raw["restored_configuration"] == [".gitignore", "pyproject.toml", "sub/ruff.toml"]


def test_configuration_behind_a_link_is_not_written_through_it(ruff):
    given = {**GIVEN, "sub/ruff.toml": "line-length = 80\n", "sub/c.py": "x = 1\n"}
    final = tree({**GIVEN, "sub": "/tmp", "b.py": "x = 1\n"}, links=("sub",))
    found = ruff(final, tree(given), tool="ruff")
    assert found.outcome is Outcome.FULL_SUCCESS
    assert found.raw["restored_configuration"] == ["sub/ruff.toml"]


def test_a_new_comment_that_silences_a_rule_is_counted_or_only_told(ruff):
    final = {**GIVEN, "b.py": "import sys  # noqa: F401\n"}
    found = ruff(tree(final), tree(GIVEN), tool="ruff")
    assert (found.outcome, found.raw["new"], found.raw["new_suppressions"]) == (Outcome.FAILURE, 1, 1)
    told = ruff(tree(final), tree(GIVEN), tool="ruff", count_suppressions=False)
    assert (told.outcome, told.raw["new"], told.raw["new_suppressions"]) == (Outcome.FULL_SUCCESS, 0, 1)
    assert told.raw["findings"][0]["rule"] == "suppression"


def test_code_that_the_tool_would_not_see_is_counted(ruff):
    final = {
        **GIVEN,
        "site-packages/b.py": "import sys\n",
        "c.py": b"import sys  # \xff\n",
        "d.py": "d.txt",
        "d.txt": "import re  # noqa\n",
    }
    found = ruff(tree(final, links=("d.py",)), tree(GIVEN), tool="ruff", zero_at=4)
    assert (found.outcome, found.raw["new"]) == (Outcome.PARTIAL_SUCCESS, 3), found
    assert {each["file"] for each in found.raw["findings"]} == {"site-packages/b.py", "c.py", "d.py"}


def test_what_silences_a_tool_counts_only_where_the_tool_looks(ruff):
    final = {**GIVEN, "tests/test_a.py": "import sys  # noqa\n"}
    assert ruff(tree(final), tree(GIVEN), tool="ruff", paths=["a.py"]).outcome is Outcome.FULL_SUCCESS


def test_a_module_of_the_tree_does_not_stand_in_for_a_tool_that_is_started_as_a_module(tmp_path):
    judge = Judge(tmp_path / "room", StaticAnalysis(), sandbox="local")
    given = {"data.json": "[]"}
    final = {
        **given,
        "json/tool.py": "print('[]')",
        "json/__init__.py": "",
        "data.json": '[{"file": "a", "rule": "r"}]',
    }
    config = {"tool": "command", "format": "json", "command": ["python", "-m", "json.tool", "data.json"]}
    assert judge(tree(final), tree(given), **config).outcome is Outcome.FAILURE


def test_a_tree_that_is_no_python_has_a_new_finding_and_is_no_evaluator_error(ruff):
    found = ruff(tree({**GIVEN, "a.py": "def broken(:\n"}), tree(GIVEN), tool="ruff")
    assert found.outcome is Outcome.FAILURE


def test_a_module_of_the_tree_does_not_stand_in_for_the_tool(ruff):
    final = {**GIVEN, "ruff/__main__.py": "print('[]')\n", "ruff.py": "print('[]')\n", "b.py": "import sys\n"}
    assert ruff(tree(final), tree(GIVEN), tool="ruff").raw["new"] == 1


def test_a_tool_that_is_not_there_is_an_evaluator_error(tmp_path):
    bare = Judge(tmp_path / "room", StaticAnalysis(), sandbox="local")
    found = bare(tree(GIVEN), tree(GIVEN), tool="mypy")
    assert found.outcome is Outcome.EVALUATOR_ERROR
    assert "No module named mypy" in found.reason
    found = bare(tree(GIVEN), tree(GIVEN), tool="command", format="json", command=["no-such-tool"])
    assert found.outcome is Outcome.EVALUATOR_ERROR


LINT = """
import json, os, sys
found = []
for name in sorted(os.listdir(".")):
    if name.endswith(".py"):
        for number, line in enumerate(open(name), start=1):
            if "TODO" in line:
                found.append((name, number))
results = [
    {"ruleId": "todo", "message": {"text": "later"}, "locations": [{"physicalLocation": {
        "artifactLocation": {"uri": "file://" + os.path.abspath(name)}, "region": {"startLine": number}}}]}
    for name, number in found
]
if any(line.strip() == "CRASH" for line in open("a.py")):
    sys.exit("cannot go on")
with open(sys.argv[1], "w") as file:
    json.dump({"version": "2.1.0", "runs": [{"results": results}]}, file)
"""


def test_any_tool_that_writes_sarif_into_a_file_can_be_used(tmp_path):
    judge = Judge(tmp_path / "room", StaticAnalysis())
    given = {"a.py": "x = 1  # TODO\n"}
    config = {"tool": "command", "format": "sarif", "command": ["python", "-I", "-c", LINT, "{output}"]}
    assert judge(tree({"a.py": "y = 2\nx = 1  # TODO\n"}), tree(given), **config).outcome is Outcome.FULL_SUCCESS
    found = judge(tree({"a.py": "x = 1  # TODO\nz = 3  # TODO\n"}), tree(given), **config)
    assert "a.py:2: todo: later" in found.reason
    broken = judge(tree({"a.py": "CRASH\n"}), tree(given), **config)
    assert (broken.outcome, broken.score) == (Outcome.FAILURE, 0.0)
    assert "cannot go on" in broken.reason


def finding(rule: str, file: str, text: str) -> dict[str, object]:
    return {"rule": rule, "file": file, "text": text, "line": 1, "message": "m"}


MATCHING = {
    "the same twice is one more": ([("R", "a", "x")], [("R", "a", "x"), ("R", "a", "x")], [("R", "a", "x")]),
    "another rule on the line": ([("R", "a", "x")], [("S", "a", "x")], [("S", "a", "x")]),
    "a file that was moved": ([("R", "a", "x")], [("R", "b", "x")], []),
    "a copy beside the old one": ([("R", "a", "x")], [("R", "a", "x"), ("R", "b", "x")], [("R", "b", "x")]),
    "one that was mended": ([("R", "a", "x")], [], []),
    "mended there and made here": (
        [("R", "a", "x"), ("R", "a", "y")],
        [("R", "a", "y"), ("R", "b", "x")],
        [("R", "b", "x")],
    ),
}


@pytest.mark.parametrize("name", MATCHING)
def test_findings_are_matched_by_rule_file_and_text(name):
    before, after, expected = ([finding(*each) for each in side] for side in MATCHING[name])
    assert new_findings(before, after) == expected


OUTPUTS = {
    "ruff": (
        '[{"code": "F401", "filename": "/w/a.py", "location": {"row": 3, "column": 1}, "message": "unused"}]',
        ("F401", "a.py", 3),
    ),
    "mypy": (
        (
            '{"file": "a.py", "line": 2, "message": "m", "code": "arg-type", "severity": "error"}\n'
            '{"file": "a.py", "line": 2, "message": "m", "code": null, "severity": "note"}\n'
        ),
        ("arg-type", "a.py", 2),
    ),
    "pyright": (
        '{"version": "1", "generalDiagnostics": [{"file": "/w/a.py", "rule": "r", "message": "m", "line": 9}]}',
        ("r", "a.py", 9),
    ),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_json_of_common_tools_is_read(name):
    output, expected = OUTPUTS[name]
    assert [(each["rule"], each["file"], each["line"]) for each in read_findings(output, "json", "/w")] == [expected]


@pytest.mark.parametrize("output", ["no json", "3", "[1, 2]", '{"runs": 3}', "[" * 100_000])
def test_output_that_is_none_is_told(output):
    for form in ("json", "sarif"):
        with pytest.raises(UnreadableError):
            list(read_findings(output, form, "/w"))


def test_sarif_suppressed_by_the_tool_is_left_out():
    results = [
        {"ruleId": "a", "suppressions": [{"kind": "inSource"}]},
        {"ruleId": "b"},
        {"ruleId": "c", "level": "note"},
    ]
    text = json.dumps({"runs": [{"results": results}]})
    assert [each["rule"] for each in read_findings(text, "sarif", "/w")] == ["b"]


def test_comments_that_silence_tools_are_recognised_in_source_files_alone():
    text = "a  # noqa\nb  # type: ignore[x]\nc  # pylint: disable=all\nd  # noquack\ne  # types: none\n# ruff: noqa\n"
    assert [each["line"] for each in suppressions(text, "a.py")] == [1, 2, 3, 6]
    assert [each["line"] for each in suppressions("// eslint-disable-line\n// @ts-ignore\n", "a.ts")] == [1, 2]
    assert list(suppressions(text, "a.md")) == []


SILENCING = (
    "# NOQA",
    "#noqa:F401",
    "# ruff: disable[F401]",
    "# ruff: ignore[F401]",
    "# ruff: file-ignore[F401]",
    "# isort: skip_file",
    "# ty: ignore",
    "# pyre-ignore",
    "from typing import no_type_check",
)


@pytest.mark.parametrize("line", SILENCING)
def test_every_spelling_that_silences_a_tool_is_recognised(line):
    assert len(list(suppressions(f"\n{line}\n", "a.py"))) == 1


UNSEEN = {
    "a folder of packages": ("lib/site-packages/a.py", b"", "lies in a folder that tools leave out: site-packages"),
    "a hidden folder": (".lib/a.py", b"", "lies in a folder that tools leave out: .lib"),
    "padding": ("a.py", b"#" * (LARGEST_SOURCE + 1), "is larger than"),
    "another encoding": ("a.py", b"#!/bin/python\n# -*- coding: utf-7 -*-\n", "is declared to be utf-7"),
    "no text": ("a.py", b"x = '\xff'\n", "is not UTF-8"),
    "a stub": ("p/a.pyi", b"", "is a stub that hides the module beside it"),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_a_file_that_tools_may_not_see_is_told(name):
    path, content, reason = UNSEEN[name]
    (found,) = unseen(content, path, beside=frozenset({"a.py", "a.pyi"}))
    assert found["message"].startswith(reason)


@pytest.mark.parametrize("path", ["a.py", "src/distance/a.py", "b.pyi", "docs/site-packages.md", "a.css"])
def test_an_ordinary_file_hides_nothing(path):
    assert list(unseen("# coding: UTF-8\nx = 'é'\n".encode(), path, beside=frozenset({"a.py"}))) == []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "'tool' is None"),
        ({"tool": "command", "command": ["x"]}, "'format' is None"),
        ({"tool": "ruff", "command": ["x"]}, "'command' is only for"),
        ({"tool": "ruff", "max_new": 3, "zero_at": 3}, "'zero_at' is 3"),
        ({"tool": "ruff", "configuration": ["a/b.toml"]}, "'configuration' holds"),
        ({"tool": "ruff", "paths": ["-x"]}, "'paths' holds"),
    ],
)
def test_a_wrong_configuration_is_named(config, message):
    with pytest.raises(InputError, match=message):
        StaticAnalysis().check_config(config)


MYPY = (
    "ast-serialize==0.13.1",
    "librt==0.17.0",
    "mypy==2.4.1",
    "mypy-extensions==1.2.0",
    "pathspec==1.1.1",
    "typing-extensions==4.16.0",
)


def test_mypy_counts_new_type_errors_under_the_given_configuration(tmp_path):
    judge = Judge(tmp_path / "room", StaticAnalysis(), MYPY)
    given = {"mypy.ini": "[mypy]\nstrict = True\n", "a.py": 'x: int = "old"\n'}
    final = {"mypy.ini": "[mypy]\nignore_errors = True\n", "a.py": '\nx: int = "old"\ny: str = 3\n'}
    found = judge(tree(final), tree(given), tool="mypy")
    assert (found.outcome, found.raw["before"], found.raw["new"]) == (Outcome.FAILURE, 1, 1), found
    assert "a.py:3: assignment: " in found.reason
    assert found.raw["restored_configuration"] == ["mypy.ini"]


def test_what_a_tool_found_before_it_gave_up_is_not_taken_for_all(tmp_path):
    """mypy ends at the first duplicate module; with `max_new: 1` that one finding would stand for all others."""
    command = [sys.executable, "-c", "import sys; print('[]'); print('gave up', file=sys.stderr); sys.exit(2)"]
    settings = {"tmp": str(tmp_path), "command": command, "silent_exit_codes": [0]}
    ended = tool_output({**settings, "whole_exit_codes": [0, 1]}, "final", str(tmp_path))
    assert ended == ("", "it gave up (exit code 2): gave up")
    assert tool_output({**settings, "whole_exit_codes": []}, "final", str(tmp_path)) == ("[]\n", None)
