"""Keeping a runner's process from being looked into by the code that it judges; for use inside the sandbox."""

from __future__ import annotations

import ctypes

__all__ = ["hide_this_process"]

_PR_SET_DUMPABLE = 4


def hide_this_process() -> None:
    """From now on no other process of this user can read its memory, environment and open files, or trace it.

    Programs that it starts are as open as any. Raises `OSError` where the kernel refuses.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot be hidden from the tested code")
