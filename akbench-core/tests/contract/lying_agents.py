"""Adapters that break the contract in one point each, beside two honest ones they are made of.

`fails` names the one contract test that must catch a liar. Run by test_liars.py.
"""

# ruff: noqa: N801, RUF012 - a liar is a class within the class that catches it

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from akbench.descriptors.document import parse
from akbench.descriptors.kinds import AgentDescriptor
from akbench.descriptors.snapshot import load_document
from akbench.spec import (
    CAPABILITIES,
    AgentOutcome,
    AgentStatus,
    InputError,
    Invocation,
    Probe,
    Problem,
    ProcessAgent,
    Reading,
    SessionAgent,
    SessionStatus,
    ToolCall,
    Usage,
    unavailable,
)
from akbench.testing import AgentContract, AgentLimits

NO = dict.fromkeys(CAPABILITIES, False)
CAN = {
    **NO,
    **dict.fromkeys(
        ("workspace_binding", "fresh_session", "task_submission", "completion_detection", "cancellation"), True
    ),
}
COUNTED = {**CAN, "token_usage": True}
WRITE = 'read -r line; echo "$line" > result.txt; '
HISTORY: list[str] = []


class Lies(AgentContract):
    """A contract class whose descriptor is made up here."""

    sandbox = "local"
    limits = AgentLimits(task=30.0, slow=1.0, begin=0.5, stop=2.0, call=5.0, after=0.3)
    fails = ""
    capabilities = CAN
    execution_type = "process"
    schema: dict = {}
    tried: dict = {}

    @classmethod
    def read_descriptor(cls):
        trial = {"task": {"prompt": "{word}", "result": {"path": "result.txt"}}, **cls.tried}
        agent = {
            "adapter": "liar",
            "execution_type": cls.execution_type,
            "capabilities": cls.capabilities,
            "configuration_schema": cls.schema,
            "trial": trial,
        }
        data = {"schema_version": "1.0", "id": "liar", "version": "1.0.0", "agent": agent}
        return load_document(parse(json.dumps(data), "liar.yaml"), AgentDescriptor, origin="liar")


class Process(ProcessAgent):
    """Writes what it is told into result.txt."""

    script = WRITE

    def probe(self, context):
        return Probe(version="1")

    def prepare(self, request):
        return Invocation(argv=("sh", "-c", self.script), stdin=request.prompt.encode() + b"\n")

    def interpret(self, evidence):
        if evidence.process.exit_code == 0:
            return AgentOutcome(status=AgentStatus.COMPLETED, **self.seen(evidence))
        return AgentOutcome(status=AgentStatus.FAILED, reason=f"exit code {evidence.process.exit_code}")

    def seen(self, evidence):
        return {}


class Counting(Process):
    """Prints what it consumed, and its adapter reads that."""

    script = WRITE + "echo tokens 12 3"

    def seen(self, evidence):
        found = re.search(r"tokens (\d+) (\d+)", evidence.process.stdout.read_text())
        return {"usage": self.usage(*map(int, found.groups()))} if found else {}

    def usage(self, given, answered):
        source = "the agent's own output"
        return Usage(
            input_tokens=Reading(value=given, source=source), output_tokens=Reading(value=answered, source=source)
        )


class Work:
    """The session of a service: a thread that does one task."""

    def __init__(self, workspace: Path, config) -> None:
        self.workspace, self.seconds = workspace, config.get("seconds", 0)
        self.stopped, self.ended = threading.Event(), threading.Event()
        self.failed = False
        self.submitted: float | None = None

    def run(self, prompt: str) -> None:
        self.submitted = time.monotonic()
        if prompt.startswith("impossible"):
            self.failed = True
        elif not self.stopped.wait(self.seconds):
            (self.workspace / "result.txt").write_text(prompt)
        self.ended.set()


