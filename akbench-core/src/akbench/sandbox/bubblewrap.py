"""Bubblewrap: Linux namespaces without a daemon; no network, an own file system, an unprivileged user."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akbench.sandbox import layout
from akbench.sandbox.process import SUPERVISED, WARDEN, Handover, memory_file, spawn, supervise
from akbench.spec import Bind, Limits, Problem, ProcessEvidence, Sandbox, SandboxProbe, SandboxRequest
from akbench.workspace.scratch import scratch_folder

if TYPE_CHECKING:
    from contextlib import ExitStack

__all__ = ["BubblewrapSandbox"]

_INSIDE_UID = 1000
_STAGING = Path(__file__).with_name("staging.py")

_NAMESPACES = (
    f"--unshare-all --unshare-user --disable-userns --uid {_INSIDE_UID} --gid {_INSIDE_UID} --cap-drop ALL "
    "--hostname sandbox --clearenv --die-with-parent --new-session --as-pid-1"
).split()
_OWN_MOUNTS = (
    f"--proc /proc --dev /dev --size {layout.SHM_BYTES} --perms 1777 --tmpfs /dev/shm "
    f"--size {layout.TMP_BYTES} --perms 1777 --tmpfs {layout.TMP} "
    "--symlink ../tmp /var/tmp --dir /home/agent --dir /run"
).split()
# What holds the mount points is memory of the host without a bound: nobody may write there.
_SEAL = ("--remount-ro", "/dev", "--remount-ro", "/")

_TOP_LEVEL = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC_OF_HOST = (
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "ssl/certs",
    "ssl/openssl.cnf",
)

_NOT_ENFORCED = "memory, processor time; system calls are not filtered"
_SELF_REPORT = """
import json, os, socket
def readable(path):
    try:
        return bool(open(path, "rb").read())
    except OSError:
        return False
