"""Blacking secrets out of what leaves the harness: answers that go into a sandbox, files that go to the disk."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator

__all__ = ["RedactedStream", "Redaction"]

SHORTEST_SECRET = 8
"""What is shorter than a key ever is would only garble what holds it by chance."""

MARK = b"[secret]"


class Redaction:
    """Replaces secrets by marks of the same length, so that no announced length becomes wrong.

    A secret is found as it is, as JSON spells it, and inside text encoded in base64; not in compressed data.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        found = {spelling for secret in secrets if len(secret) >= SHORTEST_SECRET for spelling in _spellings(secret)}
        self._spellings = sorted(found, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._spellings))) if found else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def apply(self, content: bytes) -> bytes:
        """The content without the secrets."""
        if self._pattern is None:
            return content
        return self._pattern.sub(lambda match: MARK.ljust(len(match[0]), b"*"), content)

    def text(self, text: str) -> str:
        """A header's text without the secrets."""
        return self.apply(text.encode("latin-1")).decode("latin-1")

    def held_back(self, content: bytes) -> int:
        """How many bytes at the end of `content` could be the beginning of a secret."""
        longest = len(self._spellings[0]) - 1 if self._spellings else 0
        sizes = range(min(longest, len(content)), 0, -1)
        return next((size for size in sizes if self._begins_secret(content[-size:])), 0)

    def _begins_secret(self, end: bytes) -> bool:
        return any(spelling.startswith(end) for spelling in self._spellings)


class RedactedStream:
    """A redaction of content that comes in pieces: a secret is found across their borders too."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What may be passed on once `piece` has come."""
        content = self._redaction.apply(self._held + piece)
        passed = len(content) - self._redaction.held_back(content)
        self._held = content[passed:]
        return content[:passed]

    def end(self) -> bytes:
        """What was held back; the content ended before it became a secret."""
        return self._held


def _spellings(secret: str) -> Iterator[bytes]:
    plain = secret.encode()
    yield plain
    yield json.dumps(secret)[1:-1].encode()
    for before in range(3):
        yield from _in_base64(plain, before)


def _in_base64(plain: bytes, before: int) -> Iterator[bytes]:
    """The characters that are the same whatever stands around the secret, when `before` (mod 3) bytes precede it."""
    lead = (0, 2, 3)[before]
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(bytes(before) + plain)
        trail = (0, 3, 2)[(before + len(plain)) % 3]
        yield whole[lead : len(whole) - trail]