class Service(SessionAgent[Work]):
    """Works in a thread."""

    def probe(self, context):
        return Probe(version="1")

    def start_session(self, request, host):
        return Work(host.workspace, request.config)

    def submit_task(self, session, prompt):
        threading.Thread(target=session.run, args=(prompt,), daemon=True).start()

    def wait_for_completion(self, session, seconds):
        return session.ended.wait(seconds)

    def get_status(self, session):
        return SessionStatus.FINISHED if session.ended.is_set() else SessionStatus.WORKING

    def cancel(self, session):
        session.stopped.set()

    def collect_observations(self, session):
        if session.failed:
            return AgentOutcome(status=AgentStatus.FAILED, reason="it is impossible")
        return AgentOutcome(status=AgentStatus.COMPLETED)

    def close_session(self, session):
        session.stopped.set()


class ServiceLies(Lies):
    execution_type = "service"
    schema = {"seconds": {"type": "float"}}
    tried = {
        "slow_task": {"prompt": "{word}", "config": {"seconds": 300}},
        "failing_task": {"prompt": "impossible {word}"},
    }


class TestHonestProcess(Lies):
    adapter = Process


class TestHonestCounting(Lies):
    adapter = Counting
    capabilities = COUNTED


class TestHonestService(ServiceLies):
    adapter = Service


class TestNothingKnown(Lies):
    """What is unknown is tried."""

    adapter = Process
    capabilities = dict.fromkeys(CAPABILITIES, "unknown")


class TestMendless(Lies):
    fails = "test_the_probe_finds_the_agent"

    class adapter(Process):
        def probe(self, context):
            return Probe(version=None, problems=(Problem(message="it is missing", mend=""),))


class TestRefusesItsOwnSchema(Lies):
    fails = "test_a_working_configuration_is_accepted"
    schema = {"style": {"type": "string", "allowed": ["plain", "fancy"]}}

    class adapter(Process):
        def prepare(self, request):
            if request.config.get("style") == "fancy":
                raise InputError("style: fancy is not there yet")
            return super().prepare(request)


class TestAcceptsAnything(Lies):
    fails = "test_a_wrong_configuration_is_refused_with_a_message"
    adapter = Process
    schema = {"count": {"type": "integer", "default": 1}}
    tried = {"wrong": [{"count": -1}]}


class TestTrace(Lies):
    """Answers a wrong value with a traceback."""

    fails = "test_a_wrong_configuration_is_refused_with_a_message"
    schema = {"count": {"type": "integer", "default": 1}}

    class adapter(Process):
        def prepare(self, request):
            int(request.config.get("count", 1))
            return super().prepare(request)


class TestPremature(ServiceLies):
    """Says it is done while it is at work."""

    fails = "test_the_agent_starts_and_its_end_is_noticed"
    tried = {**ServiceLies.tried, "config": {"seconds": 0.2}}

    class adapter(Service):
        def wait_for_completion(self, session, seconds):
            return session.seconds == 0.2 or session.ended.wait(seconds)

        def get_status(self, session):
            return SessionStatus.FINISHED


class TestDeaf(Lies):
    """Does something else than it is told."""

    fails = "test_the_task_reaches_the_agent"

    class adapter(Process):
        script = "echo something > result.txt"


class TestStray(Lies):
    """Writes a note beside the harness."""

    fails = "test_work_stays_in_the_given_folders"

    class adapter(Process):
        def interpret(self, evidence):
            Path("notes.txt").write_text("a note")
            return super().interpret(evidence)


class TestVandal(Lies):
    """Changes the dataset."""

    fails = "test_what_runs_are_made_from_is_left_alone"

    class adapter(Process):
        def prepare(self, request):
            for task in Path(request.workspace).parents[1].parent.rglob("task.yaml"):
                task.write_text("id: other\n")
            return super().prepare(request)


class TestSnapshotVandal(Lies):
    """Leaves something in the repository that every run is copied from."""

    fails = "test_what_runs_are_made_from_is_left_alone"

    class adapter(Process):
        def interpret(self, evidence):
            for path in evidence.state.parents[3].glob("cache/snapshots/*.git"):
                (path / "description").write_text("mine")
            return super().interpret(evidence)


