"""What bubblewrap keeps from a process: the host's files, network, processes, environment and users."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from akbench.sandbox.bubblewrap import BubblewrapSandbox
from akbench.sandbox.layout import HOST_UID
from akbench.spec import Bind, Limits

pytestmark = pytest.mark.bubblewrap

ENVIRONMENTS = """
import os
for name in os.listdir("/proc"):
    if name.isdigit():
        try:
            print(name, open(f"/proc/{name}/environ", "rb").read())
        except OSError as error:
            print(name, error.strerror)
"""


def test_the_environment_of_the_harness_is_nowhere(confined, monkeypatch):
    monkeypatch.setenv("AKBENCH_CANARY", "canary-5d1f")
    ran = confined.python(ENVIRONMENTS)
    assert ran.out.startswith("1 Permission denied\n")
    assert "canary" not in ran.out.lower()
    assert len(ran.out.splitlines()) == 2, "the warden and the process itself"


def test_the_environment_of_the_harness_can_be_looked_for(monkeypatch, tmp_path):
    """The test above can fail: unconfined, the same script finds the canary."""
    canary = {**os.environ, "AKBENCH_CANARY": "canary-5d1f"}
    found = subprocess.run([sys.executable, "-c", ENVIRONMENTS], env=canary, capture_output=True, text=True, check=True)
    assert "canary-5d1f" in found.stdout


def test_files_of_the_host_do_not_exist(confined, tmp_path):
    secret = tmp_path / "hidden" / "test_secret.py"
    secret.parent.mkdir()
    secret.write_text("secret")
    script = f"cat {secret}; ls {tmp_path}; ls /boot /srv /opt /home /var/lib /etc/shadow; ls -A /home /tmp"
    ran = confined.shell(script)
    assert "secret" not in ran.out
    assert ran.out.split() == ["/home:", "agent", "/home:", "agent", "/tmp:"]


def test_only_what_is_bound_writable_can_be_written(confined, tmp_path):
    readonly = tmp_path / "tools"
    readonly.mkdir()
    confined.sandbox.own(readonly)
    workspace = tmp_path / "ws"
    workspace.mkdir()
    confined.sandbox.own(workspace)
    binds = (
        Bind(host=workspace, inside="/workspace", writable=True),
        Bind(host=readonly, inside="/ak/tools", writable=False),
    )
    places = (
        "/workspace /tmp /dev/shm / /dev /ak /ak/tools /etc /usr /home /home/agent /run /opt /var " + sys.base_prefix
    )
    script = f"for place in {places}; do touch $place/file 2>/dev/null && echo $place; done"
    ran = confined.shell(script, binds=binds)
    assert ran.out.split() == ["/workspace", "/tmp", "/dev/shm"]


def test_there_is_only_a_loopback_of_its_own(confined):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("0.0.0.0", 0)) as everywhere:
        script = f"""
import socket, json
def attempt(host, port):
    try:
        socket.create_connection((host, port), 2).close()
        return "connected"
    except OSError as error:
        return error.strerror
print(json.dumps([[n for _, n in socket.if_nameindex()], attempt("127.0.0.1", {server.getsockname()[1]}),
    attempt("{_own_address()}", {everywhere.getsockname()[1]}), attempt("192.0.2.1", 80)]))
"""
        ran = confined.python(script)
    assert json.loads(ran.out) == [
        ["lo"],
        "Connection refused",
        "Network is unreachable",
        "Network is unreachable",
    ]


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "192.0.2.1"
        return probe.getsockname()[0]


def test_abstract_sockets_of_the_host_cannot_be_reached(confined):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0akbench-abstract")
        server.listen()
        script = "import socket; socket.socket(socket.AF_UNIX).connect('\\0akbench-abstract')"
        ran = confined.python(script)
    assert "ConnectionRefusedError" in ran.err


def test_the_user_has_no_rights_inside_or_outside(confined):
    ran = confined.shell("id -u; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; touch file")
    assert ran.out.split() == ["1000", "CapEff:", "0" * 16, "NoNewPrivs:", "1"]
    assert (ran.workspace / "file").stat().st_uid == (HOST_UID if os.geteuid() == 0 else os.geteuid()) != 0


def test_no_further_user_namespace_can_be_made(confined):
    assert confined.shell("unshare -U true").evidence.exit_code != 0


def test_sources_below_a_directory_that_only_root_may_enter_are_shown(confined, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    source = closed / "deep" / "source"
    source.mkdir(parents=True)
    (source / "file").write_text("seen")
    (closed / "one.txt").write_text("also seen")
    closed.chmod(0o700)
    binds = (
        Bind(host=source, inside="/ak/source", writable=False),
        Bind(host=closed / "one.txt", inside="/ak/one.txt", writable=False),
    )
    ran = confined.shell("cat /ak/source/file /ak/one.txt", binds=binds, cwd="/")
    assert ran.out == "seenalso seen"


def test_nothing_of_the_staging_is_left_on_the_host(confined):
    before = Path("/proc/self/mountinfo").read_text()
    assert confined.shell("true").evidence.exit_code == 0
    assert Path("/proc/self/mountinfo").read_text() == before


def test_a_missing_source_is_a_start_error(confined, tmp_path):
    missing = Bind(host=tmp_path / "missing", inside="/ak/missing", writable=False)
    evidence = confined.shell("true", binds=(missing,), cwd="/").evidence
    assert evidence.start_error is not None
    assert str(tmp_path / "missing") in evidence.start_error


def test_installed_packages_of_the_host_are_hidden(confined):
    script = """
