"""The contract of sandboxes: what runs inside ends, and is confined where that is claimed."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import ClassVar, cast

import pytest

from akbench.catalogue import Adapter
from akbench.descriptors.kinds import EnvironmentDescriptor
from akbench.spec import TASK_IMAGES, Bind, HostError, Limits, ProcessEvidence, Sandbox, SandboxRecord, SandboxRequest
from akbench.testing.contract.contract import Contract, catalogue
from akbench.testing.contract.recording import CANNOT_RUN
from akbench.testing.contract.world import Residue
from akbench.workspace.removal import remove_tree

__all__ = ["SandboxContract"]

_ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
_CANARY = "AKBENCH_CONTRACT_CANARY"
_DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        open("daemon", "w").close()
        time.sleep(296)
    os._exit(0)
os.wait()
while not os.path.exists("daemon"):
    time.sleep(0.01)
"""
_REACH = """
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2).close()
    print("reached")
except OSError:
    print("not reached")
"""
_FORKS = """
import os, time
children = 0
try:
    while children < 60:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        children += 1
except OSError:
    pass
print(children)
"""
_MEMORY = """
import mmap
space = mmap.mmap(-1, 256 << 20)
for at in range(0, 256 << 20, 4096):
    space[at] = 1
"""
_SETTINGS = frozenset(each.name for each in fields(Limits)) | {"image", "allow_list", TASK_IMAGES}


@dataclass(frozen=True, slots=True)
class _Bench:
    """Runs commands in the sandbox, each in a workspace of its own below `root`."""

    sandbox: Sandbox
    root: Path

    def request(self, *argv: str, seconds: float = 30.0) -> SandboxRequest:
        """A request for a command in a new workspace."""
        folder = Path(tempfile.mkdtemp(dir=self.root))
        folder.chmod(0o755)
        workspace = folder / "workspace"
        workspace.mkdir()
        self.sandbox.own(workspace)
        inside = self.sandbox.inside("workspace", workspace)
        return SandboxRequest(
            argv=argv,
            environ=_ENVIRON,
            cwd=inside,
            binds=(Bind(host=workspace, inside=inside, writable=True),),
            stdin=b"",
            stdout=folder / "stdout.log",
            stderr=folder / "stderr.log",
            limits=Limits(timeout_seconds=seconds),
            cancelled=threading.Event(),
        )

    def shell(self, script: str, seconds: float = 30.0) -> ProcessEvidence:
        """Run a shell script."""
        return self.sandbox.run(self.request("sh", "-c", script, seconds=seconds))

    def python(self, script: str, *arguments: str) -> ProcessEvidence:
        """Run a Python script with the harness's interpreter."""
        program = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
        return self.sandbox.run(self.request(program, "-I", "-S", "-c", script, *arguments))


