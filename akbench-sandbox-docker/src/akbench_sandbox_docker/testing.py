"""A Docker engine for tests: the one that is there, or one started by hand with a folder and a socket of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from akbench.spec import HostError
from akbench.workspace.removal import remove_tree
from akbench_sandbox_docker.engine import connected

__all__ = ["Engine", "NoEngineError", "private_engine", "some_engine"]

_START_SECONDS = 30.0
_STOP_SECONDS = 4.0
_POLL_SECONDS = 0.05
_ALONE = (
    "--iptables=false",
    "--ip6tables=false",
    "--ip-forward=false",
    "--ip-masq=false",
    "--bridge=none",
    "--storage-driver=overlay2",
)
"""It touches neither the host's network nor another engine."""


class NoEngineError(Exception):
    """There is no engine, and none can be started; the message says what is missing."""


class Engine:
    """An engine of our own; everything it keeps lies below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        """The value for DOCKER_HOST."""
        return f"unix://{self.folder}/docker.sock"

    def start(self) -> None:
        """Start it and wait until it answers. Raises `NoEngineError` with the end of its log if it does not."""
        places = (f"--data-root={self.folder}/data", f"--exec-root={self.folder}/exec")
        for stale in ("docker.pid", "exec/containerd/containerd.pid", "exec/containerd/containerd.sock"):
            (self.folder / stale).unlink(missing_ok=True)  # of one that was killed
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["dockerd", *_ALONE, *places, f"--pidfile={self.folder}/docker.pid", "-H", self.host],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until = time.monotonic() + _START_SECONDS
        while not _answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise NoEngineError(f"dockerd does not start: {(self.folder / 'log').read_text()[-500:]}")
            time.sleep(_POLL_SECONDS)

    def kill(self) -> None:
        """Kill it, as a crash would."""
        assert self._process is not None, "it was started"
        self._process.kill()
        self._process.wait(_STOP_SECONDS)

    def stop(self) -> None:
        """Have it end, and all its containers; kill it if it takes its time, as it does after a crash."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


def _answers() -> bool:
    try:
        with connected() as api:
            return bool(api.ping())
    except HostError:
        return False


@contextmanager
def private_engine() -> Iterator[Engine]:
    """An engine of our own, which DOCKER_HOST names meanwhile. Raises `NoEngineError` where none can be started."""
    if shutil.which("dockerd") is None:
        raise NoEngineError("dockerd is not installed: apt-get install docker.io")
    if os.geteuid() != 0:
        raise NoEngineError("only root can start a Docker engine; set DOCKER_HOST to one that runs")
    before = os.environ.get("DOCKER_HOST")
    engine = Engine(Path(tempfile.mkdtemp(prefix="akbench-engine-")))
    os.environ["DOCKER_HOST"] = engine.host
    try:
        engine.start()
        yield engine
    finally:
        engine.stop()
        _unmount(engine.folder)
        if before is None:
            del os.environ["DOCKER_HOST"]
        else:
            os.environ["DOCKER_HOST"] = before
        remove_tree(engine.folder)


def _unmount(folder: Path) -> None:
    """What an engine that was killed left mounted."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        place = line.split()[4]
        if Path(place).is_relative_to(folder):
            subprocess.run(["umount", "--lazy", place], check=True)


@contextmanager
def some_engine() -> Iterator[None]:
    """Have DOCKER_HOST name an engine that answers. Raises `NoEngineError` where there is none."""
    if _answers():
        yield
        return
    with private_engine():
        yield
