"""Whatever the text of a file of a project, reading it ends in a value or in an `InputError` with its place.

A few examples run with every test run; `nox -s fuzz` tries many.
"""

from __future__ import annotations

import json
import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akbench.dataset.format import DatasetFile, MutationFile, RepositoryFile
from akbench.descriptors.document import parse
from akbench.descriptors.kinds import KINDS
from akbench.descriptors.snapshot import canonical_hash, kind_of
from akbench.spec import CAPABILITIES, InputError
from akbench.testing import parse_scripts

pytestmark = pytest.mark.fuzz

few = settings(
    max_examples=int(os.environ.get("AKBENCH_FUZZ_EXAMPLES", "40")),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

MODELS = [*KINDS.values(), DatasetFile, RepositoryFile, MutationFile]
PLACE = re.compile(r"f\.yaml:\d+:\d+: ")
HEAD = 'schema_version: "1.0"\nid: x\nversion: "1.0.0"\ntitle: x\n'
CAPABLE = ", ".join(f"{name}: unknown" for name in CAPABILITIES)
VALID = {
    "agent": f"agent:\n  adapter: a\n  execution_type: process\n  capabilities: {{{CAPABLE}}}\n"
    "  configuration_schema:\n    k: {type: integer, default: 1, allowed: [1, 2]}\n"
    "  environment: [{name: KEY, sensitive: true}]\n",
    "experiment": "experiment:\n  type: configuration\n  agents: {a: {id: noop, config: {k: [1, {x: y}]}}}\n"
    "  execution: {mode: direct, model_endpoint: {base_url: 'http://x/', api_key_env: KEY}}\n"
    "  dataset: {id: d, version: 1.0.0, filters: {task_ids: [t]}}\n"
    "  factors: {dimensions: [{id: agent, values: [a]}], baseline: {agent: a}}\n"
    "  execution_policy: {repetitions: 1, timeout_seconds: 5}\n  evaluation: {evaluators: [pytest]}\n",
    "task": "task:\n  category: c\n  difficulty: easy\n  environment: {python: '3.12', requirements: [a==1]}\n",
    "evaluator": "evaluator:\n  adapter: pytest\n  config: {target: [a], timeout_seconds: 5}\n",
    "dimension": "dimension:\n  type: integer\n  values: [1]\n  controllable: true\n"
    "  configure: {target: agent.config, key: k}\n",
    "metric": "metric: {adapter: a, unit: s, better: lower}\n",
    "repository": "repository: {source: directory, path: repositories/x, license: MIT, withhold: ['a/**']}\n",
    "mutation": "mutation:\n  file: a.py\n  file_sha256: " + "a" * 64 + "\n  symbol: f\n"
    "  replace_line: {line: 1, before: a, after: b}\n",
    "repository git": "repository: {source: git, url: 'https://h.example/r', commit: " + "a" * 40 + ", license: MIT}\n",
    "repository archive": "repository: {source: archive, path: x.zip, sha256: " + "a" * 64 + ", license: MIT}\n",
    "mutation operator": "mutation:\n  file: a.py\n  file_sha256: " + "a" * 64 + "\n  result_sha256: " + "b" * 64 + "\n"
    "  symbol: f\n  operator: {id: x, version: 1, occurrence: 1}\n",
    "scripts": "scripts:\n  - match: x\n    when: {model: m}\n    steps:\n"
    "      - {run: ls, usage: {input_tokens: 1}}\n      - {say: x}\n",
}
ODD = [
    *("null", "~", "true", "-1", "0", "1.5", ".nan", ".inf", "1e999", "9" * 30, "2026-01-01"),
    *('""', "''", "[]", "{}", "[[]]", "[null]", "{a: b}", "{1: 2}", "&a [*a]", "*a", "<<: {a: b}"),
    *("!!binary eA==", "!!set {a}", "!x y", "../..", "/", "a\tb", '"\\0"', '"\\ud800"', '"\\e[31m"'),
    *("\u2028", "\ufeff", "é", "|", ">", "- ", "? ", ": ", "---\n", "...\n", "%YAML 1.3\n", "\r"),
]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
fragments = st.sampled_from(ODD) | st.text(max_size=10) | values.map(json.dumps)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A right file with up to three places overwritten."""
    text = HEAD * draw(st.booleans()) + draw(st.sampled_from(sorted(VALID.values())))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 30)))
        text = text[:start] + draw(fragments) + text[end:]
    return text


@st.composite
def revalued(draw: st.DrawFn) -> str:
    """A right file in which one value, however deep, is another: still YAML, but of another shape."""
    text = draw(st.sampled_from(sorted(VALID.values())))
    content = parse(HEAD + text, "f.yaml").data
    parent, key = draw(st.sampled_from(list(_slots(content))))
    parent[key] = draw(values)
    return json.dumps(content)


def _slots(value):
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _slots(inner)


def read_as_everything(text: str) -> None:
    """Read `text` in every way there is; anything but a value or an `InputError` with its place fails the test."""
    document = read_or_refused(lambda: parse(text, "f.yaml"))
    if document is not None:
        canonical_hash(document.data)
        json.dumps(document.data, allow_nan=False).encode()
        read_or_refused(lambda: kind_of(document))
        for model in MODELS:
            read_or_refused(lambda model=model: document.validate(model))
    read_or_refused(lambda: parse_scripts(text, source="f.yaml"))


def read_or_refused(read):
    try:
        return read()
    except InputError as error:
        message = str(error)
    assert PLACE.match(message), message
    return None


def test_the_right_files_that_fuzzing_starts_from_are_right():
    for name, text in VALID.items():
        models = {**KINDS, "repository": RepositoryFile, "mutation": MutationFile}
        if name == "scripts":
            assert parse_scripts('schema_version: "1.0"\n' + text, source="f.yaml")
        else:
            parse(HEAD + text, "f.yaml").validate(models[name.partition(" ")[0]])


@few
@given(st.text())
def test_any_text_is_read_or_refused_with_its_place(text: str):
    read_as_everything(text)


@few
@given(st.lists(fragments, max_size=12).map(" ".join))
def test_any_pieces_of_yaml_are_read_or_refused_with_their_place(text: str):
    read_as_everything(text)


@few
@given(damaged())
def test_a_damaged_file_is_read_or_refused_with_its_place(text: str):
    read_as_everything(text)


@few
@given(revalued())
def test_a_value_of_any_other_shape_is_read_or_refused_with_its_place(text: str):
    read_as_everything(text)
