"""The model endpoint, between a real HTTP server and raw bytes on its unix socket."""

import gzip
import json
import logging
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
import traceback
from base64 import b64encode
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from akbench.sandbox.endpoint import ModelEndpoint
from akbench.spec import HostError, InputError

KEY = "sk-canary-0f3a"


class Provider(ThreadingHTTPServer):
    """A provider that notes what reaches it and answers as `answer` says."""

    daemon_threads = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        self.connections = 0
        self.proceed = threading.Event()
        self.gone = threading.Event()
        self.answer = echo

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/api/v1"

    def get_request(self):
        self.connections += 1
        return super().get_request()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20  # so that a failing test ends

    def log_message(self, *arguments):
        pass

    def handle_any(self):
        body = self.body()
        self.server.seen.append((self.command, self.path, dict(self.headers.items()), body))
        self.server.answer(self, body)

    do_GET = do_POST = do_HEAD = do_DELETE = handle_any  # noqa: N815

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def start(self, *headers, status=200):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()


def echo(handler, body):
    handler.start(("Content-Length", str(len(body))), ("X-Answer", "yes"))
    if handler.command != "HEAD":
        handler.wfile.write(body)


@pytest.fixture
def provider():
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.proceed.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def endpoint(provider, tmp_path):
    with ModelEndpoint(provider.url, KEY, tmp_path / "model.sock") as endpoint:
        yield endpoint


class UnixConnection(HTTPConnection):
    def __init__(self, path):
        super().__init__("127.0.0.1:8080", timeout=10)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(10)
        self.sock.connect(self.path)


@pytest.fixture
def connection(endpoint):
    connection = UnixConnection(endpoint.socket)
    yield connection
    connection.close()


def ask(connection, endpoint, method="POST", path="/api/v1/responses", body=b"", token=None, **headers):
    bearer = {"Authorization": f"Bearer {token or endpoint.token}"}
    connection.request(method, path, body=body, headers={**bearer, **headers})
    return connection.getresponse()


