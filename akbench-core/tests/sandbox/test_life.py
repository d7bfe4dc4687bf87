"""What holds in every sandbox: how a process starts, what is seen of it, and that nothing of it survives."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from akbench.spec import Limits, Sandbox

# A daemon by the book: two forks, a session of its own, deaf to polite signals.
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        open("daemon", "w").close()
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists("daemon"):
    time.sleep(0.01)
"""


def marker() -> str:
    return f"marker-{uuid.uuid4().hex}"


def test_the_exit_code_is_reported(run):
    evidence = run.shell("exit 7").evidence
    assert (evidence.exit_code, evidence.signal, evidence.start_error) == (7, None, None)
    assert not evidence.timed_out
    assert not evidence.cancelled


def test_the_ending_signal_is_reported(run):
    evidence = run.shell("kill -ABRT $$").evidence
    assert (evidence.exit_code, evidence.signal) == (None, signal.SIGABRT)


def test_times_are_those_of_the_process(run):
    before = datetime.now(UTC)
    evidence = run.shell("sleep 0.3").evidence
    assert before <= evidence.started_at <= evidence.finished_at <= datetime.now(UTC)
    assert 0.3 <= evidence.duration_seconds < 2


def test_output_is_kept_apart(run):
    ran = run.shell("echo one; echo two >&2")
    assert (ran.out, ran.err) == ("one\n", "two\n")


def test_input_of_any_size_is_given_and_ends(run):
    ran = run.shell("wc -c", stdin=b"x" * 3_000_000)
    assert ran.out.strip() == "3000000"


def test_the_environment_is_exactly_the_one_given(run, monkeypatch):
    monkeypatch.setenv("AKBENCH_CANARY", "harness")
    ran = run("/usr/bin/env", "-u", "NONE", environ={"ONLY": "this"})
    assert ran.out == "ONLY=this\n"


def test_signals_are_not_ignored_by_inheritance(run):
    ran = run.shell("grep SigIgn /proc/self/status; grep SigBlk /proc/self/status")
    assert [line.split()[1] for line in ran.out.splitlines()] == ["0" * 16, "0" * 16]


def test_no_descriptor_but_the_standard_ones_is_inherited(run):
    ran = run.python("import os; print(sorted(fd for fd in range(1000) if os.path.exists(f'/proc/self/fd/{fd}')))")
    assert ran.out.strip() == "[0, 1, 2]"


def test_a_missing_program_is_a_start_error(run):
    evidence = run("no-such-program").evidence
    assert evidence.start_error == "no-such-program: No such file or directory"
    assert (evidence.exit_code, evidence.signal) == (None, None)
    assert evidence.stdout.read_bytes() == b""


def test_a_missing_working_directory_is_a_start_error(run):
    evidence = run("true", cwd="/no/such/directory").evidence
    assert evidence.start_error == "working directory /no/such/directory: No such file or directory"


