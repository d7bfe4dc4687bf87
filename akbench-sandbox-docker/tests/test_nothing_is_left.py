"""Whatever ends a run, its processes, containers, mounts, networks, sockets and folders end with it."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from akbench.cleaning import clean, remnants
from akbench.ownership import Owner
from akbench.spec import Bind, HostError, Limits, SandboxRequest
from akbench_sandbox_docker.engine import LABEL, OWNER, connected
from akbench_sandbox_docker.sandbox import DockerSandbox
from akbench_sandbox_docker.testing import Engine

pytestmark = pytest.mark.docker

DEAF = "trap '' INT TERM HUP; touch daemon; while :; do sleep 1; done"
DAEMON = f'setsid sh -c "{DEAF}" & while [ ! -e daemon ]; do sleep 0.05; done'


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def request(docker: DockerSandbox, tmp_path: Path, script: str, **changes: object) -> SandboxRequest:
    workspace = tmp_path / f"workspace-{uuid.uuid4().hex}"
    workspace.mkdir()
    docker.own(workspace)
    made = SandboxRequest(
        argv=("sh", "-c", script),
        environ={"PATH": "/usr/bin:/bin"},
        cwd="/workspace",
        binds=(Bind(host=workspace, inside="/workspace", writable=True),),
        stdin=b"",
        stdout=tmp_path / "stdout",
        stderr=tmp_path / "stderr",
        limits=Limits(timeout_seconds=60.0),
        cancelled=threading.Event(),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def eventually(condition: Callable[[], object], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "did not become true in time"
        time.sleep(0.05)


def processes(marker: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if marker.encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                found.append(path.parent.name)
    return found


def left(engine: Engine, marker: str, folder: Path) -> dict[str, object]:
    """Everything that could be left and is there."""
    with connected() as api:
        containers = api.containers(all=True, filters={"label": f"{LABEL}=1"})
        networks = api.networks(filters={"label": f"{LABEL}=1"})
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(engine.folder) in line]
    found = {
        "processes": processes(marker),
        "containers": containers,
        "networks": networks,
        "mounts": [line for line in mounts if "/merged" in line or "/shm" in line],
        "folders and sockets": [str(path) for path in folder.iterdir()],
    }
    return {name: value for name, value in found.items() if value}


ENDINGS = {
    "its own end": (f"{DAEMON}; exit 3", {}),
    "its deadline": (f"{DAEMON}; sleep 600", {"limits": Limits(timeout_seconds=0.5)}),
    "a broken bound": (
        f"{DAEMON}; head -c 3000000 /dev/zero > file; sleep 600",
        {"limits": Limits(timeout_seconds=60.0, disk_bytes=2_000_000)},
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_after(ending, docker, engine, tmp_path, own_temporary_folder):
    marker = f"marker-{uuid.uuid4().hex}"
    script, changes = ENDINGS[ending]
    evidence = docker.run(request(docker, tmp_path, f": {marker}; {script}", **changes))
    seen = (evidence.exit_code, evidence.timed_out, evidence.exceeded is not None)
    assert (
        seen
        == {
            "its own end": (3, False, False),
            "its deadline": (None, True, False),
            "a broken bound": (None, False, True),
        }[ending]
    )
    assert left(engine, marker, own_temporary_folder) == {}


def test_nothing_is_left_after_a_cancellation(docker, engine, tmp_path, own_temporary_folder):
    marker = f"marker-{uuid.uuid4().hex}"
    asked = request(docker, tmp_path, f": {marker}; {DAEMON}; sleep 600")
    workspace = asked.binds[0].host

    def cancel() -> None:
        eventually((workspace / "daemon").exists)
        asked.cancelled.set()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    evidence = docker.run(asked)
    canceller.join()
    assert evidence.cancelled
    assert left(engine, marker, own_temporary_folder) == {}


HARNESS = """
import sys, threading
from pathlib import Path
from akbench.spec import Bind, Limits, SandboxRequest
from akbench_sandbox_docker.sandbox import DockerSandbox
workspace, script = Path(sys.argv[1]), sys.argv[2]
docker = DockerSandbox()
docker.own(workspace)
evidence = docker.run(SandboxRequest(
    argv=("sh", "-c", script), environ={"PATH": "/usr/bin:/bin"}, cwd="/workspace",
    binds=(Bind(host=workspace, inside="/workspace", writable=True),), stdin=b"",
    stdout=workspace.parent / "out", stderr=workspace.parent / "err", limits=Limits(timeout_seconds=60),
    cancelled=threading.Event(),
))
sys.exit(evidence.exit_code)
"""


def harness(folder: Path, script: str) -> subprocess.Popen[bytes]:
    (folder / "workspace").mkdir(parents=True)
    return subprocess.Popen([sys.executable, "-c", HARNESS, str(folder / "workspace"), script])


def test_a_killed_harness_leaves_nothing_that_is_not_cleaned_and_the_living_one_goes_on(
    docker, engine, tmp_path, own_temporary_folder
):
    killed_mark, living_mark = (f"marker-{uuid.uuid4().hex}" for _ in range(2))
    killed = harness(tmp_path / "killed", f": {killed_mark}; {DAEMON}; sleep 600")
    living = harness(tmp_path / "living", f": {living_mark}; {DAEMON}; while [ ! -e go ]; do sleep 0.1; done; exit 7")
    try:
        for name in ("killed", "living"):
            eventually((tmp_path / name / "workspace" / "daemon").exists)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        eventually(lambda: not processes(killed_mark))
        eventually(lambda: len(left(engine, living_mark, own_temporary_folder)["containers"]) == 1)
        found = tuple(remnants(None, [("docker", docker)]))
        assert [each.kind for each in found] == ["folder"], "its container went with it, its socket's folder stayed"
        assert [reason for _, reason in clean(found)] == [None]
        assert processes(living_mark)
        (tmp_path / "living" / "workspace" / "go").touch()
        assert living.wait(20) == 7
    finally:
        for each in (killed, living):
            each.kill()
            each.wait()
    assert left(engine, killed_mark, own_temporary_folder) == {}


def test_a_killed_engine_ends_the_run_as_a_fault_of_the_host_and_nothing_goes_on(
    docker, engine, tmp_path, own_temporary_folder
):
    marker = f"marker-{uuid.uuid4().hex}"
    asked = request(docker, tmp_path, f": {marker}; {DAEMON}; sleep 600")
    errors: list[BaseException] = []

    def run() -> None:
        try:
            docker.run(asked)
        except HostError as error:
            errors.append(error)

    runner = threading.Thread(target=run)
    runner.start()
    try:
        eventually((asked.binds[0].host / "daemon").exists)
        engine.kill()
        runner.join(30)
        assert not runner.is_alive()
        assert "engine is gone" in str(errors[0])
        assert processes(marker) == []
        assert list(own_temporary_folder.iterdir()) == []
    finally:
        engine.stop()
        engine.start()
    eventually(lambda: left(engine, marker, own_temporary_folder) == {})


def test_only_what_is_ours_and_has_no_living_owner_is_cleaned(docker, engine):
    dead = replace(Owner.this(), started=1)
    elsewhere = replace(dead, machine="another")
    image = docker.probe().facts["image"]
    owners = {"dead": dead, "living": Owner.this(), "elsewhere": elsewhere}
    with connected() as api:
        made = {
            name: api.create_container(image, "true", labels={LABEL: "1", OWNER: str(owner)})["Id"]
            for name, owner in owners.items()
        }
        made["of an image of ours"] = api.create_container(image, "true", labels={OWNER: str(dead)})["Id"]
        made["unmarked"] = api.create_container(image, "true", labels={LABEL: "1"})["Id"]
        try:
            found = tuple(remnants(None, [("docker", docker)]))
            assert [(each.kind, each.name) for each in found] == [("container", made["dead"])]
            clean(found)
            clean(found)  # as another harness would that found it too
            there = {each["Id"] for each in api.containers(all=True)}
            assert there == set(made.values()) - {made["dead"]}
        finally:
            for each in set(made.values()) - {made["dead"]}:
                api.remove_container(each)
