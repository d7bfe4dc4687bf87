"""A real HTTP server on loopback that answers a coding agent from a script instead of a model.

What runs against it exercises the real agent and measures no model.
"""

from __future__ import annotations

import hashlib
import socket
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self, cast
from urllib.parse import urlsplit

from akbench.testing import responses_api
from akbench.testing.responses_api import Conversation, NoToolError, UnreadableRequestError
from akbench.testing.script import Action, Fault, Script, Step, read_scripts

__all__ = ["RequestRecord", "ScriptedModel"]

_POLL_SECONDS = 0.1
_PROMPT_START = 200

_HTTP_FAULTS: Mapping[Fault, tuple[int, bytes, Mapping[str, str]]] = {
    Fault.HTTP_401: (
        401,
        responses_api.error_body("Incorrect API key provided.", kind="invalid_request_error", code="invalid_api_key"),
        {},
    ),
    Fault.HTTP_429: (
        429,
        responses_api.error_body("Rate limit reached.", kind="requests", code="rate_limit_exceeded"),
        {"Retry-After": "1"},
    ),
    Fault.HTTP_500: (
        500,
        responses_api.error_body("The server had an error.", kind="server_error", code=None),
        {},
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """One request as it came. `at` is UTC.

    - `script` and `step`: the phrase of the script that answered, and the step's number counted from 0; None
      where no script did.
    - `answer`: what was answered, such as ``run``, ``hang``, ``http_500``, ``poll`` or ``refused``.
    - `model` and `effort`: what the client asked for. `tools`: the names of the tools it offered.
    - `authorization_sha256`: SHA-256 (hex) of the whole Authorization header; None if there was none. The key
      itself is kept nowhere.
    """

    at: datetime
    path: str
    header_names: tuple[str, ...]
    script: str | None
    step: int | None
    answer: str
    model: str | None
    effort: str | None
    tools: tuple[str, ...]
    authorization_sha256: str | None

    @property
    def authorized(self) -> bool:
        """Whether an Authorization header came."""
        return self.authorization_sha256 is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """An HTTP answer: a status with a body, or a stream, or (with `hang`) nothing at all."""

    name: str
    status: int = 200
    chunks: tuple[bytes, ...] = ()
    headers: Mapping[str, str] | None = None
    script: str | None = None
    step: int | None = None
    hang: bool = False


class ScriptedModel:
    """A model that follows scripts; a context manager, open for as long as it is entered.

    Scripts are tried in the order of the file; the first that fits a request answers it. Step N answers the
    request that carries the outputs of N scripted tool calls, so a retry gets the same answer, and any number
    of conversations may run at once. A prompt that no script fits is answered with HTTP 400.
    """

    def __init__(self, scripts: Iterable[Script]) -> None:
        self._scripts = tuple(scripts)
        self._listener: _Listener | None = None
        self._thread: threading.Thread | None = None
        self._records: list[RequestRecord] = []

    @classmethod
    def load(cls, path: Path) -> Self:
        """The model that follows the scripts of a YAML file. Raises `InputError` where the file is wrong."""
        return cls(read_scripts(path))

    @property
    def base_url(self) -> str:
        """The base URL of the API. Further path segments before ``/responses`` are served alike."""
        if self._listener is None:
            raise RuntimeError("the scripted model is not running: use it in a with statement")
        return f"http://127.0.0.1:{self._listener.server_address[1]}/v1"

    @property
    def requests(self) -> tuple[RequestRecord, ...]:
        """The requests that came so far, in the order of their arrival; still there after the end."""
        return tuple(self._records)

    def __enter__(self) -> Self:
        """Start listening on a free port of 127.0.0.1."""
        self._listener = _Listener(self._scripts, self._records)
        self._thread = threading.Thread(
            target=self._listener.serve_forever, args=(_POLL_SECONDS,), name="scripted-model"
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop: answers under way are cut, hanging requests let go, all threads joined."""
        listener, thread = self._listener, self._thread
        self._listener = self._thread = None
        if listener is not None and thread is not None:
            listener.stop()
            thread.join()


class _Listener(ThreadingHTTPServer):
    """Accepts connections, each in a thread of its own that is joined at the end."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, scripts: Sequence[Script], records: list[RequestRecord]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripts = scripts
        self.records = records
        self.closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def stop(self) -> None:
        """End all conversations and release the port."""
        self.closing.set()
        self.shutdown()
        with self._lock:
            for connection in self._open:
                # A client that left first has already ended its connection.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: object, client_address: object) -> None:
        """Remember the connection, so that `stop` can wake the thread that reads from it."""
        with self._lock:
            self._open.add(cast("socket.socket", request))
        super().process_request(cast("socket.socket", request), client_address)

    def shutdown_request(self, request: object) -> None:
        """Close a connection that its handler is done with."""
        with self._lock:
            self._open.discard(cast("socket.socket", request))
            super().shutdown_request(cast("socket.socket", request))

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is its own affair; anything else is a fault of this server and is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(cast("socket.socket", request), client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Stay silent; requests are recorded."""

    def do_GET(self) -> None:
        self._refuse_method()

    def do_POST(self) -> None:
        arrived = datetime.now(UTC)
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        conversation: Conversation | None = None
        try:
            self._check_target()
            conversation = Conversation.parse(raw)
            answer = _answer(self.server.scripts, conversation, response=f"resp_{_digest(raw)[:24]}")
        except UnreadableRequestError as error:
            answer = _refusal(str(error))
        self._record(arrived, conversation, answer)
        self._send(answer)

    def _check_target(self) -> None:
        if not urlsplit(self.path).path.endswith("/responses"):
            raise UnreadableRequestError(f"no such endpoint: {self.path}; only <base url>/responses is served")
        encoding = self.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise UnreadableRequestError(f"the content encoding {encoding!r} is not served")

    def _refuse_method(self) -> None:
        answer = _refusal("only POST <base url>/responses is served")
        self._record(datetime.now(UTC), None, answer)
        self._send(answer)

    def _record(self, arrived: datetime, conversation: Conversation | None, answer: _Answer) -> None:
        authorization = self.headers.get("Authorization")
        self.server.records.append(
            RequestRecord(
                at=arrived,
                path=self.path,
                header_names=tuple(self.headers.keys()),
                script=answer.script,
                step=answer.step,
                answer=answer.name,
                model=conversation.model if conversation else None,
                effort=conversation.effort if conversation else None,
                tools=tuple(tool.name for tool in conversation.tools) if conversation else (),
                authorization_sha256=_digest(authorization.encode()) if authorization else None,
            )
        )

    def _send(self, answer: _Answer) -> None:
        self.close_connection = True
        if answer.hang:
            self.server.closing.wait()
            return
        self.send_response(answer.status)
        for name, value in (answer.headers or {}).items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in answer.chunks:
            self.wfile.write(chunk)
            self.wfile.flush()


def _answer(scripts: Sequence[Script], conversation: Conversation, response: str) -> _Answer:
    """What the scripts say to a conversation. Raises `UnreadableRequestError` if they say nothing."""
    script, position = _find(scripts, conversation)
    number = conversation.steps_done(position)
    session = conversation.running_session()
    if session is not None and number > 0:
        return _poll(script, number - 1, session, conversation, response)
    if number >= len(script.steps):
        raise UnreadableRequestError(f"the script {script.match!r} has no step after {number} tool calls")
    return _perform(script, number, conversation, response)


def _poll(script: Script, number: int, session: int, conversation: Conversation, response: str) -> _Answer:
    item = responses_api.poll_item(session, number, len(conversation.items))
    usage = script.steps[number].usage
    chunks = responses_api.events(response=response, model=conversation.model, item=item, usage=usage)
    return _stream("poll", script, number, tuple(chunks))


def _find(scripts: Sequence[Script], conversation: Conversation) -> tuple[Script, int]:
    """The first script that fits the newest message that any script fits, and that message's position."""
    asked = {"model": conversation.model, "reasoning_effort": conversation.effort}
    prompts = list(conversation.prompts())
    for position, prompt in prompts:
        for script in scripts:
            if script.fits(prompt, asked):
                return script, position
    start = prompts[0][1][:_PROMPT_START] if prompts else ""
    raise UnreadableRequestError(
        f"no script fits this request (model {conversation.model}, reasoning effort {conversation.effort}); "
        f"its prompt starts with: {start!r}"
    )


def _perform(script: Script, number: int, conversation: Conversation, response: str) -> _Answer:
    step = script.steps[number]
    if step.action is Action.FAIL:
        return _fail(script, number, Fault(step.text), conversation, response)
    item = _item(step, number, conversation)
    chunks = responses_api.events(response=response, model=conversation.model, item=item, usage=step.usage)
    return _stream(step.action.value, script, number, tuple(chunks))


def _item(step: Step, number: int, conversation: Conversation) -> dict[str, object]:
    if step.action is Action.SAY:
        return responses_api.message_item(step.text, number)
    try:
        return responses_api.tool_item(step, number, conversation.tools)
    except NoToolError as error:
        raise UnreadableRequestError(str(error)) from error


def _fail(script: Script, number: int, fault: Fault, conversation: Conversation, response: str) -> _Answer:
    if fault in _HTTP_FAULTS:
        status, body, headers = _HTTP_FAULTS[fault]
        return _plain(fault.value, status, body, headers, script=script.match, step=number)
    if fault is Fault.HANG:
        return _Answer(name=fault.value, script=script.match, step=number, hang=True)
    return _stream(fault.value, script, number, tuple(_broken(fault, conversation.model, response)))


def _broken(fault: Fault, model: str | None, response: str) -> Iterator[bytes]:
    if fault is Fault.GARBAGE:
        yield b"this is no event\n<html>neither is this</html>\n\n"
        return
    yield responses_api.created(response=response, model=model)
    if fault is Fault.CONTEXT_WINDOW:
        message = "Your input exceeds the context window of this model."
        yield responses_api.failed(response=response, model=model, code="context_length_exceeded", message=message)
    if fault is Fault.INCOMPLETE:
        yield responses_api.incomplete(response=response, model=model, reason="max_output_tokens")


def _stream(name: str, script: Script, number: int, chunks: tuple[bytes, ...]) -> _Answer:
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
    return _Answer(name=name, script=script.match, step=number, chunks=chunks, headers=headers)


def _plain(
    name: str, status: int, body: bytes, headers: Mapping[str, str], *, script: str | None, step: int | None
) -> _Answer:
    described = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
    return _Answer(name=name, status=status, chunks=(body,), headers=described, script=script, step=step)


def _refusal(message: str) -> _Answer:
    body = responses_api.error_body(message, kind="invalid_request_error", code="not_scripted")
    return _plain("refused", 400, body, {}, script=None, step=None)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
