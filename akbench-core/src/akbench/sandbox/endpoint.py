"""The one way from a sandbox to its model: a relay from a unix socket to one provider.

The process inside knows the run's token only. Here the token is exchanged for the provider's key, and nothing
but requests below the provider's base URL passes.
"""

from __future__ import annotations

import os
import secrets
import socket as sockets
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from akbench.sandbox.provider import Provider
from akbench.sandbox.relay import Ledger, ModelRequest, Relay
from akbench.spec import HostError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

__all__ = ["ModelEndpoint", "ModelRequest"]

_CONNECTIONS = 64
_CLOSE_SECONDS = 5.0
_SOCKET_PATH_BYTES = 107  # the kernel's field holds 108 with the closing zero


class ModelEndpoint:
    """A context manager: while it is open, `socket` answers like the provider at the base URL `upstream`.

    - `token`: what the process inside has to send as its bearer; worth nothing anywhere else.
    - `base_path`: the path of the provider's base URL, without a slash at its end.

    `key` replaces the token on the way out; with None, requests leave without Authorization header. Whoever
    can reach `socket` may connect to it, as sandboxes have users of their own; keep its directory private.
    """

    def __init__(self, upstream: str, key: str | None, socket: Path) -> None:
        self.socket = socket
        self.token = f"akbench-{secrets.token_urlsafe(32)}"
        self._provider = Provider(upstream, key)
        self.base_path = self._provider.base_path
        self._ledger = Ledger()
        self._acceptor = threading.Thread(target=self._accept, name="model endpoint", daemon=True)
        self._lock = threading.Lock()
        self._clients: dict[sockets.socket, threading.Thread] = {}

    def __repr__(self) -> str:
        return f"ModelEndpoint({self._provider!r}, {str(self.socket)!r})"

    @property
    def requests(self) -> int:
        """How many requests were let through to the provider so far."""
        return self._ledger.forwarded

    @property
    def records(self) -> tuple[ModelRequest, ...]:
        """The finished requests, refused ones too, in the order of their ends; the last 10 000.

        All of them are there once the endpoint is closed.
        """
        return self._ledger.records

    def __enter__(self) -> Self:
        if len(os.fsencode(self.socket)) > _SOCKET_PATH_BYTES:
            raise HostError(f"the path of a socket may have {_SOCKET_PATH_BYTES} bytes, this has more: {self.socket}")
        self._listener = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        try:
            self._listener.bind(str(self.socket))
        except OSError as error:
            self._listener.close()
            raise HostError(f"cannot make the model endpoint {self.socket}: {error.strerror}") from error
        self.socket.chmod(0o666)
        self._listener.listen(_CONNECTIONS)
        self._acceptor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every connection, inwards and outwards."""
        self._listener.shutdown(sockets.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        self.socket.unlink(missing_ok=True)
        with self._lock:
            clients = dict(self._clients)
        for client in clients:
            with suppress(OSError):  # it has just ended by itself
                client.shutdown(sockets.SHUT_RDWR)
        for thread in clients.values():
            thread.join(_CLOSE_SECONDS)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # shut down by __exit__
                return
            self._admit(client)

    def _admit(self, client: sockets.socket) -> None:
        """Serve a connection in a thread of its own; one too many is closed: a flood is worth no answer."""
        thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
        with self._lock:
            if full := len(self._clients) >= _CONNECTIONS:
                client.close()
            else:
                self._clients[client] = thread
        if not full:
            thread.start()

    def _serve(self, client: sockets.socket) -> None:
        try:
            with client, suppress(ConnectionError):  # the sandboxed process left; the ledger has its requests
                Relay(client, provider=self._provider, token=self.token, ledger=self._ledger)
        finally:
            with self._lock:
                del self._clients[client]
