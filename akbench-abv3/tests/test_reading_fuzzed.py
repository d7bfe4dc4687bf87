"""Whatever a file holds, reading it ends in a value or a finding, never in a traceback.

AKBENCH_FUZZ_EXAMPLES raises the number of examples (default 60); nox -s fuzz sets it.
"""

from __future__ import annotations

import json
import os
import tempfile
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akbench_abv3.check import check_repository
from akbench_abv3.reading.bounded import UnreadableError
from akbench_abv3.reading.config_text import scan_config
from akbench_abv3.report import check_document, check_rows
from akbench_abv3.results.atif import atif_faults
from akbench_abv3.results.document import Tier, judge_result, read_result

pytestmark = pytest.mark.fuzz
fuzzed = settings(
    max_examples=int(os.environ.get("AKBENCH_FUZZ_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

KEYS = st.sampled_from(
    [
        "abv3_repo",
        "run",
        "install",
        "dependency",
        "run_configs",
        "results",
        "name",
        "role",
        "author",
        "version",
        "logo_file",
        "tags",
        "command",
        "timeout_seconds",
        "required",
        "type",
        "env",
        "secret",
        "check",
        "value",
        "folder",
        "default_exp",
        "count",
        "main_metric",
        "metric_info",
        "status",
        "runs",
        "coverage",
        "transcripts",
        "aggregate",
        "success",
        "total",
        "steps",
        "step_id",
        "source",
        "message",
        "tool_calls",
        "observation",
        "agent",
        "schema_version",
        "session_id",
        "subagent_trajectories",
        "extra",
    ]
) | st.text(max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["judge", "1.0.0", "ATIF-v1.7", "user", "agent", "./x", "..", "a\0b", "\ud800", "env", "sum"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
LINES = st.sampled_from(
    [
        "[abv3_repo]",
        "[run]",
        "[dependency.x]",
        "[[run]]",
        "name = 1",
        "command = 'x'",
        "a.b.c = 1979-05-27",
        "x = [",
        "]",
        "&a [*a]",
        "a: &a b",
        "<<: *a",
        "? [x]",
        "- - -",
        "!!binary x",
        "%YAML 1.1",
        "---",
        "...",
        "'\\x00'",
        "{",
        "}",
        '"a": 1,',
        "1e999",
    ]
)
TEXTS = st.text(max_size=60) | st.lists(LINES | st.text(max_size=8), max_size=12).map("\n".join)


@fuzzed
@given(text=TEXTS, suffix=st.sampled_from([".json", ".toml", ".yaml"]))
def test_any_text_as_a_run_config(text, suffix):
    with suppress(UnreadableError):
        assert isinstance(scan_config(text, suffix).is_mapping, bool)


def written(folder: str, name: str, content: bytes) -> Path:
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@fuzzed
@given(content=TEXTS.map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=60))
def test_any_bytes_as_a_description(content):
    with tempfile.TemporaryDirectory() as folder:
        written(folder, "agentbeats.toml", content)
        checked = check_repository(Path(folder))
        assert not checked.is_ok
        assert all(one.text for one in check_rows(checked))


def toml_of(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return json.dumps(value.replace("\ud800", "?").replace("\x7f", "?"), ensure_ascii=False)
        case list():
            return f"[{', '.join(map(toml_of, value))}]"
        case dict():
            return "{" + ", ".join(f"{toml_of(key)} = {toml_of(one)}" for key, one in value.items()) + "}"
        case _:
            return '""'


@fuzzed
@given(document=st.dictionaries(KEYS, VALUES, max_size=6), level=st.sampled_from(["1", "1+t"]))
def test_any_values_as_a_description(document, level):
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(f"{toml_of(key)} = {toml_of(value)}\n" for key, value in document.items())
        written(folder, "agentbeats.toml", text.encode("utf-8", "replace"))
        checked = check_repository(Path(folder), level=level, results=True)
        json.dumps(check_document(checked))
        assert (checked.repository is None) or checked.repository.name


@fuzzed
@given(document=VALUES | st.dictionaries(KEYS, VALUES, max_size=8), tier=st.sampled_from(Tier))
def test_any_values_as_a_result(document, tier):
    result, findings = judge_result(document, tier, shown="result.json")
    assert (result is None) == any(not one.code.startswith("W") for one in findings)


@fuzzed
@given(content=TEXTS.map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=60))
def test_any_bytes_as_a_result(content):
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, "result.json", content)
        result, findings = read_result(path, Tier.RUN, shown="result.json")
        assert result is not None or findings


@fuzzed
@given(document=VALUES | st.dictionaries(KEYS, VALUES, max_size=8))
def test_any_values_as_a_transcript(document):
    trajectory, faults = atif_faults(document)
    assert (trajectory is None) == bool(faults)


@fuzzed
@given(names=st.lists(st.text(alphabet=st.characters(exclude_characters="/\0"), min_size=1, max_size=8), max_size=4))
def test_any_names_in_the_run_configs_folder(names):
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            encoded = os.fsencode(name.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape"))
            if encoded in (b".", b".."):
                continue
            (Path(folder, "run_configs", "exp") / os.fsdecode(encoded + b".json")).parent.mkdir(
                parents=True, exist_ok=True
            )
            (Path(folder, "run_configs", "exp") / os.fsdecode(encoded + b".json")).write_text("{}")
        written(folder, "agentbeats.toml", b"[run_configs]\nfolder = 'run_configs'\n")
        checked = check_repository(Path(folder))
        said = "".join(row.line(20) for row in check_rows(checked))
        assert not {unicodedata.category(character) for character in said} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
