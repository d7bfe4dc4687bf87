"""Foreign text made safe for a terminal: no escape sequence of a repository reaches it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["plain_line", "visible"]

_ESCAPE_SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colour, cursor
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # strings: titles, links, clipboard
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
)
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_JOINERS: Final = "\u200c\u200d"


def visible(text: str) -> str:
    """Return `text` with every control and direction character written out as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _is_shown(character) else _written(character) for character in text)


def plain_line(text: str) -> str:
    """Return a line of a program's output without its escape sequences, the rest made visible."""
    return visible(_ESCAPE_SEQUENCE.sub("", text).replace("\t", "    "))


def _is_shown(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in _HIDDEN_CATEGORIES


def _written(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
