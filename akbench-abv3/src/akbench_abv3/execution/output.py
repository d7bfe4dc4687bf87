"""What a command writes: saved masked, and handed on line by line for showing."""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, Final

from akbench_abv3.execution.masking import StreamMask
from akbench_abv3.terminal import plain_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["MaskedOutput"]

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_LONGEST_LINE: Final = 8192


class MaskedOutput:
    """A sink that masks secrets, writes to a log, and shows each line without escape sequences."""

    def __init__(self, log: IO[bytes], secrets: Iterable[str], show: Callable[[str], None]) -> None:
        self._log = log
        self._mask = StreamMask(secrets)
        self._show = show
        self._pending = b""

    def feed(self, chunk: bytes) -> None:
        """Take a chunk."""
        self._take(self._mask.feed(chunk))

    def finish(self) -> None:
        """Write and show what is left."""
        self._take(self._mask.finish())
        if self._pending:
            self._show_line(self._pending)
        self._pending = b""

    def _take(self, text: bytes) -> None:
        try:
            self._log.write(text)
            self._log.flush()
        except OSError as error:
            error.filename = getattr(self._log, "name", None)  # a failing write does not say of what
            raise
        *lines, self._pending = _LINE_END.split(self._pending + text)
        for line in lines:
            self._show_line(line)
        while len(self._pending) > _LONGEST_LINE:
            self._show_line(self._pending[:_LONGEST_LINE])
            self._pending = self._pending[_LONGEST_LINE:]

    def _show_line(self, line: bytes) -> None:
        text = plain_line(line.decode("utf-8", "replace"))
        if text.strip():
            self._show(text)
