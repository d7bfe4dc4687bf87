"""The adapter of the router."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from akbench.spec import (
    Artifact,
    Health,
    InputError,
    Invocation,
    Probe,
    RunningProcess,
    Runtime,
    RuntimeEvent,
    RuntimeState,
)
from reference_adapters.web import ask

SERVER = Path(__file__).with_name("switchboard_server.py")


@dataclass
class Instance:
    url: str
    state: Path
    process: RunningProcess


class Switchboard(Runtime):
    def probe(self, context):
        return Probe(version="4.0")

    def start(self, request, host):
        log = host.state / "requests.jsonl"
        log.touch()
        if request.provider is None:
            raise InputError("the switchboard needs a provider")
        process = host.start(
            Invocation(
                argv=(sys.executable, str(SERVER), str(request.port), str(host.state / "config.json"), str(log)),
                environ={
                    "PROVIDER_URL": request.provider.base_url,
                    **({"PROVIDER_KEY": request.provider.key} if request.provider.key else {}),
                },
                files={"config.json": json.dumps(dict(request.config)).encode()},
            )
        )
        return Instance(url=f"http://127.0.0.1:{request.port}", state=host.state, process=process)

    def healthcheck(self, instance):
        try:
            ask(f"{instance.url}/health")
        except OSError as error:
            return Health(ok=False, detail=str(error))
        return Health(ok=True, detail="answers")

    def read_configuration(self, instance):
        return ask(f"{instance.url}/config")

    def collect_runtime_state(self, instance):
        notes = [json.loads(line) for line in (instance.state / "requests.jsonl").read_text().splitlines()]
        events = [
            RuntimeEvent(
                kind="model_request",
                text=note["model"],
                at=datetime.fromtimestamp(note["at"], UTC),
                data={"mark": note["mark"]},
            )
            for note in notes
        ]
        return RuntimeState(
            version="4.0",
            events=tuple(events),
            models=tuple(dict.fromkeys(note["model"] for note in notes)),
            artifacts=(Artifact(path="requests.jsonl", name="requests.jsonl", media_type="application/jsonl"),),
        )

    def stop(self, instance):
        instance.process.stop()

    def model_url(self, instance):
        return instance.url
