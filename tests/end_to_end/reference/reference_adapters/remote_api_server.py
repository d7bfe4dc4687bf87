"""An agent behind an API: it is sent the files and a prompt, works on a copy of its own, and gives back its changes.

POST /tasks {prompt, files, seconds} -> {id}; GET /tasks/ID -> {state}; GET /tasks/ID/changes; DELETE /tasks/ID.
"""

import itertools
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference_adapters.web import serve

NUMBERS = itertools.count(1)
TASKS = {}


class Task:
    def __init__(self, body):
        self.body, self.state, self.changes = body, "working", {}
        self.stop = threading.Event()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        if self.stop.wait(self.body["seconds"]):
            self.state = "cancelled"
            return
        for name, text in self.body["files"].items():
            fixed = text.replace('names[0]}!"\n', 'names[-1]}!"\n')
            if fixed != text and "name both" in self.body["prompt"]:
                self.changes[name] = fixed
        self.state = "done"


def answer(method, path, body, headers):
    if headers.get("Authorization") != "Bearer let-me-in":
        return 401, {"error": "no such key"}
    if (method, path) == ("GET", "/version"):
        return 200, {"version": "2.4.1"}
    if (method, path) == ("POST", "/tasks"):
        number = str(next(NUMBERS))
        TASKS[number] = Task(body)
        return 200, {"id": number}
    number, _, what = path.removeprefix("/tasks/").partition("/")
    task = TASKS.get(number)
    if task is None:
        return 404, {"error": "no such task"}
    if method == "DELETE":
        task.stop.set()
        return 200, {}
    return 200, task.changes if what == "changes" else {"state": task.state, "tokens": 321}


serve(int(sys.argv[1]), answer)