print(json.dumps({
    "uid": os.getuid(),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "environment": sorted(set(os.environ) - {"LC_CTYPE"}),
    "environment of the first process": readable("/proc/1/environ"),
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")],
}))
"""
_EXPECTED = {
    "uid": _INSIDE_UID,
    "interfaces": ["lo"],
    "environment": [],
    "environment of the first process": False,
    "capabilities": ["0000000000000000"],
}


class BubblewrapSandbox(Sandbox):
    """Confines a process with bubblewrap.

    Inside there are: the host's /usr and the harness's Python, read-only at their own paths and without
    installed Python packages; a minimal /etc; a private /tmp of at most 1 GiB; and the request's binds. A
    harness that is root becomes the user `HOST_UID` first, for which it needs CAP_SYS_ADMIN. The kernel is
    the host's.
    """

    bounded = True
    honours = SUPERVISED | {"processes"}

    def probe(self, image: str | None = None) -> SandboxProbe:  # noqa: ARG002 (there are no images)
        """Run a process inside and compare what it finds with what is promised."""
        program = shutil.which("bwrap")
        if program is None:
            mend = "Install it: apt-get install bubblewrap"
            return SandboxProbe(problems=(Problem(message="bubblewrap (bwrap) is not installed", mend=mend),))
        facts = {"version": _version(program), "host_uid": str(layout.host_uid()), "not_enforced": _NOT_ENFORCED}
        return SandboxProbe(problems=self._try(), facts=facts)

    def _try(self) -> tuple[Problem, ...]:
        with scratch_folder() as directory:
            evidence = self.run(_self_report_request(directory))
            if evidence.exit_code != 0:
                return (_cannot_run(evidence),)
            found: dict[str, Any] = json.loads(evidence.stdout.read_bytes())
        wrong = [f"{key} is {found[key]!r}" for key, expected in _EXPECTED.items() if found[key] != expected]
        mend = "Use another sandbox, or report this as a fault of AK-Bench."
        return tuple(Problem(message=f"bubblewrap does not confine as promised: {text}", mend=mend) for text in wrong)

    def inside(self, name: str, host: Path) -> str:  # noqa: ARG002 (where it lies on the host plays no role)
        """A fixed path for each name."""
        return layout.inside(name)

    def program_root(self) -> str | None:
        """Programs appear under /opt."""
        return layout.PROGRAM_ROOT

    def model_port(self) -> int:
        """Always the same: each sandbox has a loopback of its own."""
        return layout.MODEL_PORT

    def own(self, path: Path) -> None:
        """Give the tree to the user that processes are on the host; links are given, not followed."""
        layout.own(path)

    def run(self, request: SandboxRequest) -> ProcessEvidence:
        """Run the process."""
        enclosure = _Enclosure(request)
        return supervise(enclosure.request, enclosure.start, processes=request.limits.processes)


@dataclass(slots=True)
class _Enclosure:
    """The bubblewrap command for one request."""

    host_request: SandboxRequest
    staged: list[str] = field(default_factory=list)
    """Host paths that root shows to the unprivileged user, in the order of their names there."""

    @property
    def request(self) -> SandboxRequest:
        """The request as the warden, inside, carries it out."""
        socket = None if self.host_request.model_socket is None else Path(layout.SOCKET)
        return replace(self.host_request, model_socket=socket)

    def start(self, handover: Handover, stack: ExitStack) -> subprocess.Popen[bytes]:
        """Start the warden as the first process of the sandbox."""
        program = shutil.which("bwrap")
        if program is None:
            raise FileNotFoundError("bubblewrap (bwrap) is not installed; apt-get install bubblewrap")
        etc = layout.etc_files(_INSIDE_UID)
        contents = {name: memory_file(text.encode(), stack) for name, text in etc.items()}
        # In a file, not on the command line: that could be read by every user of the host.
        options = memory_file("\0".join(self._options(contents)).encode(), stack)
        warden = (layout.interpreter(), "-I", "-S", layout.WARDEN_PLACE, str(handover.order))
        argv = (program, "--args", str(options), "--", *warden)
        descriptors = (options, *contents.values())
        if os.geteuid() != 0:
            return spawn(argv, handover, descriptors)
        staging = memory_file(json.dumps(self._staging_order(argv)).encode(), stack)
        stage = (sys.executable, "-I", "-S", str(_STAGING), str(staging))
        return spawn(stage, handover, (staging, *descriptors))

    def _staging_order(self, argv: tuple[str, ...]) -> dict[str, Any]:
        user = {"uid": layout.HOST_UID, "gid": layout.HOST_UID}
        return {"sources": self.staged, "directory": layout.TMP, **user, "argv": argv}

    def _options(self, etc: dict[str, int]) -> list[str]:
        options = [*_NAMESPACES, *_system(), *_OWN_MOUNTS]
        for name, descriptor in etc.items():
            options += ["--ro-bind-data", str(descriptor), f"/etc/{name}"]
        options += self._interpreter_binds()
        for bind in self.host_request.binds:
            options += self._bind(bind)
        options += self._bind(Bind(host=WARDEN, inside=layout.WARDEN_PLACE, writable=False))
        if self.host_request.model_socket is not None:
            options += self._bind(Bind(host=self.host_request.model_socket, inside=layout.SOCKET, writable=False))
        return [*options, *_SEAL]

    def _interpreter_binds(self) -> list[str]:
        options = []
        for prefix in layout.interpreter_prefixes():
            options += self._bind(Bind(host=prefix, inside=str(prefix), writable=False))
        for directory in layout.package_directories():
            options += ["--tmpfs", directory, "--remount-ro", directory]
        return options

    def _bind(self, bind: Bind) -> list[str]:
        source = str(bind.host.absolute())
        if os.geteuid() == 0:
            self.staged.append(source)
            source = f"{layout.TMP}/{len(self.staged) - 1}"
        return ["--bind" if bind.writable else "--ro-bind", source, bind.inside]


@functools.cache
def _system() -> tuple[str, ...]:
    """The host's programs and libraries, read-only, and the parts of /etc they need."""
    options = ["--ro-bind", "/usr", "/usr"]
    for path in (Path("/", name) for name in _TOP_LEVEL):
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            options += ["--ro-bind", str(path), str(path)]
    for path in (Path("/etc", name) for name in _ETC_OF_HOST):
        if path.exists():
            options += ["--ro-bind", str(path), str(path)]
    return tuple(options)


def _version(program: str) -> str:
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()


def _self_report_request(directory: Path) -> SandboxRequest:
    return SandboxRequest(
        argv=(layout.interpreter(), "-I", "-S", "-c", _SELF_REPORT),
        environ={},
        cwd="/",
        binds=(),
        stdin=b"",
        stdout=directory / "stdout",
        stderr=directory / "stderr",
        limits=Limits(timeout_seconds=30.0),
        cancelled=threading.Event(),
    )


def _cannot_run(evidence: ProcessEvidence) -> Problem:
    said = evidence.start_error or evidence.stderr.read_text(errors="replace").strip()
    if os.geteuid() == 0:
        mend = "Run as a user who is not root, or give this root CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID."
    else:
        mend = (
            "Allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1; "
            "on Ubuntu 24.04 and later also an AppArmor profile for bwrap."
        )
    return Problem(message=f"bubblewrap does not run here: {said}", mend=mend)
