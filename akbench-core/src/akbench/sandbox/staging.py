"""Started by root: show a sandbox's sources to an unprivileged user, become that user, execute bubblewrap.

Run as a script, ``python -I -S staging.py FD``. Sources may lie below directories that the unprivileged
user may not enter (root's home, say). So root binds each to ``<directory>/<its index>`` on a tmpfs that
exists only in this process's own mount namespace; when the process ends, so does all of that. `FD` holds the
order, a JSON object: ``sources`` (host paths), ``directory``, ``uid``, ``gid``, and ``argv``, which is
executed with an empty environment.
"""
# ruff: noqa: PTH102
# Without pathlib, whose import doubles the time this script takes to start.

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys

_MS_NOSUID = 1 << 1
_MS_NODEV = 1 << 2
_MS_BIND = 1 << 12
_MS_REC = 1 << 14
_MS_PRIVATE = 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    arguments = [source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()]
    if _libc.mount(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), target)


def _stage(sources: list[str], directory: str) -> None:
    opened = [os.open(source, os.O_PATH) for source in sources]  # before the tmpfs hides any of them
    _mount("staging", directory, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755,size=1m")
    for index, descriptor in enumerate(opened):
        place = f"{directory}/{index}"
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.mkdir(place)
        else:
            os.mknod(place)
        _mount(f"/proc/self/fd/{descriptor}", place, "", _MS_BIND | _MS_REC)
        os.close(descriptor)


def _drop(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def main(descriptor: int) -> None:
    """Carry out the order in `descriptor`."""
    with open(descriptor, "rb") as source:
        order = json.load(source)
    try:
        os.unshare(os.CLONE_NEWNS)
        _mount("", "/", "", _MS_REC | _MS_PRIVATE)
        _stage(order["sources"], order["directory"])
        _drop(order["uid"], order["gid"])
        os.execve(order["argv"][0], order["argv"], {})  # noqa: S606 (the point of this script)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        sys.exit(f"cannot prepare the sandbox as root: {error.strerror}{where}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
