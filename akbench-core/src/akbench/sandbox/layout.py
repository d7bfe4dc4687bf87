"""What confining sandboxes have in common: where things appear inside, whose they are, and which Python is there.

Public for distributions that bring a sandbox, as `akbench.sandbox.process` is.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

__all__ = [
    "HOST_UID",
    "MODEL_PORT",
    "PROGRAM_ROOT",
    "SHM_BYTES",
    "SOCKET",
    "TMP",
    "TMP_BYTES",
    "WARDEN_PLACE",
    "etc_files",
    "host_uid",
    "inside",
    "interpreter",
    "interpreter_places",
    "interpreter_prefixes",
    "own",
    "package_directories",
]

HOST_UID = 59417
"""The user and group that processes are on the host when the harness is root: an otherwise unused number."""

TMP = "/tmp"  # noqa: S108 (the sandbox's own)
"""The private temporary folder."""
TMP_BYTES = 1 << 30
"""What fits into it."""
SHM_BYTES = 256 << 20
"""What fits into /dev/shm."""
PROGRAM_ROOT = "/opt"
"""Where programs of the host appear."""
MODEL_PORT = 8080
"""Each sandbox has a loopback of its own, so that the port is always free."""
WARDEN_PLACE = "/ak/warden.py"
"""The warden's script."""
SOCKET = "/ak/model.sock"
"""The model endpoint's socket."""

_PLACES = {
    "workspace": "/workspace",
    "repository": "/workspace.git",
    "home": "/home/agent",
    "state": "/home/state",
    "tmp": TMP,
}


def inside(name: str) -> str:
    """A fixed path for the harness's folder of that name, so that nothing inside tells the run or the host."""
    return _PLACES.get(name, f"/ak/{name}")


def etc_files(uid: int) -> dict[str, str]:
    """A minimal /etc by file name; the user `uid` is called agent."""
    return {
        "passwd": (
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
            f"agent:x:{uid}:{uid}:agent:/home/agent:/bin/sh\n"
        ),
        "group": f"root:x:0:\nnogroup:x:65534:\nagent:x:{uid}:\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def host_uid() -> int:
    """The user that processes are on the host."""
    return HOST_UID if os.geteuid() == 0 else os.geteuid()


def own(path: Path) -> None:
    """Give the tree to that user; links are given, not followed."""
    if os.geteuid() != 0:
        return
    os.chown(path, HOST_UID, HOST_UID, follow_symlinks=False)
    if path.is_symlink() or not path.is_dir():
        return
    for _, directories, files, descriptor in os.fwalk(path):
        for name in (*directories, *files):
            os.chown(name, HOST_UID, HOST_UID, dir_fd=descriptor, follow_symlinks=False)


def interpreter() -> str:
    """The Python that the harness's environment is made from; it starts the warden."""
    program = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    return str(program if program.exists() else Path(sys.executable).resolve())


def interpreter_prefixes() -> list[Path]:
    """Its directories outside /usr (two, if its path leads through a link)."""
    prefix = Path(sys.base_prefix)
    return sorted({path for path in (prefix, prefix.resolve()) if not path.is_relative_to("/usr")})


@functools.cache
def package_directories() -> tuple[str, ...]:
    """Where the host's Pythons keep packages: the library under test, solved, could be among them."""
    roots = {Path("/usr"), Path("/usr/local"), *interpreter_prefixes()}
    patterns = [f"lib{bits}/python3*/{kind}" for bits in ("", "64") for kind in ("dist-packages", "site-packages")]
    found = (path for root in roots for pattern in patterns for path in root.glob(pattern))
    return tuple(sorted({str(path) for path in found if path.is_dir() and not path.is_symlink()}))


def interpreter_places() -> tuple[Path, ...]:
    """What of the host a sandbox with another system must show for that Python to run."""
    prefixes = interpreter_prefixes()
    if prefixes:
        return tuple(prefixes)
    release = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return (Path(interpreter()), Path(sys.base_prefix, "lib", release))
