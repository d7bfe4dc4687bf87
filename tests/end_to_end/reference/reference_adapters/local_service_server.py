"""An agent that runs all the time and works on the folder it is told, in any number of sessions at once.

POST /sessions {folder} -> {id}; POST /sessions/ID {prompt}; GET /sessions/ID -> {state, remembers};
DELETE /sessions/ID.
"""

import itertools
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference_adapters.web import serve

NUMBERS = itertools.count(1)
SESSIONS = {}
MOST = [0]


class Session:
    def __init__(self, folder):
        self.folder, self.state, self.prompts = Path(folder), "idle", []
        self.stop = threading.Event()

    def submit(self, prompt):
        self.prompts.append(prompt)
        self.state = "working"
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        time.sleep(0.3)
        for path in self.folder.rglob("*.py"):
            if not self.stop.is_set():
                path.write_text(path.read_text().replace('names[0]}!"\n', 'names[-1]}!"\n'))
        self.state = "stopped" if self.stop.is_set() else "done"


def answer(method, path, body, headers):
    if (method, path) == ("GET", "/version"):
        return 200, {"version": "0.9", "open": len(SESSIONS), "most": MOST[0]}
    if (method, path) == ("POST", "/sessions"):
        number = str(next(NUMBERS))
        SESSIONS[number] = Session(body["folder"])
        MOST[0] = max(MOST[0], len(SESSIONS))
        return 200, {"id": number}
    number = path.removeprefix("/sessions/")
    session = SESSIONS.get(number)
    if session is None:
        return 404, {"error": "no such session"}
    if method == "POST":
        session.submit(body["prompt"])
    if method == "DELETE":
        session.stop.set()
        del SESSIONS[number]
    return 200, {"state": session.state, "remembers": session.prompts}


serve(int(sys.argv[1]), answer)
