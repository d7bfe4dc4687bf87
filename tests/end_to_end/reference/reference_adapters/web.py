"""JSON over HTTP, both ways: what the servers and the adapters here share."""

import json
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def ask(url, method="GET", body=None, headers=None):
    """The JSON answer to a JSON request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=dict(headers or {}))
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or b"null")


def serve(port, answer):
    """Serve until killed: `answer(method, path, body, headers)` gives the status and the JSON of each request."""

    class Handler(BaseHTTPRequestHandler):
        def handle_one(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"null")
            status, found = answer(self.command, self.path, body, self.headers)
            text = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = handle_one  # noqa: N815 (names of http.server)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