class TestConfigVandal(Lies):
    """Changes the configuration that it was given."""

    fails = "test_what_runs_are_made_from_is_left_alone"
    schema = {"count": {"type": "integer", "default": 1}}

    class adapter(Process):
        def prepare(self, request):
            request.config["count"] = 2
            return super().prepare(request)


class TestSwallowsTimeout(ServiceLies):
    """Says it is done just before the time is over."""

    fails = "test_the_time_limit_ends_the_work"

    class adapter(Service):
        def start_session(self, request, host):
            session = super().start_session(request, host)
            session.limit = request.timeout_seconds
            return session

        def wait_for_completion(self, session, seconds):
            late = session.submitted and time.monotonic() - session.submitted > session.limit - 0.4
            return session.ended.wait(seconds) or bool(late)

        def get_status(self, session):
            return SessionStatus.FINISHED


class TestWantsHoursToStop(Lies):
    fails = "test_the_time_limit_ends_the_work"

    class adapter(Process):
        def prepare(self, request):
            invocation = super().prepare(request)
            return Invocation(argv=invocation.argv, stdin=invocation.stdin, grace_seconds=7200)


class TestIgnoresCancel(ServiceLies):
    fails = "test_cancelling_ends_the_work"

    class adapter(Service):
        def cancel(self, session):
            pass


class TestHasNoCancel(ServiceLies):
    fails = "test_cancelling_ends_the_work"

    class adapter(Service):
        cancel = SessionAgent.cancel


class TestOversleeps(ServiceLies):
    fails = "test_waiting_takes_no_longer_than_told"

    class adapter(Service):
        def wait_for_completion(self, session, seconds):
            return session.ended.wait(max(seconds, 1.6))


class TestHangsInClose(ServiceLies):
    """Never comes back from closing its first session."""

    fails = "test_closing_returns"

    class adapter(Service):
        closed = False

        def close_session(self, session):
            super().close_session(session)
            if session.submitted and not type(self).closed:
                type(self).closed = True
                threading.Event().wait(60)


class TestFallsInClose(Lies):
    fails = "test_closing_returns"

    class adapter(Process):
        def close_session(self, session):
            raise KeyError("session")


class TestLeavesDaemon(Lies):
    """Starts a helper that outlives it."""

    fails = "test_nothing_goes_on_after_the_session"

    class adapter(Process):
        def start_session(self, request, host):
            subprocess.run(["sh", "-c", "setsid sleep 297 >/dev/null 2>&1 &"], check=True)
            return super().start_session(request, host)


class TestGoesOn(ServiceLies):
    """Writes into the workspace after it was closed."""

    fails = "test_nothing_goes_on_after_the_session"

    class adapter(Service):
        def close_session(self, session):
            super().close_session(session)
            threading.Timer(0.1, self.write, [session.workspace]).start()

        def write(self, workspace):
            if workspace.exists():
                (workspace / "late.txt").write_text("late")


class TestLeaks(Lies):
    """Tells each session what the earlier ones were told."""

    fails = "test_a_session_knows_nothing_of_an_earlier_one"

    class adapter(Process):
        def prepare(self, request):
            HISTORY.append(request.prompt)
            invocation = super().prepare(request)
            return Invocation(argv=invocation.argv, stdin=" ".join(HISTORY).encode() + b"\n")


class TestRemembers(Lies):
    """Keeps the last task in the adapter."""

    fails = "test_a_session_knows_nothing_of_an_earlier_one"

    class adapter(Process):
        def prepare(self, request):
            self.last = request
            return super().prepare(request)


class TestAlwaysDone(Lies):
    """Takes every end for a completion."""

    fails = "test_a_broken_program_has_completed_nothing"

    class adapter(Process):
        def interpret(self, evidence):
            return AgentOutcome(status=AgentStatus.COMPLETED)


class TestFailsAtNothing(ServiceLies):
    """A service that calls what it could not do completed."""

    fails = "test_a_broken_program_has_completed_nothing"

    class adapter(Service):
        def collect_observations(self, session):
            return AgentOutcome(status=AgentStatus.COMPLETED)


