"""Which files of a project are its descriptors; none is left out without a word."""

import os
from pathlib import Path

import pytest

from akbench.project import descriptor_files
from akbench.spec import InputError


def test_descriptors_are_found_at_any_depth_in_one_order(tmp_path: Path):
    for name in ("b.yaml", "a/c.yaml", "README.md"):
        path = tmp_path / "descriptors" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "descriptors" / "again").symlink_to(".")
    found = [path.relative_to(tmp_path).as_posix() for path in descriptor_files(tmp_path)]
    assert found == ["descriptors/a/c.yaml", "descriptors/b.yaml"]


def test_a_project_without_the_folder_has_none(tmp_path: Path):
    assert descriptor_files(tmp_path) == ()


@pytest.mark.parametrize("name", ["agent.yml", "agent.YAML"])
def test_another_ending_of_yaml_is_refused_with_the_right_one(tmp_path: Path, name: str):
    (tmp_path / "descriptors").mkdir()
    (tmp_path / "descriptors" / name).touch()
    with pytest.raises(InputError, match=rf"{name}: is not read; name it agent\.yaml"):
        descriptor_files(tmp_path)


def test_something_else_in_place_of_the_folder_is_refused(tmp_path: Path):
    (tmp_path / "descriptors").symlink_to("nowhere")
    with pytest.raises(InputError, match="descriptors: is no folder"):
        descriptor_files(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path):
    closed = tmp_path / "descriptors" / "closed"
    closed.mkdir(parents=True)
    closed.chmod(0)
    with pytest.raises(InputError, match="closed: cannot be read: Permission denied"):
        descriptor_files(tmp_path)
