"""The adapter of a plugin of the router: it marks requests, and the router's log shows the marks."""

from akbench.spec import (
    ConfigState,
    Plugin,
    PluginFinding,
    Probe,
    Reading,
    VerificationStatus,
)


class Annotator(Plugin):
    def probe(self, context):
        return Probe(version="0.3")

    def contribute(self, config):
        return {"mark": config.get("mark", "x")} if config.get("connected", True) else {}

    def interpret(self, evidence):
        if evidence.runtime is None or not evidence.runtime.events:
            return PluginFinding(active=None, source="no request passed the router")
        marks = [event.data["mark"] for event in evidence.runtime.events]
        marked = [mark for mark in marks if mark is not None]
        state = ConfigState(
            key="mark",
            requested=evidence.config.get("mark", "x"),
            observed=marked[0] if marked else None,
            status=VerificationStatus.VERIFIED if marked else VerificationStatus.MISMATCH,
            source="the router's log",
        )
        return PluginFinding(
            active=bool(marked),
            source="the router's log",
            config=(state,),
            metrics={"annotated_requests": Reading(value=len(marked), source="the router's log")},
        )
