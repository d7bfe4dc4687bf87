"""The adapter of an agent behind an API: submit, poll, fetch."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from akbench.spec import (
    AgentOutcome,
    AgentStatus,
    Probe,
    Problem,
    Reading,
    SessionAgent,
    Support,
    Usage,
)
from reference_adapters.web import ask


@dataclass
class Order:
    url: str
    headers: dict
    seconds: float
    workspace: Path
    id: str | None = None
    told: dict = field(default_factory=dict)


def texts(folder):
    """The text files of a folder by path, without following links."""
    found = {}
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(base, name)
            if path.is_file() and not path.is_symlink():
                found[str(path.relative_to(folder))] = path.read_text()
    return found


class RemoteApi(SessionAgent):
    def probe(self, context):
        key = context.environ.get("REMOTE_API_KEY")
        if not key:
            return Probe(version=None, problems=(Problem(message="no key", mend="set REMOTE_API_KEY"),))
        try:
            told = ask(f"{context.config['url']}/version", headers={"Authorization": f"Bearer {key}"})
        except OSError as error:
            return Probe(version=None, problems=(Problem(message=str(error), mend="start the service"),))
        return Probe(version=told["version"], capabilities={"session_export": Support.NO})

    def start_session(self, request, host):
        return Order(
            url=request.config["url"],
            headers={"Authorization": f"Bearer {request.declared['REMOTE_API_KEY']}"},
            seconds=request.config["seconds"],
            workspace=host.workspace,
        )

    def submit_task(self, session, prompt):
        body = {"prompt": prompt, "files": texts(session.workspace), "seconds": session.seconds}
        session.id = ask(f"{session.url}/tasks", "POST", body, session.headers)["id"]

    def wait_for_completion(self, session, seconds):
        until = time.monotonic() + seconds
        while True:
            session.told = ask(f"{session.url}/tasks/{session.id}", headers=session.headers)
            if session.told["state"] != "working" or time.monotonic() >= until:
                return session.told["state"] != "working"
            time.sleep(min(0.05, seconds))

    def cancel(self, session):
        ask(f"{session.url}/tasks/{session.id}", "DELETE", headers=session.headers)

    def collect_observations(self, session):
        usage = Usage(input_tokens=Reading(value=session.told["tokens"], source="the service's answer"))
        if session.told["state"] != "done":
            reason = f"the service says {session.told['state']}"
            return AgentOutcome(status=AgentStatus.FAILED, reason=reason, session_id=session.id, usage=usage)
        for name, text in ask(f"{session.url}/tasks/{session.id}/changes", headers=session.headers).items():
            (session.workspace / name).write_text(text)
        return AgentOutcome(status=AgentStatus.COMPLETED, session_id=session.id, usage=usage)

    def close_session(self, session):
        if session.id is not None:
            self.cancel(session)
