from __future__ import annotations

import os
import socket
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from akbench.dataset.directory import read_directory
from akbench.dataset.gather import Caps, OddityKind
from akbench.spec import InputError


def test_a_folder_is_read_without_its_repository_and_without_caches(tmp_path):
    for name in (".git/config", "src/__pycache__/a.pyc", "src/a.py", ".hidden", ".pytest_cache/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = read_directory(tmp_path)
    assert set(found.tree.entries) == {b"src/a.py", b".hidden"}
    assert found.oddities == ()


def test_links_out_of_the_folder_are_left_out_and_never_followed(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("k")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "in").symlink_to("nowhere")
    (folder / "out").symlink_to("../secret")
    (folder / "far").symlink_to(tmp_path / "secret/key")
    found = read_directory(folder)
    assert set(found.tree.entries) == {b"in"}
    assert {(oddity.path, oddity.kind) for oddity in found.oddities} == {
        (b"out", OddityKind.ESCAPING_LINK),
        (b"far", OddityKind.ESCAPING_LINK),
    }


def test_pipes_and_sockets_neither_stop_the_reading_nor_enter_the_tree(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        found = read_directory(tmp_path)
    assert not found.tree.entries
    assert {oddity.kind for oddity in found.oddities} == {OddityKind.FIFO, OddityKind.SOCKET}


def test_a_missing_folder_a_file_and_a_link_are_no_folder(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for name in ("missing", "file", "link"):
        with pytest.raises(InputError, match=f"{name}: there is no such folder"):
            read_directory(tmp_path / name)


def test_a_folder_beyond_its_bounds_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(bytes(10))
    (tmp_path / "b").write_bytes(bytes(10))
    with pytest.raises(InputError, match="more than 1 files"):
        read_directory(tmp_path, caps=Caps(files=1))


def test_folders_deeper_than_the_bound_are_recorded(tmp_path):
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/c/deep").touch()
    (tmp_path / "a/b/flat").touch()
    found = read_directory(tmp_path, caps=Caps(depth=2))
    assert set(found.tree.entries) == {b"a/b/flat"}
    assert [(oddity.path, oddity.kind) for oddity in found.oddities] == [(b"a/b/c", OddityKind.TOO_DEEP)]


@contextmanager
def nobody():
    """Root reads everything; so for once be someone else."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_what_cannot_be_read_is_recorded_and_stops_nothing():
    with nobody(), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for item in ("a", "b", "closed/c"):
            (folder / item).parent.mkdir(exist_ok=True)
            (folder / item).touch()
        (folder / "a").chmod(0)
        (folder / "closed").chmod(0)
        found = read_directory(folder)
        (folder / "closed").chmod(0o700)
    assert set(found.tree.entries) == {b"b"}
    assert [(oddity.path, oddity.kind) for oddity in found.oddities] == [
        (b"a", OddityKind.UNREADABLE),
        (b"closed", OddityKind.UNREADABLE),
    ]
