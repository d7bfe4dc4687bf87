"""One connection of a sandboxed process to its model endpoint: HTTP/1.1 in and out, bodies as they come."""

from __future__ import annotations

import json
import os
import select
import socket
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, override

from akbench.redaction import RedactedStream
from akbench.sandbox.admission import refusal_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

    from akbench.sandbox.provider import Provider

__all__ = ["Ledger", "ModelRequest", "Relay"]

_PIECE_BYTES = 1 << 16
_DRAIN_BYTES = 1 << 20
_RECORDS = 10_000
_NO_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "expect",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_REPLACED = frozenset({"authorization", "host"})
# In compressed or partial answers a key that the provider echoes would not be recognised.
_HIDING = frozenset({"accept-encoding", "range"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request that a sandboxed process made. Neither bodies nor headers nor query strings are kept.

    - `status`: what it was answered; None if its sender left before.
    - `forwarded`: whether it was let through to the provider.
    - `complete`: whether the answer was relayed to its end.
    - `duration_seconds`: from the request's head to the answer's end.
    """

    at: datetime
    method: str
    path: str
    status: int | None
    forwarded: bool
    complete: bool
    duration_seconds: float


class Ledger:
    """The requests of one run, from all its connections."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: deque[ModelRequest] = deque(maxlen=_RECORDS)
        self._forwarded = 0

    def count(self) -> None:
        """Count a request that is let through."""
        with self._lock:
            self._forwarded += 1

    def add(self, record: ModelRequest) -> None:
        """Keep the record of a request that is over."""
        with self._lock:
            self._records.append(record)

    @property
    def forwarded(self) -> int:
        """How many requests were let through so far."""
        with self._lock:
            return self._forwarded

    @property
    def records(self) -> tuple[ModelRequest, ...]:
        """The last 10 000 finished requests, in the order of their ends."""
        with self._lock:
            return tuple(self._records)


class _SenderError(Exception):
    """The request's body broke off or is malformed."""


class Relay(BaseHTTPRequestHandler):
    """Serves one client connection until it ends; all of it happens in the constructor.

    A client that closes its sending side counts as gone, and its request ends. The provider's key is blacked out of the
    answers: some providers echo it when they refuse it.
    """

    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # so that even an unreadable request gets an answer with a status

    def __init__(self, client: socket.socket, *, provider: Provider, token: str, ledger: Ledger) -> None:
        self._provider = provider
        self._token = token
        self._ledger = ledger
        self._upstream: tuple[HTTPConnection, socket.socket] | None = None
        self._status: int | None = None
        super().__init__(client, "", None)  # type: ignore[arg-type]  # there is no socketserver

    @override
    def finish(self) -> None:
        super().finish()
        self._drop_upstream()

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the ledger has it, without what a request line may carry."""

    @override
    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that could not even be parsed."""
        self._refuse(code, message or HTTPStatus(code).phrase)

    def _handle(self) -> None:
        started, at = time.monotonic(), datetime.now(UTC)
        self._status, forwarded, complete = None, False, True
        refusal = refusal_of(
            self.command, self.path, self.headers, base_path=self._provider.base_path, token=self._token
        )
        try:
            if refusal is not None:
                self._refuse(refusal.status, refusal.reason)
                self._drain()
            else:
                forwarded = True
                self._ledger.count()
                complete = self._forward()
                self._drop_upstream()
        except ConnectionError:
            complete, self.close_connection = False, True
        self._ledger.add(
            ModelRequest(
                at=at,
                method=self.command,
                path=self.path.partition("?")[0],
                status=self._status,
                forwarded=forwarded,
                complete=complete,
                duration_seconds=time.monotonic() - started,
            )
        )

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_CONNECT = do_TRACE = _handle  # noqa: N815 (names of http.server)

    def _refuse(self, status: int, reason: str) -> None:
        """Answer with a JSON error of our own, and close: the request's body may be unread."""
        body = json.dumps({"error": {"type": "akbench_endpoint", "message": reason}}).encode()
        self._status = status
        self.close_connection = True
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _drain(self) -> None:
        """Take a small body off the wire; closing upon unread data would destroy the answer on its way."""
        length = self.headers.get("Content-Length", "0")
        if length.isascii() and length.isdigit():
            self.rfile.read(min(int(length), _DRAIN_BYTES))

    def _forward(self) -> bool:
        """Send the request to the provider and its answer back; whether that came to its end."""
        try:
            connection, wire = self._connected()
        except OSError as error:
            self._fail(f"cannot connect: {error.strerror or type(error).__name__}")
            return True
        with _ended_with(self.connection, wire):
            try:
                response = self._ask(connection)
            except _SenderError as error:
                self._refuse(HTTPStatus.BAD_REQUEST, str(error))
                self._drop_upstream()
                return True
            except (OSError, HTTPException, ValueError) as error:
                self._fail(f"no answer: {type(error).__name__}")
                return True
            return self._relay(response)

    def _fail(self, what: str) -> None:
        self._drop_upstream()
        if _has_left(self.connection):
            raise ConnectionResetError("the sandboxed process left")
        self._refuse(HTTPStatus.BAD_GATEWAY, f"the model provider could not be reached: {what}")

    def _connected(self) -> tuple[HTTPConnection, socket.socket]:
        """A new connection for each request: one kept open could be closed just as the next request goes out."""
        self._upstream = self._provider.connect()
        return self._upstream

    def _drop_upstream(self) -> None:
        if self._upstream is not None:
            self._upstream[0].close()
            self._upstream[1].close()
            self._upstream = None

    def _ask(self, connection: HTTPConnection) -> HTTPResponse:
        connection.putrequest(self.command, self.path, skip_host=True)  # asks for an answer that is not encoded
        connection.putheader("Host", self._provider.host)
        for name, value in _end_to_end(self.headers):
            if name.lower() not in _REPLACED | _HIDING:
                connection.putheader(name, value)
        connection.putheader("Connection", "close")
        if self._provider.authorization is not None:
            connection.putheader("Authorization", self._provider.authorization)
        if self._is_chunked():
            connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        try:
            self._send_body(connection)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # an answer that does not wait for the body, or none: seen next
        return connection.getresponse()

    def _is_chunked(self) -> bool:
        return "Transfer-Encoding" in self.headers

    def _send_body(self, connection: HTTPConnection) -> None:
        if not self._is_chunked():
            for piece in self._counted_body(int(self.headers.get("Content-Length", "0"))):
                connection.send(piece)
            return
        for piece in self._chunked_body():
            connection.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        connection.send(b"0\r\n\r\n")

    def _counted_body(self, length: int) -> Iterator[bytes]:
        while length:
            piece = self.rfile.read1(min(length, _PIECE_BYTES))
            if not piece:
                raise _SenderError("the body is shorter than its Content-Length")
            length -= len(piece)
            yield piece

    def _chunked_body(self) -> Iterator[bytes]:
        while size := self._chunk_size():
            yield from self._counted_body(size)
            if self.rfile.readline(3) != b"\r\n":
                raise _SenderError("a chunk is longer than its size")
        while self.rfile.readline(_PIECE_BYTES) not in {b"\r\n", b""}:
            pass  # trailers are not relayed

    def _chunk_size(self) -> int:
        digits = self.rfile.readline(1024).partition(b";")[0].strip()
        if not digits.isalnum():
            raise _SenderError("a chunk has no size")
        try:
            return int(digits, 16)
        except ValueError:
            raise _SenderError("a chunk's size is not a number") from None

    def _relay(self, response: HTTPResponse) -> bool:
        redacted = self._provider.redaction.text
        if self._is_opaque(response):
            self._drop_upstream()
            self._refuse(HTTPStatus.BAD_GATEWAY, "the model provider encodes its answers, though not asked to")
            return True
        self._status = response.status
        self.send_response_only(response.status, redacted(response.reason))
        for name, value in _end_to_end(response.headers):
            self.send_header(redacted(name), redacted(value))
        chunked = self._frame(response)
        self.end_headers()
        with response:
            complete = self._relay_body(response, chunked=chunked)
        if complete and chunked:
            self.wfile.write(b"0\r\n\r\n")
        if not complete:
            self.close_connection = True
            self._drop_upstream()
        return complete

    def _is_opaque(self, response: HTTPResponse) -> bool:
        """Whether the key could be in the answer without being recognised."""
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        return bool(self._provider.redaction) and coding != "identity"

    def _frame(self, response: HTTPResponse) -> bool:
        """Make the body's end recognisable: by its length, by chunks (True), or by the connection's end."""
        bodiless = self.command == "HEAD" or response.status in _NO_BODY
        if bodiless or "Content-Length" in response.headers:
            chunked = False
        elif chunked := self.request_version != "HTTP/1.0":
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.close_connection = True
        if self.close_connection:
            self.send_header("Connection", "close")
        return chunked

    def _relay_body(self, response: HTTPResponse, *, chunked: bool) -> bool:
        body = RedactedStream(self._provider.redaction)
        try:
            while piece := response.read1(_PIECE_BYTES):
                self._write_body(body.feed(piece), chunked=chunked)
        except (OSError, HTTPException):
            return False
        if response.length:  # of the announced length; what is held back may be half a key
            return False
        self._write_body(body.end(), chunked=chunked)
        return True

    def _write_body(self, piece: bytes, *, chunked: bool) -> None:
        if piece:  # an empty chunk would be the last
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)


def _end_to_end(headers: Message) -> Iterator[tuple[str, str]]:
    """The headers that are not about the connection itself."""
    named = {name.strip().lower() for value in headers.get_all("Connection", []) for name in value.split(",")}
    for name, value in headers.items():
        if name.lower() not in _HOP_BY_HOP | named:
            yield name, value


@contextmanager
def _ended_with(client: socket.socket, upstream: socket.socket) -> Iterator[None]:
    """Shut the provider's connection down as soon as the client's ends, whoever is waiting for it."""
    done, end = os.pipe()
    watcher = threading.Thread(target=_watch, args=(client, upstream, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        os.close(end)
        watcher.join()
        os.close(done)


def _watch(client: socket.socket, upstream: socket.socket, done: int) -> None:
    poll = select.poll()
    poll.register(client, select.POLLRDHUP)
    poll.register(done, select.POLLIN)
    if any(descriptor != done for descriptor, _ in poll.poll()):
        with suppress(OSError):  # it has just ended by itself
            # Not SSLSocket's method: that takes the encryption from under the thread that is reading.
            socket.socket.shutdown(upstream, socket.SHUT_RDWR)


def _has_left(client: socket.socket) -> bool:
    poll = select.poll()
    poll.register(client, select.POLLRDHUP)
    return bool(poll.poll(0))