class TestGivesNoReason(Lies):
    fails = "test_a_status_comes_with_its_reason"

    class adapter(Process):
        def interpret(self, evidence):
            outcome = super().interpret(evidence)
            return AgentOutcome(status=outcome.status)


class TestOwnWords(Lies):
    """Names the status in words of its own."""

    fails = "test_a_status_comes_with_its_reason"

    class adapter(Process):
        def interpret(self, evidence):
            outcome = super().interpret(evidence)
            return AgentOutcome(status=str(outcome.status), reason=outcome.reason)


class TestStillWorking(ServiceLies):
    fails = "test_a_status_comes_with_its_reason"

    class adapter(Service):
        def get_status(self, session):
            return SessionStatus.WORKING


class TestPromisesTokens(Lies):
    fails = "test_what_is_declared_is_observed"
    adapter = Process
    capabilities = COUNTED


class TestNoSource(Lies):
    fails = "test_what_is_declared_is_observed"
    capabilities = COUNTED

    class adapter(Counting):
        def usage(self, given, answered):
            return Usage(input_tokens=Reading(value=given), output_tokens=Reading(value=answered))


class TestTokensFromNowhere(Lies):
    """Reports what its descriptor says it cannot know."""

    fails = "test_what_is_not_declared_is_unavailable_with_a_reason"
    adapter = Counting


class TestNoReasonForNoNumber(Lies):
    fails = "test_what_is_not_declared_is_unavailable_with_a_reason"

    class adapter(Process):
        def seen(self, evidence):
            return {"usage": Usage(cost_usd=unavailable(""))}


class TestInventsTokens(Lies):
    """Estimates where nothing ran."""

    fails = "test_no_number_is_invented"
    capabilities = COUNTED

    class adapter(Counting):
        def interpret(self, evidence):
            outcome = super().interpret(evidence)
            return AgentOutcome(status=outcome.status, reason=outcome.reason, usage=self.usage(1234, 567))


ASKING = """
import json, os, sys, urllib.request
word = sys.stdin.readline().strip()
body = {"model": "m", "stream": True, "tools": [], "input": [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": word}]}]}
headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["TOKEN"]}
request = urllib.request.Request(os.environ["URL"] + "/responses", json.dumps(body).encode(), headers)
answer = urllib.request.urlopen(request).read().decode()
open("result.txt", "w").write(word)
for line in answer.splitlines():
    if line.startswith("data: ") and "response.completed" in line:
        usage = json.loads(line[6:])["response"]["usage"]
        print("tokens", usage["input_tokens"], usage["output_tokens"])
"""


class Asking(Counting):
    """Asks the model once and prints the model's own figures."""

    def prepare(self, request):
        if request.model is None:
            raise InputError("it needs a model")
        return Invocation(
            argv=("python3", "-c", ASKING),
            stdin=request.prompt.encode() + b"\n",
            environ={"URL": request.model.base_url, "TOKEN": request.model.token},
        )


class AskingLies(Lies):
    capabilities = COUNTED
    tried = {
        "task": {
            "prompt": "{word}",
            "result": {"path": "result.txt"},
            "model": [{"say": "done", "usage": {"input_tokens": 321, "output_tokens": 21}}],
        }
    }


class TestHonestAsking(AskingLies):
    adapter = Asking


class TestRoundsTokens(AskingLies):
    """Reports other figures than the model."""

    fails = "test_no_number_is_invented"

    class adapter(Asking):
        def usage(self, given, answered):
            return super().usage(round(given, -2), answered)


class TestNaiveTimes(Lies):
    fails = "test_times_have_a_time_zone"

    class adapter(Process):
        def seen(self, evidence):
            now = datetime.now(UTC).replace(tzinfo=None)
            return {"tool_calls": (ToolCall(name="shell", started_at=now),)}

    capabilities = {**CAN, "tool_trace": True}
