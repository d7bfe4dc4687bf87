"""Whether a Docker engine is there at all; asked before the SDK is imported, which takes long and tries patiently."""

from __future__ import annotations

import os
import socket

__all__ = ["lack"]

_USUAL = "unix:///var/run/docker.sock"
_SCHEME = "unix://"


def lack() -> str | None:
    """Why the engine that DOCKER_HOST names, or else the usual one, cannot be had; None if something answers there."""
    host = os.environ.get("DOCKER_HOST") or _USUAL
    if not host.startswith(_SCHEME):
        return f"the engine at {host} is not on this machine, and the sandbox shows folders of this machine"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried:
        try:
            tried.connect(host.removeprefix(_SCHEME))
        except OSError as error:
            return f"no Docker engine answers at {host}: {error.strerror}"
    return None
