"""The model provider at the far end of a sandbox's endpoint, and its key."""

from __future__ import annotations

import ssl
from http.client import HTTPConnection, HTTPSConnection
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from akbench.redaction import Redaction
from akbench.spec import InputError

if TYPE_CHECKING:
    import socket

__all__ = ["Provider"]

_CONNECT_SECONDS = 10.0


class Provider:
    """A provider by its base URL (http or https) and its key, which shows up in no text about it.

    - `base_path`: the path of the base URL, without a slash at its end.
    - `authorization`: the value of the Authorization header; None if there is no key.
    - `redaction`: takes the key out of what the provider answers.
    """

    def __init__(self, base_url: str, key: str | None) -> None:
        self._url = _checked(base_url)
        self.base_path = self._url.path.rstrip("/")
        self.authorization = None if key is None else _bearer(key)
        self.redaction = Redaction(() if key is None else (key,))
        self._tls = ssl.create_default_context() if self._url.scheme == "https" else None

    def __repr__(self) -> str:
        return f"Provider({self._url.geturl()})"

    @property
    def host(self) -> str:
        """The value of the Host header."""
        return self._url.netloc

    def connect(self) -> tuple[HTTPConnection, socket.socket]:
        """A new connection, with its socket; raises OSError. Answers may take as long as they like."""
        name = self._url.hostname or ""
        if self._tls is None:
            connection = HTTPConnection(name, self._url.port, timeout=_CONNECT_SECONDS)
        else:
            connection = HTTPSConnection(name, self._url.port, timeout=_CONNECT_SECONDS, context=self._tls)
        connection.connect()
        connection.sock.settimeout(None)
        return connection, connection.sock


def _checked(base_url: str) -> SplitResult:
    try:
        url = urlsplit(base_url)
        usable = url.scheme in {"http", "https"} and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        raise InputError("the model provider's base URL is malformed") from None
    # What does not belong into a base URL could be a secret: it is not repeated.
    if not usable or url.username or url.password or url.query or url.fragment:
        raise InputError("the model provider's base URL must be http(s)://host[:port][/path] and nothing else")
    return url


def _bearer(key: str) -> str:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InputError("the model provider's key is empty or holds characters that no key has")
    return f"Bearer {key}"
