"""YAML is read as plain data; whatever else it can say is refused at its place."""

import itertools
import json
import time

import pytest

from akbench.descriptors.snapshot import canonical_hash
from akbench.plain_yaml import DEPTH_LIMIT, PlainYaml, compose
from akbench.spec import InputError


def data(text: str):
    return compose(text, "f.yaml")[0]


def fault(text: str) -> str:
    with pytest.raises(InputError) as error:
        compose(text, "f.yaml")
    return str(error.value)


def bomb(levels: int, names: str = "abcdefghijklmnop") -> str:
    lines = [f"{names[0]}: &{names[0]} [x, x, x, x, x, x, x, x, x, x]"]
    for before, name in itertools.pairwise(names[:levels]):
        lines.append(f"{name}: &{name} [" + ", ".join([f"*{before}"] * 10) + "]")
    return "\n".join(lines)


MERGE_BOMB = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n + 1}: &a{n + 1} {{<<: [{', '.join([f'*a{n}'] * 9)}]}}\n" for n in range(10)
)

REFUSED = {
    "an object of Python": ("a: !!python/object:os.system {}", "1:4", "the tag '!!python/object:os.system'"),
    "an object as the document": ("!!python/object/new:dict\na: 1", "1:1", "has no meaning here"),
    "a tag of the user": ("a: !thing 1", "1:4", "the tag '!thing' has no meaning here"),
    "binary data": ("a: !!binary aGVsbG8=", "1:4", "!!binary"),
    "a set": ("a: !!set {x, y}", "1:4", "!!set"),
    "ordered pairs": ("a: !!pairs [x: y]", "1:4", "!!pairs"),
    "a set as the document": ("!!set {a, b}", "1:1", "!!set"),
    "not a number": ("a: .nan", "1:4", "no finite number"),
    "infinity by overflow": ("a: 1e999", "1:4", "no finite number"),
    "an integer of 5000 digits": ("a: " + "9" * 5000, "1:4", "cannot be read as integer"),
    "an integer of 5000 hex digits": ("a: 0x" + "f" * 5000, "1:4", "too large a number"),
    "an integer beyond 64 bits": ("a: 9223372036854775808", "1:4", "too large a number"),
    "no integer despite its tag": ("a: !!int x", "1:4", "cannot be read as integer"),
    "no truth despite its tag": ("a: !!bool x", "1:4", "cannot be read as true or false"),
    "a number as key": ("1: x", "1:1", 'a key must be text; write it in quotes: "1"'),
    "null as key": ("~: x", "1:1", "a key must be text"),
    "a list as key": ("? [a, b]\n: x", "1:3", "a key must be one text"),
    "a key twice": ("a: 1\nb: 2\na: 3", "3:1", "duplicate key 'a'"),
    "a value within itself": ("a: &a [*a]", "1:4", "cannot hold itself"),
    "a document within itself": ("&a\nb: *a", "1:1", "cannot hold itself"),
    "a mapping merged into itself": ("a: &a\n  <<: *a", "1:4", "cannot hold itself"),
    "merging a number": ("<<: 3", "1:5", "<< takes a mapping"),
    "two documents": ("a: 1\n---\nb: 2", "2:1", "another document"),
    "deep lists": ("a: " + "[" * 10_000 + "]" * 10_000, f"1:{DEPTH_LIMIT + 4}", "levels within one another"),
    "deep dashes": ("- " * 10_000 + "x", "1:131", "levels within one another"),
    "deep mappings": ("a: " + "{b: " * 10_000 + "}" * 10_000, "1:257", "levels within one another"),
    "an alias bomb": (bomb(9), "", "more than 100000 values"),
    "an alias bomb with other letters": (bomb(9, "éèêëēėęàâ"), "", "more than 100000 values"),
    "a bomb of merges": (MERGE_BOMB, "", "more than 100000 values"),
    "half of a surrogate pair": ('a: "\\ud800"', "1:4", "no text"),
    "a null character": ('a: "\\0"', "1:4", "no text"),
    "a raw control character": ('a: 1\nb: "x\x01y"', "2:6", "U+0001 cannot stand in a file"),
    "a raw null character": ("a: x\0y", "1:5", "U+0000 cannot stand in a file"),
    "a character beyond Unicode": ('a: 1\nb: "\\UFFFFFFFF"', "2:", "not valid YAML"),
    "an unknown version of YAML": ("%YAML 1.3\n---\na: 1", "1:", "not valid YAML"),
    "bad bytes in a tag": ("a: !%ff%fe b", "1:5", "not valid YAML"),
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "_"))
def test_what_is_no_plain_data_is_refused_at_its_place_and_at_once(case: str):
    text, place, words = REFUSED[case]
    started = time.process_time()
    message = fault(text)
    assert time.process_time() - started < 5
    assert message.startswith(f"f.yaml:{place}"), message
    assert words in message
    assert len(message) < 400


def test_what_yaml_once_took_for_dates_and_truth_is_text():
    assert data("a: 2026-01-31\nb: 2026-13-45\nc: yes\nd: =") == {
        "a": "2026-01-31",
        "b": "2026-13-45",
        "c": "yes",
        "d": "=",
    }


def test_anchors_and_merges_say_what_they_say_in_yaml():
    text = "base: &base {x: 1, y: 2}\nother: &other {y: 3, z: 4}\nboth: {<<: [*base, *other], x: 9}\nagain: *base\n"
    found = data(text)
    assert found["both"] == {"x": 9, "y": 2, "z": 4}
    assert found["again"] == found["base"]


def test_a_merged_value_is_placed_where_it_is_written():
    text = "base: &base\n  x: 1\nboth:\n  <<: *base\n"
    plain = PlainYaml("f.yaml", text, *compose(text, "f.yaml"))
    assert plain.place(("both", "x")) == "f.yaml:2:6"


def test_numbers_truth_and_nothing_are_read_as_such():
    found = data("a: 1\nb: 1.5\nc: true\nd: null\ne: -9223372036854775807\nf: 0x10")
    assert found == {"a": 1, "b": 1.5, "c": True, "d": None, "e": -9223372036854775807, "f": 16}
    assert json.loads(json.dumps(found)) == found
    assert len(canonical_hash(found)) == 64


def test_a_value_that_is_not_written_stands_where_its_key_does():
    plain = PlainYaml(
        source="f.yaml", text="", **dict(zip(("data", "root"), compose("a:\n  b:\n\nc: 1\n", "f.yaml"), strict=True))
    )
    assert (plain.place(("a", "b")), plain.place(("c",))) == ("f.yaml:2:3", "f.yaml:4:4")
