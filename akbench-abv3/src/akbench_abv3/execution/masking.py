"""Secret values taken out of a stream of bytes, also where they lie across two chunks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from akbench_abv3.completed import MASK, SHORTEST_MASKED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["StreamMask"]


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return `text` with every secret replaced."""
    mask = StreamMask(secrets)
    shown = mask.feed(text.encode("utf-8", "surrogateescape")) + mask.finish()
    return shown.decode("utf-8", "surrogateescape")


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
        return min((self._open_start(text, position, secret) for secret in self._secrets), default=len(text))

    @staticmethod
    def _open_start(text: bytes, position: int, secret: bytes) -> int:
        first = max(position, len(text) - len(secret) + 1)
        # Few places hold the first byte, so a secret as long as a page costs no comparison at every place.
        start = text.find(secret[:1], first)
        while start != -1:
            if secret.startswith(text[start:]):
                return start
            start = text.find(secret[:1], start + 1)
        return len(text)
