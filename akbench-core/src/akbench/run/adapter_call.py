"""Calls of an adapter that may hang: bounded, in a thread that is left behind when it does not come back."""

from __future__ import annotations

import threading
from collections.abc import Callable

from akbench.spec import ExtensionError

__all__ = ["AdapterHangError", "bounded"]


class AdapterHangError(ExtensionError):
    """An adapter did not answer in time."""


def bounded[T](call: Callable[[], T], seconds: float, what: str) -> T:
    """The call's own result or error. Raises `AdapterHangError`, which names `what`, after `seconds` without one."""
    answer: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            answer.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again where it was called from
            errors.append(error)

    thread = threading.Thread(target=work, name=what, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise AdapterHangError(f"the adapter hangs in {what}: it did not return within {seconds:g} s")
    if errors:
        raise errors[0]
    return answer[0]
