"""Descriptors of an older schema: read through their migrations, kept as they were written."""

from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.descriptors.document import parse
from akbench.descriptors.kinds import MetricDescriptor
from akbench.descriptors.migration import MIGRATIONS, Migration, migrated
from akbench.descriptors.snapshot import canonical_hash, faults_of, load_document, restored
from akbench.spec import InputError

OLD = """\
schema_version: "0.8"
id: patience
version: "1.0.0"
metric: {adapter: patience, unit: seconds, higher_is_better: false}
"""


def unit_is_named(data: dict) -> dict:
    data["metric"]["unit"] = data["metric"].pop("unit", "count")
    return data


def direction_is_a_word(data: dict) -> dict:
    data["metric"]["better"] = "higher" if data["metric"].pop("higher_is_better") else "lower"
    return data


@pytest.fixture
def older_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MIGRATIONS, ("metric", "0.8"), Migration(to="0.9", change=unit_is_named))
    monkeypatch.setitem(MIGRATIONS, ("metric", "0.9"), Migration(to="1.0", change=direction_is_a_word))


@pytest.mark.usefixtures("older_versions")
def test_an_old_descriptor_is_read_through_every_step():
    snapshot = load_document(parse(OLD, "x.yaml"), MetricDescriptor, origin="test")
    assert (snapshot.model.metric.better, snapshot.model.schema_version) == ("lower", "1.0")


@pytest.mark.usefixtures("older_versions")
def test_a_migration_changes_neither_the_text_nor_the_hash_of_what_was_written():
    document = parse(OLD, "x.yaml")
    before = canonical_hash(document.data)
    snapshot = load_document(document, MetricDescriptor, origin="test")
    assert snapshot.document.data["metric"]["higher_is_better"] is False
    assert (snapshot.hash, snapshot.record()["text"]) == (before, OLD)


@pytest.mark.usefixtures("older_versions")
def test_the_snapshot_of_an_old_experiment_stays_readable():
    record = load_document(parse(OLD, "x.yaml"), MetricDescriptor, origin="somewhere 1.2.3").record()
    again = restored(record, "exp-0001: metric/patience")
    assert (again.kind, again.model.metric.better, again.origin) == ("metric", "lower", "somewhere 1.2.3")
    assert again.hash == record["hash"]


@pytest.mark.usefixtures("older_versions")
def test_a_project_may_hold_descriptors_of_an_old_version(tmp_path: Path):
    (tmp_path / "descriptors").mkdir()
    (tmp_path / "descriptors" / "patience.yaml").write_text(OLD)
    assert Catalogue.load(tmp_path).find("metric", "patience").model.schema_version == "1.0"


@pytest.mark.usefixtures("older_versions")
def test_a_fault_left_after_the_migrations_still_has_its_place():
    ((place, message),) = faults_of(parse(OLD.replace("adapter: patience", "adapter: /"), "x.yaml"))
    assert (place, message[:15]) == ("x.yaml:4:19", "metric.adapter:")


def test_a_version_without_a_migration_is_refused_at_its_place():
    ((place, message), *_) = faults_of(parse(OLD, "x.yaml"))
    assert (place, message) == ("x.yaml:1:17", "schema_version: input should be '1.0'")


def test_data_of_the_present_version_is_left_alone():
    data = parse(OLD.replace("0.8", "1.0"), "x.yaml").data
    assert migrated("metric", data) is data


def test_a_kept_text_that_was_changed_afterwards_is_refused():
    text = 'schema_version: "1.0"\nid: c\nversion: "1.0.0"\ncategory: {judged_by: tests}\n'
    record = {"hash": canonical_hash(parse(text, "x").data), "origin": "x", "text": text.replace("tests", "nothing")}
    with pytest.raises(InputError, match="not the one that the recorded hash"):
        restored(record, "exp-0001: category/c")
