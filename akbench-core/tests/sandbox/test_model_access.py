"""From inside a sandbox to the model endpoint, and nowhere else."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from akbench.sandbox.endpoint import ModelEndpoint

KEY = "sk-canary-77b1"

CLIENT = """
import json, sys
from http.client import HTTPConnection
port, token = sys.argv[1:]
def ask(path, token):
    connection = HTTPConnection("127.0.0.1", int(port), timeout=20)
    connection.request("POST", path, body=b"x" * 300000, headers={"Authorization": "Bearer " + token})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return [response.status, len(body)]
print(json.dumps([ask("/v1/responses", token), ask("/v1/responses", "guess")[0], ask("/admin", token)[0]]))
"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        self.server.keys.append(self.headers["Authorization"])
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def provider():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.keys = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_endpoint_is_reached_with_the_token_and_for_its_paths_only(run, provider, tmp_path):
    url = f"http://127.0.0.1:{provider.server_address[1]}/v1"
    port = run.sandbox.model_port()
    with ModelEndpoint(url, KEY, tmp_path / "model.sock") as endpoint:
        ran = run.python(
            "import sys; " + CLIENT.strip().replace("sys.argv[1:]", repr([str(port), endpoint.token])),
            model_socket=endpoint.socket,
            model_port=port,
        )
    records = endpoint.records
    assert (ran.evidence.exit_code, ran.err) == (0, "")
    assert json.loads(ran.out) == [[200, 300_000], 401, 403]
    assert provider.keys == [f"Bearer {KEY}"]
    assert sorted(record.status for record in records) == [200, 401, 403]


def test_many_requests_at_once_pass_the_forwarder(run, provider, tmp_path):
    url = f"http://127.0.0.1:{provider.server_address[1]}/v1"
    port = run.sandbox.model_port()
    script = """
import threading
from http.client import HTTPConnection
done = []
def ask(index):
    connection = HTTPConnection("127.0.0.1", %d, timeout=20)
    for _ in range(5):
        connection.request("POST", "/v1/x", body=str(index), headers={"Authorization": "Bearer %s"})
        done.append(connection.getresponse().read() == str(index).encode())
    connection.close()
threads = [threading.Thread(target=ask, args=(index,)) for index in range(10)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(done), all(done))
"""
    with ModelEndpoint(url, KEY, tmp_path / "model.sock") as endpoint:
        ran = run.python(script % (port, endpoint.token), model_socket=endpoint.socket, model_port=port)
    assert ran.out == "50 True\n"


def test_an_endpoint_that_is_closed_ends_the_connection(run, tmp_path):
    with ModelEndpoint("http://127.0.0.1:9/v1", None, tmp_path / "model.sock"):
        pass
    (tmp_path / "model.sock").touch()
    port = run.sandbox.model_port()
    script = f"import socket; s = socket.create_connection(('127.0.0.1', {port}), 10); print(s.recv(1))"
    ran = run.python(script, model_socket=tmp_path / "model.sock", model_port=port)
    assert ran.out == "b''\n"


@pytest.mark.bubblewrap
def test_without_a_model_nothing_listens(confined):
    script = "import socket; socket.create_connection(('127.0.0.1', 8080))"
    assert "ConnectionRefusedError" in confined.python(script).err


@pytest.mark.bubblewrap
def test_what_the_process_learns_of_the_endpoint_is_a_socket_without_a_host_path(confined, provider, tmp_path):
    url = f"http://127.0.0.1:{provider.server_address[1]}/v1"
    with ModelEndpoint(url, KEY, tmp_path / "model.sock") as endpoint:
        ran = confined.shell(
            "ls /ak; grep -c '[c]anary' /proc/*/environ /proc/*/cmdline 2>/dev/null",
            model_socket=endpoint.socket,
            model_port=8080,
        )
    assert ran.out.split()[:2] == ["model.sock", "warden.py"]
    assert not any(line.endswith(":1") for line in ran.out.splitlines())
