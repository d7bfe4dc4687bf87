"""Putting a report on disk."""

from __future__ import annotations

import json

import pytest

from akbench.spec import HostError, InputError
from akbench_report.publish import MANIFEST, File, publish


def _files(**contents):
    return [File(path=path.replace("__", "/"), content=content.encode()) for path, content in contents.items()]


def _tree(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_stale_pages_and_their_empty_folders_go(tmp_path):
    target = tmp_path / "reports"
    publish(_files(index="1", runs__a__page="old", runs__b__page="old"), target)
    publish(_files(index="2", runs__b__page="new"), target)
    assert _tree(target) == {"index", "runs/b/page", MANIFEST}
    assert not (target / "runs" / "a").exists()
    assert (target / "index").read_text() == "2"


def test_files_of_others_are_left_alone(tmp_path):
    target = tmp_path / "reports"
    publish(_files(index="1", runs__a="1"), target)
    (target / "runs" / "notes.txt").write_text("mine")
    publish(_files(index="2"), target)
    assert _tree(target) == {"index", "runs/notes.txt", MANIFEST}


def test_a_file_of_somebody_else_is_never_overwritten(tmp_path):
    (tmp_path / "index").write_text("mine")
    with pytest.raises(InputError, match="index exists and is no part of a report"):
        publish(_files(assets="1", index="report"), tmp_path)
    assert _tree(tmp_path) == {"index"}
    assert (tmp_path / "index").read_text() == "mine"


def test_a_failure_while_pages_are_made_leaves_the_older_report_as_it_was(tmp_path):
    target = tmp_path / "reports"
    publish(_files(index="old"), target)

    def failing():
        yield File(path="index", content=b"half")
        raise InputError("the store is damaged")

    with pytest.raises(InputError, match="the store is damaged"):
        publish(failing(), target)
    assert (target / "index").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]


def test_a_report_interrupted_between_two_files_is_cleaned_by_the_next(tmp_path):
    target = tmp_path / "reports"
    publish(_files(index="old", b="old"), target)
    (target / "b").unlink()
    (target / "b").mkdir()  # a folder where a file must go makes the second replacement fail
    with pytest.raises(HostError):
        publish(_files(index="new", b="new", c="new"), target)
    (target / "b").rmdir()
    publish(_files(index="newest"), target)
    assert _tree(target) == {"index", MANIFEST}


def test_a_manifest_cannot_make_us_remove_files_elsewhere(tmp_path):
    target = tmp_path / "reports"
    target.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (target / MANIFEST).write_text(json.dumps({"files": ["../victim", str(victim), ""]}))
    publish(_files(index="1"), target)
    assert victim.read_text() == "precious"


def test_a_damaged_manifest_is_named(tmp_path):
    (tmp_path / MANIFEST).write_text("[]")
    with pytest.raises(InputError, match=MANIFEST):
        publish(_files(index="1"), tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match=r"cannot be written to .*file"):
        publish(_files(index="1"), tmp_path / "file" / "reports")
