"""What goes wrong with a timetable."""

from __future__ import annotations


class TimetableError(Exception):
    """A timetable that cannot be right, or a question it has no answer to; `line` is the 1-based line of the file."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"
