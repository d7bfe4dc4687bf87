"""Verdicts of contract tests hold for exactly the versions they were given for."""

import dataclasses
from pathlib import Path

import pytest

from akbench.catalogue import Adapter
from akbench.spec import AgentRecord, EvaluatorRecord, HostError
from akbench.verdict import FailedTest, Verdict, keep_verdict, subject_of, verdict_for

AGENT = Adapter(
    record=AgentRecord(id="some", target="some.adapter:Some", summary="some"), distribution="some-dist", version="1.0.0"
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AKBENCH_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def verdict(adapter: Adapter = AGENT, failed: tuple[FailedTest, ...] = (), passed: int = 12) -> Verdict:
    return Verdict(subject=subject_of(adapter), at="2026-11-30T20:00:00+00:00", passed=passed, skipped=2, failed=failed)


def test_there_is_none_before_the_tests_ran():
    assert verdict_for(AGENT) is None


def test_a_kept_verdict_is_found_again_and_a_later_one_replaces_it():
    keep_verdict(verdict())
    assert verdict_for(AGENT) == verdict()
    worse = verdict(failed=(FailedTest(name="test_cancel", message="still running"),))
    keep_verdict(worse)
    assert verdict_for(AGENT) == worse
    assert not worse.is_pass


def test_only_tests_that_passed_make_a_pass():
    assert verdict().is_pass
    assert not verdict(passed=0).is_pass


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(AGENT, version="1.0.1"),
        dataclasses.replace(AGENT, distribution="some_dist"),
        dataclasses.replace(AGENT, record=AgentRecord(id="SOME", target="x:Y", summary="other id")),
        dataclasses.replace(AGENT, record=EvaluatorRecord(id="some", target="x:Y", summary="other kind")),
    ],
    ids=["version", "distribution", "id", "kind"],
)
def test_it_says_nothing_about_anything_else(other: Adapter):
    keep_verdict(verdict())
    assert verdict_for(other) is None


@pytest.mark.parametrize("field", ["core_version", "api"])
def test_it_says_nothing_about_another_core(field: str):
    value = {"core_version": "99.0", "api": 99}[field]
    keep_verdict(dataclasses.replace(verdict(), subject=dataclasses.replace(subject_of(AGENT), **{field: value})))
    assert verdict_for(AGENT) is None


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{}", b'{"subject": {"a": 1}}'])
def test_a_damaged_file_is_no_verdict(content: bytes):
    keep_verdict(verdict()).write_bytes(content)
    assert verdict_for(AGENT) is None


def test_a_file_that_was_copied_to_another_subject_is_no_verdict():
    other = dataclasses.replace(AGENT, version="2.0.0")
    path = keep_verdict(verdict(other))
    keep_verdict(verdict()).write_bytes(path.read_bytes())
    assert verdict_for(AGENT) is None


def test_names_cannot_lead_out_of_the_folder(state: Path):
    odd = dataclasses.replace(AGENT, distribution="../../x y", version="1/2")
    path = keep_verdict(verdict(odd))
    assert path.parent == state / "verdicts"
    assert verdict_for(odd) == verdict(odd)


def test_a_folder_that_cannot_be_written_is_named(state: Path):
    state.write_text("a file in its place")
    with pytest.raises(HostError, match="set AKBENCH_STATE to another one"):
        keep_verdict(verdict())
