"""A runtime that carries the agent itself: it runs it under a wrapper that tells the agent where it is."""

from dataclasses import dataclass, replace

from akbench.spec import Health, Probe, Runtime, RuntimeState

WRAPPER = 'echo "carried in $BERTH" >&2; exec "$@"'


@dataclass
class Berth:
    name: str


class Carrier(Runtime):
    def probe(self, context):
        return Probe(version="1.0")

    def start(self, request, host):
        return Berth(name=request.config["berth"])

    def healthcheck(self, instance):
        return Health(ok=True, detail="nothing runs beside the agent")

    def read_configuration(self, instance):
        return {}

    def collect_runtime_state(self, instance):
        return RuntimeState()

    def stop(self, instance):
        pass

    def launch(self, instance, invocation):
        return replace(
            invocation,
            argv=("sh", "-c", WRAPPER, "carrier", *invocation.argv),
            environ={**invocation.environ, "BERTH": instance.name},
        )
