"""The sandbox that bounds nothing but the life of its processes."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from akbench.sandbox.process import SUPERVISED, WARDEN, Handover, spawn, supervise
from akbench.spec import InputError, Problem, ProcessEvidence, Sandbox, SandboxProbe, SandboxRequest

if TYPE_CHECKING:
    import subprocess
    from contextlib import ExitStack

__all__ = ["LocalSandbox"]


class LocalSandbox(Sandbox):
    """Runs a process as the harness's user, with the harness's files and network.

    The process starts from an empty environment and ends with all its descendants, daemons included, as long
    as none of them kills their warden (they could: they are the same user). The size of a file is limited;
    the count of processes is not, as the kernel would count everything that the user runs.
    """

    bounded = False
    honours = SUPERVISED

    def probe(self, image: str | None = None) -> SandboxProbe:  # noqa: ARG002 (there are no images)
        """Whether this is a system on which orphaned processes can be adopted and found."""
        if not Path("/proc/self/task", str(os.getpid()), "children").exists():
            mend = "Run AK-Bench on Linux, with a kernel that has CONFIG_PROC_CHILDREN (distributions' have)."
            return SandboxProbe(problems=(Problem(message="child processes cannot be listed", mend=mend),))
        return SandboxProbe(
            facts={"not_enforced": "access to files and network, count of processes, memory, processor time"}
        )

    def inside(self, name: str, host: Path) -> str:  # noqa: ARG002 (paths do not move)
        """The path itself."""
        return str(host)

    def program_root(self) -> str | None:
        """Paths cannot be moved."""
        return None

    def model_port(self) -> int:
        """A port that is free now."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port: int = server.getsockname()[1]
        return port

    def own(self, path: Path) -> None:
        """Nothing to do: the processes inside are the same user."""

    def run(self, request: SandboxRequest) -> ProcessEvidence:
        """Run the process. Raises `InputError` for a bind that would move a path."""
        for bind in request.binds:
            if bind.inside != str(bind.host):
                raise InputError(f"the local sandbox cannot show {bind.host} at {bind.inside}")
        return supervise(request, _start, processes=None)


def _start(handover: Handover, stack: ExitStack) -> subprocess.Popen[bytes]:  # noqa: ARG001 (opens nothing)
    return spawn((sys.executable, "-I", "-S", str(WARDEN), str(handover.order)), handover)
