from __future__ import annotations

import os

from akbench.workspace.removal import remove_tree


def test_folders_deeper_than_any_path_are_removed(tmp_path):
    root = tmp_path / "run"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("deeper", dir_fd=here)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    remove_tree(root)
    assert not root.exists()


def test_links_are_removed_and_not_followed(tmp_path):
    (tmp_path / "kept/inner").mkdir(parents=True)
    root = tmp_path / "run"
    (root / "a").mkdir(parents=True)
    (root / "a/link").symlink_to(tmp_path / "kept")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "a/pipe")
    remove_tree(root)
    assert not root.exists()
    assert (tmp_path / "kept/inner").is_dir()


def test_closed_folders_are_opened_first(tmp_path):
    root = tmp_path / "run"
    (root / "closed/inner").mkdir(parents=True)
    (root / "closed/inner/file").touch()
    (root / "closed/inner").chmod(0)
    (root / "closed").chmod(0)
    remove_tree(root)
    assert not root.exists()
