"""The adapter of an agent that runs all the time: one session of the service for each run."""

import time
from dataclasses import dataclass

from akbench.spec import (
    AgentOutcome,
    AgentStatus,
    Probe,
    Problem,
    SessionAgent,
    SessionStatus,
)
from reference_adapters.web import ask


@dataclass
class Opened:
    address: str
    id: str


class LocalService(SessionAgent):
    def probe(self, context):
        try:
            return Probe(version=ask(f"{context.config['url']}/version")["version"])
        except OSError as error:
            return Probe(version=None, problems=(Problem(message=str(error), mend="start the service"),))

    def start_session(self, request, host):
        number = ask(f"{request.config['url']}/sessions", "POST", {"folder": str(host.workspace)})["id"]
        return Opened(address=f"{request.config['url']}/sessions/{number}", id=number)

    def submit_task(self, session, prompt):
        ask(session.address, "POST", {"prompt": prompt})

    def wait_for_completion(self, session, seconds):
        until = time.monotonic() + seconds
        while self.get_status(session) is not SessionStatus.FINISHED:
            if time.monotonic() >= until:
                return False
            time.sleep(min(0.05, seconds))
        return True

    def get_status(self, session):
        state = ask(session.address)["state"]
        return SessionStatus.WORKING if state == "working" else SessionStatus.FINISHED

    def collect_observations(self, session):
        told = ask(session.address)
        if told["state"] != "done":
            return AgentOutcome(status=AgentStatus.FAILED, reason=f"the service says {told['state']}")
        return AgentOutcome(
            status=AgentStatus.COMPLETED, session_id=session.id, final_message=f"prompts: {len(told['remembers'])}"
        )

    def close_session(self, session):
        ask(session.address, "DELETE")