def test_a_port_in_use_is_a_start_error(unconfined, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        evidence = unconfined("true", model_socket=tmp_path / "none.sock", model_port=port).evidence
    assert evidence.start_error == f"port {port} for the model endpoint: Address already in use"


def test_huge_output_is_cut_and_the_process_goes_on(run):
    limits = Limits(timeout_seconds=30.0, output_bytes=1_000_000)
    ran = run.shell("head -c 6000000 /dev/zero; head -c 9 /dev/zero >&2; exit 4", limits=limits)
    assert ran.evidence.exit_code == 4
    assert ran.evidence.stdout.stat().st_size == 1_000_000
    assert ran.evidence.stderr.stat().st_size == 9


def test_a_file_cannot_grow_beyond_its_limit(run):
    limits = Limits(timeout_seconds=30.0, file_bytes=100_000)
    ran = run.shell("exec head -c 200000 /dev/zero > big", limits=limits)
    assert ran.evidence.signal == signal.SIGXFSZ
    assert (ran.workspace / "big").stat().st_size == 100_000


def test_a_report_comes_through_its_descriptor(run):
    near, far = os.pipe()
    with open(near, "rb") as report:
        try:
            evidence = run.shell("echo verdict >&5; echo printed", report=far, report_fd=5).evidence
        finally:
            os.close(far)
        assert report.read() == b"verdict\n"
    assert evidence.stdout.read_text() == "printed\n"


def test_a_report_descriptor_may_have_the_number_of_another(run):
    """Whatever number the harness's end has, the process gets it where it was asked for."""
    near, far = os.pipe()
    with open(near, "rb") as report:
        numbers = (3, far, far + 2, far + 5, far + 8)  # the warden's own descriptors are among these
        for number in numbers:
            ran = run.python(f"import os; os.write({number}, b'{number} ')", report=far, report_fd=number)
            assert ran.evidence.exit_code == 0
        os.close(far)
        assert report.read().split() == [str(number).encode() for number in numbers]


def test_the_deadline_ends_it(run):
    evidence = run.shell("sleep 600", limits=Limits(timeout_seconds=0.5)).evidence
    assert evidence.timed_out
    assert evidence.signal == signal.SIGKILL
    assert 0.5 <= evidence.duration_seconds < 3


POLITE = """
import signal, sys, time
def leave(number, frame):
    time.sleep(0.2)
    print("left after", signal.Signals(number).name)
    sys.exit(42)
signal.signal(signal.SIGINT, leave)
print("ready", flush=True)
time.sleep(600)
"""


def test_the_interrupt_comes_first_and_the_grace_suffices(run):
    limits = Limits(timeout_seconds=1.0)
    ran = run.python(POLITE, limits=limits, interrupt=signal.SIGINT, grace_seconds=10.0)
    assert ran.out == "ready\nleft after SIGINT\n"
    assert ran.evidence.exit_code == 42
    assert ran.evidence.timed_out
    assert ran.evidence.duration_seconds < 5


def test_after_the_grace_it_is_killed(run):
    script = "trap '' INT; echo ready; while :; do sleep 1; done"
    limits = Limits(timeout_seconds=0.5)
    ran = run.shell(script, limits=limits, interrupt=signal.SIGINT, grace_seconds=0.5)
    assert ran.evidence.signal == signal.SIGKILL
    assert 1.0 <= ran.evidence.duration_seconds < 4


def test_cancelling_ends_it(run):
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    evidence = run.shell("sleep 600", cancelled=cancelled).evidence
    assert evidence.cancelled
    assert not evidence.timed_out
    assert evidence.duration_seconds < 3


def test_what_is_cancelled_already_does_not_start(run):
    cancelled = threading.Event()
    cancelled.set()
    ran = run.shell("touch started", cancelled=cancelled)
    assert ran.evidence.cancelled
    assert ran.evidence.start_error == "cancelled before the start"
    assert not (ran.workspace / "started").exists()


ENDINGS = {
    "its own end": ("", {}),
    "its crash": ("\nos.abort()", {}),
    "the deadline": ("\ntime.sleep(600)", {"limits": Limits(timeout_seconds=1.0)}),
    "the deadline with grace": (
        "\ntime.sleep(600)",
        {"limits": Limits(timeout_seconds=1.0), "interrupt": signal.SIGTERM, "grace_seconds": 5.0},
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_daemon_survives(run, marked, ending):
    then, changes = ENDINGS[ending]
    name = marker()
    ran = run.python(f"{DAEMON}{then} # {name}", **changes)
    assert (ran.workspace / "daemon").exists(), "the daemon never ran"
    assert marked(name) == []


def test_no_daemon_survives_a_cancellation(run, marked, eventually):
    name, cancelled = marker(), threading.Event()
    with ThreadPoolExecutor() as pool:
        running = pool.submit(run.python, f"{DAEMON}\ntime.sleep(600) # {name}", cancelled=cancelled)
        eventually(lambda: len(marked(name)) >= 2)
        cancelled.set()
        assert running.result().evidence.cancelled
    assert marked(name) == []


# A moving target: lives for a fraction of a millisecond, in a new session, before its child takes over.
HOPPER = """
import os, time
end = time.monotonic() + 20  # so that a failing test leaves nothing for long
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    os.setsid()
"""


def test_a_process_that_forks_and_exits_without_end_is_caught(run, marked):
    name = marker()
    script = f"import os, time\nif os.fork() == 0:\n    exec({HOPPER!r})\ntime.sleep(600) # {name}"
    ran = run.python(script, limits=Limits(timeout_seconds=1.0))
    assert ran.evidence.timed_out
    assert ran.evidence.duration_seconds < 10
    assert marked(name) == []


def test_a_deep_tree_of_processes_is_ended(run, marked):
    name = marker()
    script = f"""
import os, time
for depth in range(40):
    if os.fork():
        time.sleep(600) # {name}
    os.setsid()
open("deep", "w").close()
time.sleep(600)
"""
    ran = run.python(script, limits=Limits(timeout_seconds=2.0))
    assert (ran.workspace / "deep").exists()
    assert marked(name) == []


HARNESS = """
import sys, threading
from pathlib import Path
from akbench.sandbox.bubblewrap import BubblewrapSandbox
from akbench.sandbox.local import LocalSandbox
from akbench.spec import Bind, Limits, SandboxRequest
kind, directory, python, script = sys.argv[1:]
sandbox = {"local": LocalSandbox, "bubblewrap": BubblewrapSandbox}[kind]()
workspace = Path(directory)
sandbox.own(workspace)
inside = sandbox.inside("workspace", workspace)
sandbox.run(SandboxRequest(
    argv=(python, "-I", "-S", "-c", script), environ={}, cwd=inside,
    binds=(Bind(host=workspace, inside=inside, writable=True),), stdin=b"",
    stdout=Path("/dev/null"), stderr=Path("/dev/null"), limits=Limits(timeout_seconds=600),
    cancelled=threading.Event(),
))
"""


def test_nothing_survives_the_death_of_the_harness(sandbox, request, tmp_path, marked, eventually):
    kind, name = request.node.callspec.params["sandbox"], marker()
    script = f"{DAEMON}\ntime.sleep(600) # {name}"
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    python = f"{sys.base_prefix}/bin/python3.{sys.version_info.minor}"
    harness = subprocess.Popen([sys.executable, "-c", HARNESS, kind, str(workspace), python, script])
    try:
        eventually((workspace / "daemon").exists)
        assert len(marked(name)) >= 3
    finally:
        harness.kill()
        harness.wait()
    eventually(lambda: marked(name) == [])


def test_runs_side_by_side_do_not_disturb_each_other(run, marked):
    name = marker()

    def one(index: int) -> tuple[str, int | None, bool]:
        limits = Limits(timeout_seconds=1.0 if index == 0 else 30.0)
        script = f"{DAEMON}\ntime.sleep({600 if index == 0 else 2}); print({index}); sys.exit({index}) # {name}"
        ran = run.python(script, limits=limits)
        return ran.out, ran.evidence.exit_code, ran.evidence.timed_out

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(one, range(4)))
    assert results == [("", None, True), ("1\n", 1, False), ("2\n", 2, False), ("3\n", 3, False)]
    assert marked(name) == []


def test_the_probe_finds_nothing_wrong_here(sandbox: Sandbox):
    probe = sandbox.probe()
    assert probe.problems == ()
    assert probe.facts["not_enforced"]


def test_owning_gives_links_and_not_what_they_point_to(sandbox: Sandbox, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.write_text("")
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "file").write_text("")
    (tree / "file-link").symlink_to(outside)
    (tree / "directory-link").symlink_to("/etc")
    before, etc_before = outside.stat().st_uid, os.stat("/etc").st_uid
    sandbox.own(tree)
    assert (outside.stat().st_uid, os.stat("/etc").st_uid) == (before, etc_before)
    owners = {path.lstat().st_uid for path in (tree, *tree.rglob("*"))}
    assert len(owners) == 1


def test_stopping_takes_no_longer_than_it_must(run):
    started = time.monotonic()
    run.shell("sleep 600", limits=Limits(timeout_seconds=0.2), grace_seconds=0.0)
    assert time.monotonic() - started < 3
