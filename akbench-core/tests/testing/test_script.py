from __future__ import annotations

import pytest

from akbench.spec import InputError
from akbench.testing import Action, TokenUsage, parse_scripts, read_scripts

GOOD = """\
schema_version: "1.0"
scripts:
  - match: "the first"
    when: {reasoning_effort: low}
    steps:
      - run: "ls"
        usage: {input_tokens: 7, output_tokens: 3}
      - patch: |
          *** Begin Patch
          *** End Patch
      - say: "Done."
  - match: "the second"
    steps:
      - fail: hang
"""


def error(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_scripts(text, source="s.yaml")
    return str(caught.value)


def test_a_good_file_becomes_scripts_in_order():
    first, second = parse_scripts(GOOD, source="s.yaml")
    assert [step.action for step in first.steps] == [Action.RUN, Action.PATCH, Action.SAY]
    assert first.steps[0].usage == TokenUsage(input_tokens=7, output_tokens=3)
    assert first.steps[1].text == "*** Begin Patch\n*** End Patch\n"
    assert dict(first.when) == {"reasoning_effort": "low"}
    assert second.steps[0].text == "hang"


def test_a_script_fits_only_the_effort_it_names():
    first, second = parse_scripts(GOOD, source="s.yaml")
    assert first.fits("do the first task", {"model": "m", "reasoning_effort": "low"})
    assert not first.fits("do the first task", {"model": "m", "reasoning_effort": "high"})
    assert second.fits("do the second task", {"model": "m", "reasoning_effort": "high"})


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("scripts:", "script:", "s.yaml:2:1", "unknown key 'script'"),
        ('"1.0"', '"2.0"', "s.yaml:1:17", "schema_version"),
        ('match: "the first"', "match: 5", "s.yaml:3:12", "match must be a text"),
        ("reasoning_effort: low", "effort: low", "s.yaml:4:12", "unknown key 'effort' in when"),
        ('run: "ls"', 'execute: "ls"', "s.yaml:6:9", "unknown key 'execute' in a step"),
        ("input_tokens: 7", "input_tokens: -7", "s.yaml:7:31", "number of tokens"),
        ("input_tokens: 7", "input_tokens: true", "s.yaml:7:31", "number of tokens"),
        ("fail: hang", "fail: explode", "s.yaml:14:15", "unknown fault 'explode'"),
        ("fail: hang", 'run: "ls"', "s.yaml:14:9", "the last step must be 'say' or 'fail'"),
        ('run: "ls"', 'say: "ls"', "s.yaml:6:9", "no step can follow 'say'"),
        ("fail: hang", "fail: hang\n        say: x", "s.yaml:14:9", "exactly one of"),
        ("fail: hang", "fail: hang\n        usage: {}", "s.yaml:15:16", "reports no usage"),
        ("- fail: hang", "- fail: [hang", "s.yaml:15:1", "expected"),
        ("      - fail: hang", "      {}", "s.yaml:14:7", "steps must be a list"),
        ("schema_version", "- schema_version", "s.yaml:2:1", "expected"),
    ],
)
def test_a_wrong_file_is_reported_with_its_place(old: str, new: str, place: str, words: str):
    assert old in GOOD
    message = error(GOOD.replace(old, new, 1))
    assert message.startswith(place + ": ")
    assert words in message


def test_a_key_given_twice_is_an_error():
    assert error('schema_version: "1.0"\nschema_version: "1.0"\n').startswith("s.yaml:2:1: ")


def test_an_empty_file_is_an_error():
    assert error("") == "s.yaml:1:1: expected a mapping of keys to values"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.yaml: no such file"):
        read_scripts(tmp_path / "absent.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match=r"binary\.yaml:1:\d+: not UTF-8"):
        read_scripts(tmp_path / "binary.yaml")
