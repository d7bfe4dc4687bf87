"""What the docker sandbox is made of: its image, a given one, and what keeps either from running."""

import sys
import threading
from pathlib import Path

import pytest

from akbench.spec import Bind, Limits, SandboxRequest
from akbench_sandbox_docker.engine import connected
from akbench_sandbox_docker.image import Image, own_image, stamp
from akbench_sandbox_docker.sandbox import DockerSandbox


@pytest.mark.docker
def test_the_own_image_is_made_once(docker, engine):
    first, second = docker.probe().facts["image"], DockerSandbox().probe().facts["image"]
    assert first == second
    with connected() as api:
        (image,) = api.images(name="akbench-sandbox")
    assert image["Id"] == first
    assert image["Labels"]["akbench.image"] == "1"


EXPECTED = """\
script
127.0.0.1
nothing
a tool
"""


@pytest.mark.docker
def test_scripts_names_and_tools_work_in_the_own_image(docker, engine, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "script").write_text("#!/bin/bash\necho script\n")
    (workspace / "script").chmod(0o755)
    docker.own(workspace)
    commands = (
        "./script",
        "python3.12 -c 'import socket; print(socket.gethostbyname(\"localhost\"))'",
        "grep -v '^#' /etc/resolv.conf | grep . || echo nothing",
        "git init -q . && git add script && git -c user.name=a -c user.email=b commit -qm x",
        "perl -e 'print \"a tool\\n\"'",
    )
    evidence = docker.run(
        SandboxRequest(
            argv=("/bin/sh", "-ec", "\n".join(commands)),
            environ={"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "HOME": "/tmp"},
            cwd="/workspace",
            binds=(Bind(host=workspace, inside="/workspace", writable=True),),
            stdin=b"",
            stdout=tmp_path / "stdout",
            stderr=tmp_path / "stderr",
            limits=Limits(timeout_seconds=30.0),
            cancelled=threading.Event(),
        )
    )
    assert (evidence.exit_code, evidence.stderr.read_text(), evidence.stdout.read_text()) == (0, "", EXPECTED)


@pytest.mark.docker
def test_a_given_image_runs_with_the_python_of_the_harness_shown_in_it(docker, engine):
    own = docker.probe().facts["image"]
    probe = docker.probe(own)
    assert (probe.problems, probe.facts["image"]) == ((), own)


@pytest.mark.docker
def test_a_missing_image_is_not_fetched_but_named_with_its_mend(docker, engine):
    (problem,) = docker.probe("nobody.example/nothing:1").problems
    assert "no image 'nobody.example/nothing:1'" in problem.message
    assert problem.mend.endswith("docker pull nobody.example/nothing:1")


@pytest.mark.docker
def test_an_image_that_cannot_run_the_python_of_the_harness_is_refused_with_what_it_needs(docker, engine, tmp_path):
    empty = tmp_path / "empty.tar"
    empty.write_bytes(b"\0" * 10240)
    with connected() as api:
        api.import_image_from_file(str(empty), repository="akbench-test-empty", tag="1")
    try:
        (problem,) = docker.probe("akbench-test-empty:1").problems
    finally:
        with connected() as api:
            api.remove_image("akbench-test-empty:1")
    assert "cannot run the harness's Python" in problem.message
    assert "C library" in problem.mend


@pytest.mark.docker
def test_an_image_with_volumes_is_refused(docker, engine, tmp_path):
    empty = tmp_path / "empty.tar"
    empty.write_bytes(b"\0" * 10240)
    with connected() as api:
        api.import_image_from_file(str(empty), repository="akbench-test-volumes", tag="1", changes=["VOLUME /data"])
    try:
        (problem,) = docker.probe("akbench-test-volumes:1").problems
    finally:
        with connected() as api:
            api.remove_image("akbench-test-volumes:1")
    assert "declares volumes (/data)" in problem.message


def test_without_an_engine_the_probe_says_how_to_get_one(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    (problem,) = DockerSandbox().probe().problems
    assert problem.message == f"no Docker engine answers at unix://{tmp_path}/none.sock: No such file or directory"
    assert "systemctl start docker" in problem.mend
    assert DockerSandbox().leftovers() == ()


def test_an_engine_of_another_machine_is_refused(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    (problem,) = DockerSandbox().probe().problems
    assert "not on this machine" in problem.message


@pytest.fixture(scope="module")
def image() -> Image:
    return own_image(4711)


def test_the_image_holds_the_python_of_the_harness_without_packages_and_the_user(image):
    release = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = Path(sys.base_prefix, "lib", release).resolve()
    assert f"{library}/os.py" in image.entries
    assert [path for path in image.entries if path.startswith(f"{library}/site-packages/")] == []
    assert b"agent:x:4711:4711" in image.entries["/etc/passwd"].data()


def test_what_is_in_the_image_names_it(image):
    first = image.digest()
    image.text("/etc/passwd", "agent:x:4712:4712")
    assert image.digest() != first
    assert stamp(4711) == stamp(4711) != stamp(4712)


def test_no_program_of_the_image_is_set_uid(image):
    assert {entry.mode & 0o6000 for entry in image.entries.values()} == {0}