def raw(endpoint, data):
    """All that comes back for these bytes."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(endpoint.socket))
        client.sendall(data)
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    return answer


def test_a_request_arrives_with_the_key_in_place_of_the_token(connection, endpoint, provider):
    response = ask(connection, endpoint, path="/api/v1/responses?stream=1", body=b"question", X_Mine="kept")
    assert (response.status, response.read(), response.headers["X-Answer"]) == (200, b"question", "yes")
    ((method, path, headers, body),) = provider.seen
    assert (method, path, body) == ("POST", "/api/v1/responses?stream=1", b"question")
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Host"] == f"127.0.0.1:{provider.server_address[1]}"
    assert headers["X_Mine"] == "kept"
    assert endpoint.token not in str(headers)


def test_without_a_key_no_authorization_is_sent(provider, tmp_path):
    with ModelEndpoint(provider.url, None, tmp_path / "model.sock") as endpoint:
        connection = UnixConnection(endpoint.socket)
        assert ask(connection, endpoint).status == 200
        connection.close()
    ((_, _, headers, _),) = provider.seen
    assert "Authorization" not in headers


def test_each_run_has_a_token_of_its_own(tmp_path):
    tokens = {ModelEndpoint("http://127.0.0.1/v1", None, tmp_path / str(index)).token for index in range(5)}
    assert len(tokens) == 5
    assert all(len(token) >= 40 for token in tokens)


def test_the_base_path_is_that_of_the_base_url(tmp_path):
    paths = {
        url: ModelEndpoint(url, None, tmp_path / "x").base_path
        for url in ("http://h/api/v1/", "https://h", "http://h/")
    }
    assert paths == {"http://h/api/v1/": "/api/v1", "https://h": "", "http://h/": ""}


def test_a_wrong_token_is_refused_in_json_and_never_forwarded(connection, endpoint, provider, eventually):
    response = ask(connection, endpoint, token="wrong", body=b"x" * 200_000)
    assert response.status == 401
    assert json.loads(response.read())["error"]["type"] == "akbench_endpoint"
    assert provider.seen == []
    eventually(lambda: endpoint.records)
    (record,) = endpoint.records
    assert (record.status, record.forwarded, endpoint.requests) == (401, False, 0)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET http://example.org/api/v1/x HTTP/1.1", 403),
        ("CONNECT example.org:443 HTTP/1.1", 403),
        ("GET /other HTTP/1.1", 403),
        ("GET /api/v1/../x HTTP/1.1", 403),
        ("BREW /api/v1/x HTTP/1.1", 501),
        ("GET /api/v1/x HTTP/2.0", 505),
        ("nonsense", 400),
    ],
)
def test_everything_else_is_refused_in_json(endpoint, provider, head, status):
    request = f"{head}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {endpoint.token}\r\n\r\n"
    answer = raw(endpoint, request.encode())
    assert f" {status} ".encode() in answer.splitlines()[0]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["type"] == "akbench_endpoint"
    assert provider.seen == []


def test_a_stream_is_passed_on_piece_by_piece(connection, endpoint, provider):
    def stream(handler, body):
        handler.start(("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"))
        for index in range(3):
            event = f"data: {index}\n\n".encode()
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            assert handler.server.proceed.wait(10), "the piece before was held back"
            handler.server.proceed.clear()
        handler.wfile.write(b"0\r\n\r\n")

    provider.answer = stream
    response = ask(connection, endpoint)
    assert response.headers["Content-Type"] == "text/event-stream"
    for index in range(3):
        assert response.read1(65536) == f"data: {index}\n\n".encode()
        provider.proceed.set()
    assert response.read() == b""


def test_a_body_ended_by_closing_is_passed_on(connection, endpoint, provider):
    def close_delimited(handler, body):
        handler.close_connection = True
        handler.start(("Connection", "close"))
        handler.wfile.write(b"all there is")

    provider.answer = close_delimited
    assert ask(connection, endpoint).read() == b"all there is"
    assert ask(connection, endpoint).read() == b"all there is", "the client's connection lives on"


def test_a_chunked_request_is_passed_on(connection, endpoint, provider):
    pieces = [b"one", b"x" * 100_000, b"three"]
    response = ask(connection, endpoint, body=iter(pieces))
    assert response.read() == b"".join(pieces)
    assert provider.seen[0][2]["Transfer-Encoding"] == "chunked"


def test_a_large_request_and_answer_are_passed_on(connection, endpoint):
    body = os.urandom(5_000_000)
    assert ask(connection, endpoint, body=body).read() == body


def test_a_head_request_has_no_body(connection, endpoint):
    response = ask(connection, endpoint, method="HEAD")
    assert (response.status, response.read()) == (200, b"")
    assert ask(connection, endpoint, body=b"after").read() == b"after"


@pytest.mark.parametrize("status", [204, 302, 400, 401, 429, 500])
def test_the_providers_own_status_is_passed_on(connection, endpoint, provider, eventually, status):
    def refuse(handler, body):
        handler.start(("Content-Length", "0"), ("Location", "/api/v1/x"), ("Retry-After", "7"), status=status)

    provider.answer = refuse
    response = ask(connection, endpoint)
    assert (response.status, response.headers["Retry-After"], response.read()) == (status, "7", b"")
    assert len(provider.seen) == 1, "no redirect is followed, nothing is tried again"
    eventually(lambda: endpoint.records)
    assert (endpoint.records[0].status, endpoint.records[0].complete) == (status, True)


def test_headers_about_the_connection_stay_on_their_side(connection, endpoint, provider):
    def answer(handler, body):
        handler.start(("Content-Length", "0"), ("Keep-Alive", "timeout=1"), ("X-Hop", "1"), ("Connection", "X-Hop"))

    provider.answer = answer
    response = ask(
        connection,
        endpoint,
        Connection="X-Private",
        **{"X-Private": "1", "Upgrade": "websocket", "TE": "trailers"},
    )
    response.read()
    assert not {"keep-alive", "x-hop", "connection"} & {name.lower() for name in response.headers}
    assert not {"x-private", "upgrade", "te"} & {name.lower() for name in provider.seen[0][2]}
    assert provider.seen[0][2]["Connection"] == "close"


def test_each_request_of_one_client_connection_has_its_own_to_the_provider(connection, endpoint, provider):
    for index in range(3):
        assert ask(connection, endpoint, body=b"%d" % index).read() == b"%d" % index
    assert provider.connections == 3
    assert endpoint.requests == 3


def test_a_provider_that_closes_its_connections_is_asked_again_all_the_same(connection, endpoint, provider):
    def once(handler, body):
        handler.close_connection = True  # without saying so
        echo(handler, body)

    provider.answer = once
    for _ in range(3):
        assert ask(connection, endpoint, body=b"again").read() == b"again"


def test_a_provider_that_refuses_connections_is_a_502(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with ModelEndpoint(f"http://127.0.0.1:{port}/v1", KEY, tmp_path / "model.sock") as endpoint:
        connection = UnixConnection(endpoint.socket)
        response = ask(connection, endpoint, path="/v1/responses")
        assert response.status == 502
        message = json.loads(response.read())["error"]["message"]
        connection.close()
    assert message == "the model provider could not be reached: cannot connect: Connection refused"


def test_a_provider_that_hangs_up_is_a_502(connection, endpoint, provider):
    def hang_up(handler, body):
        handler.close_connection = True

    provider.answer = hang_up
    response = ask(connection, endpoint)
    assert (response.status, b"RemoteDisconnected" in response.read()) == (502, True)


def test_a_provider_that_talks_nonsense_is_a_502(connection, endpoint, provider):
    def nonsense(handler, body):
        handler.wfile.write(b"what?\r\n\r\n")
        handler.close_connection = True

    provider.answer = nonsense
    assert ask(connection, endpoint).status == 502


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_cut_answer_arrives_cut(endpoint, provider, eventually, framing):
    def cut(handler, body):
        handler.close_connection = True
        header = ("Content-Length", "100") if framing == "length" else ("Transfer-Encoding", "chunked")
        handler.start(header)
        handler.wfile.write(b"a part" if framing == "length" else b"6\r\na part\r\n")

    provider.answer = cut
    request = f"GET /api/v1/x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {endpoint.token}\r\n\r\n"
    answer = raw(endpoint, request.encode())
    assert b"a part" in answer
    assert not answer.endswith(b"0\r\n\r\n")
    eventually(lambda: endpoint.records)
    (record,) = endpoint.records
    assert (record.status, record.complete) == (200, False)


@pytest.mark.parametrize("moment", ["before the answer", "within the answer"])
def test_a_client_that_leaves_ends_the_request_to_the_provider(endpoint, provider, eventually, moment):
    def wait_for_end(handler, body):
        if moment == "within the answer":
            handler.start(("Transfer-Encoding", "chunked"))
            handler.wfile.write(b"5\r\nfirst\r\n")
        handler.close_connection = True
        if handler.connection.recv(1) == b"":
            handler.server.gone.set()

    provider.answer = wait_for_end
    connection = UnixConnection(endpoint.socket)
    connection.request("POST", "/api/v1/x", body=b"", headers={"Authorization": f"Bearer {endpoint.token}"})
    eventually(lambda: provider.seen)
    if moment == "within the answer":
        assert connection.getresponse().read1(10) == b"first"
    connection.close()
    assert provider.gone.wait(10)
    eventually(lambda: endpoint.records)
    assert endpoint.records[0].complete is False
    assert endpoint.records[0].status == (None if moment == "before the answer" else 200)


def test_closing_ends_what_is_under_way(provider, tmp_path):
    def wait_for_end(handler, body):
        handler.close_connection = True
        if handler.connection.recv(1) == b"":
            handler.server.gone.set()

    provider.answer = wait_for_end
    path = tmp_path / "model.sock"
    with ModelEndpoint(provider.url, KEY, path) as endpoint, UnixSocket(path) as idle:
        connection = UnixConnection(path)
        connection.request("GET", "/api/v1/x", headers={"Authorization": f"Bearer {endpoint.token}"})
        while not provider.seen:
            threading.Event().wait(0.01)
        before = {thread.name for thread in threading.enumerate()}
    assert "model endpoint" in before
    assert provider.gone.wait(10)
    assert idle.recv(1) == b""
    assert not path.exists()
    assert "model endpoint" not in {thread.name for thread in threading.enumerate()}
    connection.close()


class UnixSocket(socket.socket):
    def __init__(self, path):
        super().__init__(socket.AF_UNIX)
        self.settimeout(10)
        self.connect(str(path))

    def __exit__(self, *arguments):
        pass  # it is looked at after its end

    def __del__(self):
        self.close()


def test_a_request_that_ends_early_is_not_passed_for_whole(endpoint, provider):
    head = f"POST /api/v1/x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {endpoint.token}\r\n"
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    assert b" 400 " in raw(endpoint, chunked.encode()).splitlines()[0]
    assert provider.seen == []


def test_many_clients_are_served_at_once(endpoint, provider):
    barrier = threading.Barrier(8)

    def together(handler, body):
        barrier.wait(10)
        echo(handler, body)

    provider.answer = together
    results = []

    def one(index):
        connection = UnixConnection(endpoint.socket)
        results.append(ask(connection, endpoint, body=b"%d" % index).read())
        connection.close()

    threads = [threading.Thread(target=one, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [b"%d" % index for index in range(8)]


def test_records_tell_what_was_asked_but_no_secret(connection, endpoint, eventually):
    ask(connection, endpoint, path="/api/v1/responses?api_key=secret", body=b"a secret question").read()
    eventually(lambda: endpoint.records)
    (record,) = endpoint.records
    assert (record.method, record.path, record.status, record.forwarded) == (
        "POST",
        "/api/v1/responses",
        200,
        True,
    )
    assert record.at.tzinfo is not None
    assert 0 <= record.duration_seconds < 10
    assert "secret" not in repr(record)


def test_the_key_shows_up_nowhere(provider, tmp_path, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "model.sock"
    with ModelEndpoint(provider.url, KEY, path) as endpoint:
        connection = UnixConnection(path)
        ask(connection, endpoint).read()
        connection.close()
        texts = [repr(endpoint), str(endpoint), repr(endpoint.records), repr(endpoint._provider)]
        with pytest.raises(HostError) as clash, ModelEndpoint(provider.url, KEY, path):
            pass
    texts += ["".join(traceback.format_exception(clash.value)), caplog.text, *capsys.readouterr()]
    assert KEY in str(provider.seen), "it went where it should"
    assert not any(KEY in text for text in texts)


def test_a_key_that_the_provider_echoes_does_not_come_back(endpoint, provider):
    def accuse(handler, body):
        handler.send_response(401, f"Unauthorized {KEY}")
        for name, value in (("X-Key", KEY), ("X-Basic", b64encode(f"user:{KEY}".encode()).decode())):
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(KEY) + 1))
        handler.end_headers()
        for character in KEY:
            handler.wfile.write(character.encode())
            handler.wfile.flush()
            time.sleep(0.01)
        handler.wfile.write(b".")

    provider.answer = accuse
    request = f"GET /api/v1/x HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {endpoint.token}\r\n\r\n"
    answer = raw(endpoint, request.encode())
    assert answer.endswith(b"\r\n\r\n[secret]******.")
    assert answer.count(b"[secret]") == 4
    assert b"canary" not in answer


def test_half_a_key_in_a_cut_answer_does_not_come_back(endpoint, provider):
    def cut(handler, body):
        handler.close_connection = True
        handler.start(("Content-Length", "100"))
        handler.wfile.write(b"wrong key " + KEY[:-1].encode())

    provider.answer = cut
    request = f"GET /api/v1/x HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {endpoint.token}\r\n\r\n"
    assert raw(endpoint, request.encode()).endswith(b"\r\n\r\nwrong key ")


def test_answers_in_which_a_key_could_hide_are_neither_asked_for_nor_passed_on(connection, endpoint, provider):
    def compress(handler, body):
        content = gzip.compress(KEY.encode())
        handler.start(("Content-Encoding", "gzip"), ("Content-Length", str(len(content))))
        handler.wfile.write(content)

    provider.answer = compress
    response = ask(connection, endpoint, **{"Accept-Encoding": "gzip", "Range": "bytes=0-3"})
    assert response.status == 502
    assert "encodes" in json.loads(response.read())["error"]["message"]
    headers = provider.seen[0][2]
    assert (headers["Accept-Encoding"], headers.get("Range")) == ("identity", None)


@pytest.mark.parametrize("key", ["", "sk canary", "sk-canary\nX: y", "sk-canary\xe9"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(tmp_path, key):
    with pytest.raises(InputError) as refused:
        ModelEndpoint("http://127.0.0.1/v1", key, tmp_path / "model.sock")
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h/v1",
        "h/v1",
        "http://",
        "http://h:99999/v1",
        "http://u:canary@h/v1",
        "http://h/v1?key=canary",
        "http://[h/v1",
    ],
)
def test_a_base_url_of_another_kind_is_refused_and_not_repeated(tmp_path, url):
    with pytest.raises(InputError) as refused:
        ModelEndpoint(url, None, tmp_path / "model.sock")
    assert "canary" not in str(refused.value)


def test_a_path_too_long_for_a_socket_is_refused(tmp_path):
    with (
        pytest.raises(HostError, match="107 bytes"),
        ModelEndpoint("http://h/v1", None, tmp_path / ("x" * 120)),
    ):
        pass


def test_every_user_who_reaches_the_socket_may_connect(endpoint: ModelEndpoint):
    assert endpoint.socket.stat().st_mode & 0o777 == 0o666


@pytest.fixture
def tls_provider(provider, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    provider.socket = context.wrap_socket(provider.socket, server_side=True)
    return f"https://localhost:{provider.server_address[1]}/api/v1", certificate


def ask_over_tls(url: str, path: Path):
    with ModelEndpoint(url, KEY, path) as endpoint:
        connection = UnixConnection(path)
        response = ask(connection, endpoint, body=b"question")
        answer = response.status, response.read()
        connection.close()
    return answer


def test_a_provider_over_tls_is_reached(tls_provider, tmp_path, monkeypatch, provider):
    url, certificate = tls_provider
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ask_over_tls(url, tmp_path / "model.sock") == (200, b"question")
    assert provider.seen[0][2]["Authorization"] == f"Bearer {KEY}"


def test_a_provider_whose_certificate_is_unknown_gets_nothing(tls_provider, tmp_path, provider):
    url, _ = tls_provider
    status, body = ask_over_tls(url, tmp_path / "model.sock")
    assert status == 502
    assert b"cannot connect" in body
    assert provider.seen == []
