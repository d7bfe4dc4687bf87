"""Settings that come through standard input, of which nothing is left for the code that runs later."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

__all__ = ["read_concealed_settings"]


def read_concealed_settings() -> dict[str, Any]:
    """The settings; whoever else holds the file behind standard input finds nothing in it from now on."""
    settings: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    with suppress(OSError):  # a pipe cannot be cut and needs no cutting: what was read from it is gone
        os.ftruncate(0, 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return settings
