from __future__ import annotations

import os

import pytest

from akbench_agent_codex import session_files
from akbench_agent_codex.session_files import collect_session_files, read_bounded, read_tail


@pytest.fixture
def day(tmp_path):
    folder = tmp_path / "state" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    return folder


def collect(tmp_path):
    return collect_session_files(tmp_path / "state")


def test_session_files_are_found_by_their_relative_path(tmp_path, day):
    (day / "rollout-b.jsonl").write_bytes(b"2")
    (day / "rollout-a.jsonl").write_bytes(b"1")
    (day / "other.jsonl").write_bytes(b"3")
    found = collect(tmp_path).files
    assert [(file.path, file.content) for file in found] == [
        ("sessions/2026/11/30/rollout-a.jsonl", b"1"),
        ("sessions/2026/11/30/rollout-b.jsonl", b"2"),
    ]


def test_no_link_is_followed(tmp_path, day):
    secret = tmp_path / "secret.jsonl"
    secret.write_text("secret")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "rollout-e.jsonl").write_text("secret")
    (day / "rollout-link.jsonl").symlink_to(secret)
    (day / "folder").symlink_to(tmp_path / "elsewhere")
    result = collect(tmp_path)
    assert result.files == ()
    assert [line.partition(":")[0] for line in result.left_out] == ["sessions/2026/11/30/rollout-link.jsonl"]


def test_a_sessions_folder_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "rollout-e.jsonl").write_text("secret")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "sessions").symlink_to(tmp_path / "elsewhere")
    assert collect(tmp_path).files == ()


def test_a_pipe_does_not_block(tmp_path, day):
    os.mkfifo(day / "rollout-pipe.jsonl")
    result = collect(tmp_path)
    assert result.files == ()
    assert "not a regular file" in result.left_out[0]


def test_a_huge_file_is_left_out_and_named(tmp_path, day):
    with (day / "rollout-huge.jsonl").open("wb") as file:
        file.truncate(session_files.FILE_LIMIT + 1)
    (day / "rollout-small.jsonl").write_bytes(b"x")
    result = collect(tmp_path)
    assert [file.content for file in result.files] == [b"x"]
    assert "larger than" in result.left_out[0]


def test_too_many_files_are_named(tmp_path, day):
    for number in range(session_files.COUNT_LIMIT + 2):
        (day / f"rollout-{number:04}.jsonl").write_bytes(b"")
    result = collect(tmp_path)
    assert (len(result.files), len(result.left_out)) == (session_files.COUNT_LIMIT, 2)


def test_deep_folders_are_not_entered_for_ever(tmp_path, day):
    folder = day
    for _ in range(40):
        folder = folder / "d"
    folder.mkdir(parents=True)
    (folder / "rollout-deep.jsonl").write_bytes(b"x")
    assert collect(tmp_path).files == ()


def test_no_sessions_means_no_files(tmp_path):
    assert collect(tmp_path).files == ()
    (tmp_path / "state").mkdir()
    assert collect(tmp_path).files == ()


def test_a_bounded_reading_says_whether_it_is_whole(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == (b"12345", True)
    assert read_bounded(path, 4) == (b"1234", False)
    assert read_bounded(tmp_path / "absent") == (b"", True)
    assert read_tail(path, 2) == b"45"
    assert read_tail(path, 9) == b"12345"
    assert read_tail(tmp_path / "absent", 9) == b""
