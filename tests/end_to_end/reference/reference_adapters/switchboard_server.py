"""A router: passes model requests on, counts them in its log, and tells its configuration.

Its configuration is a JSON file; `label` goes upstream as a header, `mark` (of a plugin) is noted with each.
"""

import json
import os
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONFIG = json.loads(Path(sys.argv[2]).read_text())
LOG = Path(sys.argv[3])
if CONFIG.get("ignores"):
    CONFIG["label"] = "its own"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(200, json.dumps(CONFIG if self.path == "/config" else {"well": True}).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        upstream = os.environ["PROVIDER_URL"] + self.path
        headers = {"Content-Type": "application/json", "X-Label": CONFIG["label"]}
        note = {"at": time.time(), "model": json.loads(body)["model"], "mark": CONFIG.get("mark")}
        with LOG.open("a") as log:
            log.write(json.dumps(note) + "\n")
        with urllib.request.urlopen(urllib.request.Request(upstream, data=body, headers=headers)) as answer:
            self.reply(answer.status, answer.read(), answer.headers["Content-Type"])
        if CONFIG.get("dies"):
            os._exit(3)

    def reply(self, status, content, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


print("key is", os.environ.get("PROVIDER_KEY"), flush=True)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
