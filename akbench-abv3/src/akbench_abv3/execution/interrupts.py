"""Signals that ask this program to stop, remembered until the running command has been told."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

__all__ = ["Interrupts"]

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """While open, SIGINT, SIGTERM and SIGHUP are counted instead of ending the program.

    `wake_fd` becomes readable at each signal, so that a selector need not poll. `announce` is given a
    sentence for the person who waits.
    """

    def __init__(self, announce: Callable[[str], None] | None = None) -> None:
        self._announce = announce
        self.first: signal.Signals | None = None
        self.count = 0
        self.wake_fd = -1
        self._write_fd = -1
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        self.wake_fd, self._write_fd = os.pipe()
        os.set_blocking(self.wake_fd, False)
        os.set_blocking(self._write_fd, False)
        for number in _STOPPING:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        os.close(self.wake_fd)
        os.close(self._write_fd)

    @property
    def happened(self) -> bool:
        """Whether a stop was asked for."""
        return self.first is not None

    def announce(self, sentence: str) -> None:
        """Tell the person who waits what is going on."""
        if self._announce is not None:
            self._announce(sentence)

    def drain(self) -> None:
        """Take the wake-up bytes that were written."""
        try:
            os.read(self.wake_fd, 4096)
        except BlockingIOError:
            return

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.first = self.first or signal.Signals(number)
        self.count += 1
        try:
            os.write(self._write_fd, b"!")
        except BlockingIOError:
            return  # the pipe is full: the selector is awake already