import glob, sys
patterns = [f"{root}/lib*/python3*/*-packages/*" for root in ("/usr", "/usr/local", sys.base_prefix)]
print([path for pattern in patterns for path in glob.glob(pattern)])
"""
    assert confined.python(script).out == "[]\n"


def test_the_interpreter_works_inside(confined):
    ran = confined.python("import ssl, sqlite3, ctypes, json; print(ssl.create_default_context().verify_mode.name)")
    assert ran.out == "CERT_REQUIRED\n"


def test_the_count_of_processes_is_limited_for_each_run_alone(confined):
    script = """
import os, time
count = 0
try:
    while count < 200:
        if os.fork() == 0:
            time.sleep(30)
        count += 1
except BlockingIOError:
    pass
print(count)
"""
    counts = [int(confined.python(script, limits=Limits(timeout_seconds=30, processes=50)).out) for _ in range(2)]
    assert all(40 <= count < 50 for count in counts)


def test_the_warden_cannot_be_killed_looked_into_or_written_for(confined):
    script = """
import os, signal
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV):
    os.kill(1, number)
for path in ("fd", "environ", "mem", "maps"):
    try:
        os.listdir("/proc/1/fd") if path == "fd" else open(f"/proc/1/{path}", "rb").read(1)
        print(path, "open")
    except OSError as error:
        print(path, error.strerror)
raise SystemExit(9)
"""
    ran = confined.python(script)
    assert ran.evidence.exit_code == 9
    assert "open" not in ran.out


def test_command_lines_inside_name_no_path_of_the_host(confined, tmp_path):
    ran = confined.shell("cat /proc/1/cmdline /proc/self/cmdline | tr '\\0' ' '")
    assert str(tmp_path) not in ran.out
    assert "/ak/warden.py" in ran.out


def test_temporary_space_is_private_and_bounded(confined):
    Path("/tmp/akbench-test-visible").touch()
    try:
        ran = confined.shell("ls -A /tmp; df -k --output=size /tmp /dev/shm | tail -n 2")
    finally:
        Path("/tmp/akbench-test-visible").unlink()
    assert ran.out.split() == [str(1 << 20), str(256 << 10)]


def test_the_breakdown_of_the_sandbox_is_seen_as_a_kill(confined, monkeypatch, eventually):
    """The one way to end the warden alone is from the host."""
    request = confined.request(("sleep", "600"))
    results = []
    runner = threading.Thread(target=lambda: results.append(confined.sandbox.run(request)))
    runner.start()
    try:
        eventually(_wardens)
        for pid in _wardens():
            os.kill(pid, signal.SIGKILL)
    finally:
        runner.join(20)
    (evidence,) = results
    assert evidence.signal == signal.SIGKILL
    assert not evidence.timed_out
    assert "the sandbox broke down" in evidence.stderr.read_text()


def _wardens() -> list[int]:
    """The wardens that have a process `sleep 600` as their child."""
    found = []
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                line = (directory / "cmdline").read_bytes()
                parent = int((directory / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if line == b"sleep\x00600\x00" and b"warden.py" in Path(f"/proc/{parent}/cmdline").read_bytes():
                found.append(parent)
    return found


def test_without_bubblewrap_the_probe_says_how_to_get_it(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    (problem,) = BubblewrapSandbox().probe().problems
    assert "not installed" in problem.message
    assert "apt-get install bubblewrap" in problem.mend


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs capabilities to run bubblewrap")
def test_a_root_that_may_not_mount_is_told_so():
    script = (
        "from akbench.sandbox.bubblewrap import BubblewrapSandbox\n"
        "for problem in BubblewrapSandbox().probe().problems:\n"
        "    print(problem.message, problem.mend, sep='|')"
    )
    restricted = ["setpriv", "--bounding-set=-sys_admin", sys.executable, "-c", script]
    printed = subprocess.run(restricted, capture_output=True, text=True, check=True).stdout
    message, mend = printed.strip().split("|")
    assert "cannot prepare the sandbox as root: Operation not permitted" in message
    assert "CAP_SYS_ADMIN" in mend


def test_without_bubblewrap_a_run_ends_with_a_start_error(confined, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    evidence = confined("true").evidence
    assert evidence.start_error == "bubblewrap (bwrap) is not installed; apt-get install bubblewrap"


def test_places_inside_are_the_same_for_every_run(bubblewrap):
    names = ("workspace", "repository", "home", "state", "tmp", "tools", "tests")
    places = [bubblewrap.inside(name, Path("/anywhere")) for name in names]
    assert places == [
        "/workspace",
        "/workspace.git",
        "/home/agent",
        "/home/state",
        "/tmp",
        "/ak/tools",
        "/ak/tests",
    ]
    assert (bubblewrap.program_root(), bubblewrap.model_port(), bubblewrap.bounded) == ("/opt", 8080, True)
