"""What goes wrong with a journal."""

from __future__ import annotations


class LedgerError(Exception):
    """A journal that breaks the rules; `line` is the 1-based line of the text where it shows, if it comes from one."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.message = message
        self.line = line

    def at(self, line: int) -> LedgerError:
        """The same complaint, placed at a line of the text."""
        return LedgerError(self.message, line=line)
