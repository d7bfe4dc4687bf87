"""Bounds of what a process writes: measured while it runs, and once more at its end."""

import os
import threading
import time
from pathlib import Path

import pytest

from akbench.sandbox.disk import DiskWatch
from akbench.sandbox.environment import EnvironmentSandbox
from akbench.spec import Limits


def concluded(folder: Path, **bounds: int) -> str | None:
    with DiskWatch((folder,), Limits(timeout_seconds=1.0, **bounds)) as watch:
        watch.conclude()
    return watch.exceeded


def test_who_fills_the_disk_is_ended_and_told_why(run):
    limits = Limits(timeout_seconds=60.0, disk_bytes=5_000_000)
    begun = time.monotonic()
    ran = run.shell("head -c 9000000 /dev/zero > big; sleep 600", limits=limits)
    assert ran.evidence.exceeded == "its folders hold more than 5000000 bytes"
    assert (ran.evidence.timed_out, ran.evidence.cancelled) == (False, False)
    assert ran.evidence.signal == 9
    assert time.monotonic() - begun < 15


def test_who_makes_too_many_files_and_ends_at_once_is_found_out(run):
    limits = Limits(timeout_seconds=60.0, files=5)
    ran = run.shell("mkdir d; touch 1 2 3 d/4; ln -s 1 5", limits=limits)
    assert ran.evidence.exceeded == "its folders hold more than 5 files"
    assert ran.evidence.exit_code == 0
    assert run.shell("touch 1 2 3 4 5", limits=limits).evidence.exceeded is None


def test_space_is_what_the_disk_gives_and_hard_links_count_once(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "real").write_bytes(os.urandom(100_000))
    for number in range(20):
        (tmp_path / f"link-{number}").hardlink_to(tmp_path / "real")
    assert concluded(tmp_path, disk_bytes=400_000) is None
    assert concluded(tmp_path, disk_bytes=90_000) is not None


def test_links_are_counted_and_not_followed(tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    for number in range(10):
        (outside / str(number)).touch()
    (inside / "link").symlink_to(outside)
    assert concluded(inside, files=1) is None


def test_what_lies_too_deep_to_be_measured_breaks_the_bound(tmp_path):
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(tmp_path)
        for _ in range(30):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    finally:
        os.fchdir(before)
        os.close(before)
    assert concluded(tmp_path, disk_bytes=1 << 30) == "a folder lies too deep for what is in it to be measured"


def test_without_bounds_nothing_is_measured(tmp_path):
    with DiskWatch((tmp_path / "missing",), Limits(timeout_seconds=1.0)) as watch:
        assert threading.active_count() == len([each for each in threading.enumerate() if each.name != "disk watch"])
        watch.conclude()
    assert watch.exceeded is None


def test_an_environment_lays_its_bounds_over_those_of_each_request(unconfined):
    within = unconfined.sandbox
    unconfined.sandbox = EnvironmentSandbox(within, None, {"files": 2, "output_bytes": 3})
    ran = unconfined.shell("touch 1 2 3; echo output", limits=Limits(timeout_seconds=20.0))
    assert ran.evidence.exceeded == "its folders hold more than 2 files"
    assert ran.out == "out"
    assert unconfined.sandbox.honours == within.honours


@pytest.mark.bubblewrap
def test_the_bound_holds_for_all_folders_together(confined, tmp_path):
    from akbench.spec import Bind

    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        confined.sandbox.own(folder)
    binds = tuple(Bind(host=folder, inside=f"/{folder.name}", writable=True) for folder in folders)
    script = "head -c 600000 /dev/zero > /one/file; head -c 600000 /dev/zero > /two/file"
    ran = confined.shell(script, binds=binds, cwd="/", limits=Limits(timeout_seconds=20.0, disk_bytes=1_000_000))
    assert ran.evidence.exceeded is not None
