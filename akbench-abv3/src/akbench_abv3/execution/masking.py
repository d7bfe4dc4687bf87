"""Secret values taken out of a stream of bytes, also where they lie across two chunks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from akbench_abv3.completed import MASK, SHORTEST_MASKED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["StreamMask"]


class StreamMask:
    """Replaces secrets by `***`. Feed it chunks; it holds back what may be the start of a secret."""

    def __init__(self, secrets: Iterable[str]) -> None:
        encoded = {secret.encode("utf-8", "surrogateescape") for secret in secrets}
        # Longest first: of a secret and its own prefix, the whole secret is hidden.
        self._secrets = sorted((one for one in encoded if len(one) >= SHORTEST_MASKED_BYTES), key=len, reverse=True)
        self._any = re.compile(b"|".join(map(re.escape, self._secrets))) if self._secrets else None
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return what can be shown now."""
        return self._masked(self._held + chunk, is_last=False)

    def finish(self) -> bytes:
        """Return what was held back; the stream has ended."""
        return self._masked(self._held, is_last=True)

    def _masked(self, text: bytes, *, is_last: bool) -> bytes:
        self._held = b""
        if self._any is None:
            return text
        shown: list[bytes] = []
        position = 0
        while position < len(text):
            limit = len(text) if is_last else self._first_open_end(text, position)
            match = self._any.search(text, position)
            if match is None or match.start() >= limit:
                shown.append(text[position:limit])
                self._held = text[limit:]
                break
            shown.extend((text[position : match.start()], MASK.encode()))
            position = match.end()
        return b"".join(shown)

    def _first_open_end(self, text: bytes, position: int) -> int:
        """Return the first place from which the rest of `text` may be the start of a secret."""
        longest = len(self._secrets[0])
        for start in range(max(position, len(text) - longest + 1), len(text)):
            rest = text[start:]
            if any(secret.startswith(rest) and len(secret) > len(rest) for secret in self._secrets):
                return start
        return len(text)
