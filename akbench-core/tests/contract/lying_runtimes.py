"""Runtimes that break the contract in one point each. `fails` names the one contract test that must catch them."""

# ruff: noqa: N801, RUF012 - a liar is a class within the class that catches it

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from akbench.descriptors.document import parse
from akbench.descriptors.kinds import RuntimeDescriptor
from akbench.descriptors.snapshot import load_document
from akbench.spec import (
    ConfigState,
    Health,
    InputError,
    Invocation,
    Probe,
    Problem,
    RunningProcess,
    Runtime,
    RuntimeEvent,
    RuntimeState,
    VerificationStatus,
)
from akbench.testing import RuntimeContract, RuntimeLimits

SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(sys.argv[2].encode())
    def log_message(self, *args):
        pass
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


class Lies(RuntimeContract):
    fails = ""
    limits = RuntimeLimits(call=4.0, start=20.0, stop=2.0)
    trial = {
        "config": {"label": "plain"},
        "other_config": {"label": "other"},
        "wrong": [{"label": ""}],
        "verified": ["label"],
    }

    @classmethod
    def read_descriptor(cls):
        schema = {"label": {"type": "string", "required": True}}
        part = {"adapter": "liar", "type": "router", "configuration_schema": schema}
        data = {"schema_version": "1.0", "id": "liar", "version": "1.0.0", "runtime": part}
        return load_document(parse(json.dumps(data), "liar.yaml"), RuntimeDescriptor, origin="liar")


@dataclass
class Instance:
    port: int
    process: RunningProcess
    label: str


class Router(Runtime[Instance]):
    """A server that tells its own configuration."""

    def probe(self, context):
        return Probe(version="1")

    def start(self, request, host):
        label = request.config.get("label")
        if not isinstance(label, str) or not label:
            raise InputError("label: give a text")
        argv = ("python3", "-c", SERVER, str(request.port), json.dumps({"label": label}))
        return Instance(request.port, host.start(Invocation(argv=argv)), label)

    def asked(self, instance):
        with urllib.request.urlopen(f"http://127.0.0.1:{instance.port}/", timeout=2) as answer:
            return json.load(answer)

    def healthcheck(self, instance):
        try:
            self.asked(instance)
        except (OSError, ValueError) as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail="it answers")

    def read_configuration(self, instance):
        return self.asked(instance)

    def collect_runtime_state(self, instance):
        return RuntimeState(events=(RuntimeEvent(kind="ran", text="ran", at=datetime.now(UTC)),))

    def stop(self, instance):
        instance.process.stop()
        instance.process.wait(10)

    def model_url(self, instance):
        return f"http://127.0.0.1:{instance.port}"


class TestHonestRuntime(Lies):
    adapter = Router


class TestRuntimeMendless(Lies):
    fails = "test_the_probe_answers"

    class adapter(Router):
        def probe(self, context):
            return Probe(version=None, problems=(Problem(message="missing", mend=""),))


class TestRuntimeNeverWell(Lies):
    fails = "test_an_instance_starts_and_becomes_well"
    limits = RuntimeLimits(call=4.0, start=1.0, stop=2.0)

    class adapter(Router):
        def healthcheck(self, instance):
            return Health(ok=False, detail="so so")


class TestRuntimeTakesAll(Lies):
    fails = "test_a_wrong_configuration_is_refused_with_a_message"

    class adapter(Router):
        def start(self, request, host):
            label = str(request.config.get("label")) or "none"
            argv = ("python3", "-c", SERVER, str(request.port), json.dumps({"label": label}))
            return Instance(request.port, host.start(Invocation(argv=argv)), label)


class TestRuntimeTellsNothing(Lies):
    """Does not tell what it is said to tell."""

    fails = "test_the_configuration_is_read_back"

    class adapter(Router):
        def read_configuration(self, instance):
            return {}


class TestRuntimeNods(Lies):
    """Calls everything verified."""

    fails = "test_a_difference_is_noticed"

    class adapter(Router):
        def verify_configuration(self, instance, expected):
            return tuple(
                ConfigState(key=key, requested=value, effective=value, status=VerificationStatus.VERIFIED)
                for key, value in expected.items()
            )


class TestRuntimeAlwaysWell(Lies):
    """Is well, whatever became of its instance; it asks only until it came up."""

    fails = "test_health_is_asked_of_the_instance"

    class adapter(Router):
        def start(self, request, host):
            instance = super().start(request, host)
            while not super().healthcheck(instance).ok:
                instance.process.wait(0.05)
            return instance

        def healthcheck(self, instance):
            return Health(ok=True, detail="as ever")


class TestRuntimeRecites(Lies):
    """Repeats what it was told instead of asking."""

    fails = "test_the_configuration_is_asked_of_the_instance"

    class adapter(Router):
        def read_configuration(self, instance):
            return {"label": instance.label}


class TestRuntimeShares(Lies):
    """Stops every instance with one."""

    fails = "test_instances_do_not_share"

    class adapter(Router):
        instances = []

        def start(self, request, host):
            instance = super().start(request, host)
            self.instances.append(instance)
            return instance

        def stop(self, instance):
            for each in self.instances:
                super().stop(each)


class TestRuntimeWithoutZone(Lies):
    fails = "test_what_it_did_is_collected"

    class adapter(Router):
        def collect_runtime_state(self, instance):
            now = datetime.now(UTC).replace(tzinfo=None)
            return RuntimeState(events=(RuntimeEvent(kind="ran", text="ran", at=now),))


class TestRuntimeElsewhere(Lies):
    """Names an address where nobody answers."""

    fails = "test_an_agent_can_be_carried"

    class adapter(Router):
        def model_url(self, instance):
            return "http://127.0.0.1:1"


class TestRuntimeNeverStops(Lies):
    fails = "test_stopping_ends_it"

    class adapter(Router):
        def stop(self, instance):
            pass


class TestRuntimeLeavesDaemon(Lies):
    fails = "test_nothing_is_left"

    class adapter(Router):
        def start(self, request, host):
            instance = super().start(request, host)
            subprocess.run(["sh", "-c", "setsid sleep 294 >/dev/null 2>&1 &"], check=True)
            return instance


class TestRuntimeStrays(Lies):
    fails = "test_files_stay_in_its_folders"

    class adapter(Router):
        def start(self, request, host):
            Path("router.log").write_text("started")
            return super().start(request, host)