class SandboxContract(Contract):
    """Subclass it with a name that begins with ``Test`` and say in `adapter` which sandbox it is.

    `stop_seconds` is the longest it may take until a stopped process is gone.
    """

    record_kind = SandboxRecord
    contract_kind = Sandbox
    stop_seconds: ClassVar[float] = 10.0
    sandbox_id: ClassVar[str | None] = None
    """The id under which it is registered; an alternative to `adapter`."""

    @classmethod
    def registered(cls) -> Adapter | None:
        """The installed sandbox that is under test; None for one that is not installed."""
        for name in catalogue().sandbox_names():
            adapter = catalogue().registered(SandboxRecord, name)
            if adapter is not None and (
                name == cls.sandbox_id or (cls.adapter is not None and type(adapter.load(Sandbox)) is cls.adapter)
            ):
                return adapter
        return None

    @pytest.fixture
    def sandbox(self) -> Sandbox:
        """The sandbox."""
        return cast("Sandbox", self.built())

    @pytest.fixture
    def bench(self, sandbox: Sandbox) -> Iterator[_Bench]:
        """Where commands are run; skips where the sandbox does not work on this machine."""
        if problems := sandbox.probe().problems:
            pytest.skip(f"{CANNOT_RUN}: {'; '.join(problem.message for problem in problems)}")
        root = Path(tempfile.mkdtemp(prefix="akbench-contract-"))
        root.chmod(0o755)
        yield _Bench(sandbox, root)
        remove_tree(root)

    def test_the_probe_answers(self, sandbox: Sandbox) -> None:
        """`probe` tries the sandbox; a problem names its mend."""
        assert all(problem.message.strip() and problem.mend.strip() for problem in sandbox.probe().problems)

    def test_the_end_of_a_process_is_reported(self, bench: _Bench) -> None:
        """Exit code or signal, and outputs apart, in a folder that can be written."""
        evidence = bench.shell("echo one; echo two >&2; touch written; exit 7")
        assert (evidence.exit_code, evidence.signal, evidence.start_error) == (7, None, None)
        assert (evidence.stdout.read_text(), evidence.stderr.read_text()) == ("one\n", "two\n")
        assert (evidence.stdout.parent / "workspace" / "written").exists()
        killed = bench.shell("kill -ABRT $$")
        assert (killed.exit_code, killed.signal) == (None, signal.SIGABRT)

    def test_times_are_those_of_the_process(self, bench: _Bench) -> None:
        """Times are timezone-aware, in order, and the duration is the process's."""
        evidence = bench.shell("sleep 0.6")
        assert evidence.started_at.utcoffset() is not None
        assert evidence.finished_at.utcoffset() is not None
        assert evidence.started_at <= evidence.finished_at
        assert evidence.duration_seconds >= 0.2

    def test_a_program_that_cannot_start_says_why(self, bench: _Bench) -> None:
        """A missing program is a `start_error` and has no exit code."""
        evidence = bench.sandbox.run(bench.request("no-such-program"))
        assert evidence.start_error
        assert evidence.exit_code is None

    def test_input_and_report_are_handed_over(self, bench: _Bench) -> None:
        """Standard input arrives whole, and what is written to the report descriptor comes back."""
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as report:
            try:
                request = bench.request("sh", "-c", "wc -c; echo reported >&3")
                evidence = bench.sandbox.run(replace(request, stdin=b"x" * 200_000, report=writing, report_fd=3))
            finally:
                os.close(writing)
            assert report.read() == b"reported\n"
        assert evidence.stdout.read_text().strip() == "200000"

    def test_the_environment_is_exactly_the_one_given(self, bench: _Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing of the harness's environment is inside."""
        monkeypatch.setenv(_CANARY, "canary")
        request = bench.request("/usr/bin/env")
        evidence = bench.sandbox.run(replace(request, environ={"ONLY": "this"}))
        assert evidence.stdout.read_text() == "ONLY=this\n"

    def test_the_deadline_ends_the_process(self, bench: _Bench) -> None:
        """A process that goes on is stopped at its deadline, and the evidence says so."""
        begun = time.monotonic()
        evidence = bench.shell("trap '' INT TERM; while :; do sleep 0.2; done", seconds=0.5)
        assert evidence.timed_out
        assert time.monotonic() - begun < 0.5 + self.stop_seconds

    def test_cancelling_ends_the_process(self, bench: _Bench) -> None:
        """A process is stopped when `cancelled` is set, and the evidence says so."""
        request = bench.request("sh", "-c", "while :; do sleep 0.2; done", seconds=self.stop_seconds + 5.0)
        timer = threading.Timer(0.3, request.cancelled.set)
        timer.start()
        evidence = bench.sandbox.run(request)
        timer.join()
        assert evidence.cancelled
        assert evidence.duration_seconds < self.stop_seconds

    def test_a_polite_end_is_offered_first(self, bench: _Bench) -> None:
        """The interrupt is sent first, and the process has its grace to end by itself."""
        script = "trap 'echo bye; exit 0' INT; while :; do sleep 0.1; done"
        request = replace(bench.request("sh", "-c", script, seconds=0.5), interrupt=signal.SIGINT, grace_seconds=5.0)
        assert bench.sandbox.run(request).stdout.read_text() == "bye\n"

    def test_nothing_of_a_process_survives(self, bench: _Bench) -> None:
        """A daemon that forked twice and is deaf to polite signals is gone when `run` returns."""
        with Residue() as residue:
            assert bench.python(_DAEMON).exit_code == 0
        assert residue.processes == ()

    def test_a_bounded_sandbox_confines(self, bench: _Bench) -> None:
        """Files of the host that nobody handed in can neither be read nor written, and neither its network nor its
        processes reached. Skipped where the sandbox does not claim to confine.
        """
        if not bench.sandbox.bounded:
            pytest.skip("the sandbox claims no confinement (bounded is False)")
        secret = bench.root / "secret"
        secret.write_text("secret")
        secret.chmod(0o666)
        with socket.create_server(("127.0.0.1", 0)) as server:
            reach = bench.python(_REACH, str(server.getsockname()[1])).stdout.read_text()
        evidence = bench.shell(f"cat {secret}; echo x >> {secret}; test -d /proc/{os.getpid()}/fd && echo seen")
        assert "secret" not in evidence.stdout.read_text(), "it reads a file that nobody handed in"
        assert secret.read_text() == "secret", "it writes a file that nobody handed in"
        assert reach == "not reached\n", "it reaches the network of the host"
        assert "seen" not in evidence.stdout.read_text() or _is_other(bench), "it sees the processes of the host"

    def test_read_only_is_read_only(self, bench: _Bench) -> None:
        """What is shown read-only cannot be written. Skipped where the sandbox does not claim to confine."""
        if not bench.sandbox.bounded:
            pytest.skip("the sandbox claims no confinement (bounded is False)")
        tools = bench.root / "tools"
        tools.mkdir()
        bench.sandbox.own(tools)
        inside = bench.sandbox.inside("tools", tools)
        request = bench.request("sh", "-c", f"touch {inside}/x; ls -d {inside}")
        bind = Bind(host=tools, inside=inside, writable=False)
        evidence = bench.sandbox.run(replace(request, binds=(*request.binds, bind)))
        assert evidence.stdout.read_text().strip() == inside
        assert list(tools.iterdir()) == []

    def test_bounds_that_are_claimed_are_kept(self, bench: _Bench) -> None:
        """What `honours` names is known, and whoever exceeds such a bound is stopped, and `exceeded` says so where the
        harness or the kernel ended it for that.
        """
        assert bench.sandbox.honours <= _SETTINGS, "honours names something that no environment descriptor can ask for"
        for name, (script, value, kept) in _BREAKERS.items():
            if name in bench.sandbox.honours:
                request = bench.request(*script)
                limits = replace(request.limits, **{name: value})
                assert kept(bench.sandbox.run(replace(request, limits=limits))), f"the bound {name} does not hold"
        assert bench.shell("echo x > file").exceeded is None

    def test_an_image_that_is_not_there_is_refused(self, bench: _Bench) -> None:
        """`find_image` fetches nothing: it raises `HostError` that names the image. So does who runs no such images."""
        with pytest.raises(HostError, match=r"nobody\.invalid/nothing:1"):
            bench.sandbox.find_image("nobody.invalid/nothing:1")

    def test_its_default_environment_has_its_id(self) -> None:
        """An environment descriptor with the sandbox's own id comes with it, so that an experiment can name it at once.

        Only of what is installed.
        """
        registered = self.registered()
        if registered is None:
            pytest.skip("the sandbox is not installed")
        found = cast("EnvironmentDescriptor", catalogue().find("environment", registered.record.id).model)
        assert found.environment.sandbox == registered.record.id


_PYTHON = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
_BREAKERS: Mapping[str, tuple[tuple[str, ...], int, Callable[[ProcessEvidence], bool]]] = {
    "disk_bytes": (
        ("sh", "-c", "head -c 3000000 /dev/zero > file"),
        2_000_000,
        lambda seen: seen.exceeded is not None,
    ),
    "files": (
        ("sh", "-c", "mkdir d; for i in 1 2 3 4 5 6; do ln -s x d/$i; done"),
        6,
        lambda seen: seen.exceeded is not None,
    ),
    "file_bytes": (
        ("sh", "-c", "head -c 90000 /dev/zero > file"),
        50_000,
        lambda seen: (seen.stdout.parent / "workspace" / "file").stat().st_size == 50_000,
    ),
    "output_bytes": (
        ("sh", "-c", "head -c 90000 /dev/zero"),
        50_000,
        lambda seen: seen.stdout.stat().st_size == 50_000,
    ),
    "processes": (
        (_PYTHON, "-I", "-S", "-c", _FORKS),
        30,
        lambda seen: 0 < int(seen.stdout.read_text() or "0") < 30,
    ),
    "memory_bytes": (
        (_PYTHON, "-I", "-S", "-c", _MEMORY),
        64 << 20,
        lambda seen: seen.exit_code != 0 and (seen.signal is None or seen.exceeded is not None),
    ),
}
"""A bound -> a command that breaks it, the value to set it to, and whether it held."""


def _is_other(bench: _Bench) -> bool:
    """Whether the process with the harness's number is another one inside."""
    line = bench.shell(f"cat /proc/{os.getpid()}/cmdline").stdout.read_bytes()
    return line != Path(f"/proc/{os.getpid()}/cmdline").read_bytes()
