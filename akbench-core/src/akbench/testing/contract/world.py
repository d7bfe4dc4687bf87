"""A world of its own for a contract test: what must stay as it is, and what must be gone afterwards."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from akbench.workspace.removal import remove_tree

__all__ = ["Belongings", "Residue", "World", "made_world"]

_PR_SET_CHILD_SUBREAPER = 36
_SETTLE_SECONDS = 1.0
_LOOK_SECONDS = 0.05
_LARGEST = 1 << 20

type Belongings = Mapping[str, str]
"""Path relative to a folder -> what is there."""


@dataclass(frozen=True, slots=True)
class World:
    """The folders of one contract class: a project as AK-Bench lays it out, and the harness's own places.

    `given` holds what runs are made from (dataset, cache); `elsewhere` is the harness's working directory, temporary
    folder and data. An adapter may write to neither.
    """

    root: Path

    @property
    def given(self) -> tuple[Path, ...]:
        """The dataset and the cache."""
        return self.root / "project" / "datasets", self.root / "cache"

    @property
    def elsewhere(self) -> tuple[Path, ...]:
        """Where the harness works."""
        return self.root / "cwd", self.root / "tmp", self.root / "project" / "data"

    @property
    def cache(self) -> Path:
        """Where snapshots lie."""
        return self.root / "cache"

    @property
    def runs(self) -> Path:
        """Where the records of runs lie."""
        return self.root / "runs"

    @property
    def workspaces(self) -> Path:
        """Where each run has its scratch space."""
        return self.root / "project" / "workspaces"

    @contextmanager
    def inhabited(self) -> Iterator[None]:
        """Work from inside: the harness's working directory and temporary folder are the world's."""
        cwd, tempdir, declared = Path.cwd(), tempfile.tempdir, os.environ.get("TMPDIR")
        os.chdir(self.root / "cwd")
        tempfile.tempdir = os.environ["TMPDIR"] = str(self.root / "tmp")
        try:
            yield
        finally:
            os.chdir(cwd)
            tempfile.tempdir = tempdir
            if declared is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = declared


@contextmanager
def made_world() -> Iterator[World]:
    """A world with something in it to be damaged; removed afterwards."""
    world = World(Path(tempfile.mkdtemp(prefix="akbench-contract-")))
    try:
        world.root.chmod(0o755)
        for folder in (*world.given, *world.elsewhere, world.workspaces, world.runs):
            folder.mkdir(parents=True)
        task = world.root / "project" / "datasets" / "contract" / "task.yaml"
        task.parent.mkdir()
        task.write_text("id: contract\n")
        yield world
    finally:
        remove_tree(world.root)
        shutil.rmtree(world.root, ignore_errors=True)


def belongings(folders: tuple[Path, ...], left_out: Path | None = None) -> dict[str, str]:
    """What lies in `folders`: each path with its kind and content; `left_out` is not looked at."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if left_out is None or not path.is_relative_to(left_out):
                found[str(path)] = _what(path)
    return found


def _what(path: Path) -> str:
    try:
        if path.is_symlink():
            return f"link to {path.readlink()}"
        if not path.is_file():
            return "folder" if path.is_dir() else "special file"
        with path.open("rb") as file:
            return hashlib.sha256(file.read(_LARGEST)).hexdigest() + f" {path.stat().st_size}"
    except OSError as error:
        return f"unreadable: {error.strerror}"


def differences(before: Belongings, after: Belongings) -> tuple[str, ...]:
    """The paths that differ."""
    return tuple(path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path))


class Residue:
    """Watches for processes that outlive what started them, daemons that forked twice included.

    A context manager; afterwards `processes` holds the command lines of what was left, which is ended by then.
    """

    def __init__(self) -> None:
        self.processes: tuple[str, ...] = ()
        self._before: frozenset[int] = frozenset()

    def __enter__(self) -> Self:
        _adopt_orphans(adopt=True)
        self._before = frozenset(_descendants())
        return self

    def __exit__(self, *_: object) -> None:
        give_up = time.monotonic() + _SETTLE_SECONDS
        while (left := self._left()) and time.monotonic() < give_up:
            time.sleep(_LOOK_SECONDS)
        self.processes = tuple(left.values())
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _adopt_orphans(adopt=False)

    def _left(self) -> dict[int, str]:
        return {pid: line for pid, line in _descendants().items() if pid not in self._before}


def _adopt_orphans(*, adopt: bool) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def _descendants() -> dict[int, str]:
    """Every living process below this one, with its command line."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    parents[int(folder.name)] = int(parent)
    family, found = {os.getpid()}, {os.getpid()}
    while found:
        found = {pid for pid, parent in parents.items() if parent in found} - family
        family |= found
    return {pid: _command_line(pid) for pid in family - {os.getpid()}}


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return f"process {pid}"
