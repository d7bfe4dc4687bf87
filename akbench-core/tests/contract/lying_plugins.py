"""Plugins that break the contract in one point each. `fails` names the one contract test that must catch them."""

# ruff: noqa: N801, RUF012 - a liar is a class within the class that catches it

from __future__ import annotations

import itertools
import json

from akbench.descriptors.document import parse
from akbench.descriptors.kinds import PluginDescriptor
from akbench.descriptors.snapshot import load_document
from akbench.spec import (
    InputError,
    Plugin,
    PluginEvidence,
    PluginFinding,
    Probe,
    Problem,
    Reading,
    RuntimeEvent,
    RuntimeState,
    unavailable,
)
from akbench.testing import PluginContract

WORKED = PluginEvidence(
    config={"mark": "x"},
    runtime=RuntimeState(events=(RuntimeEvent(kind="marked", text="x"),)),
    outcome=None,
)


class Lies(PluginContract):
    evidence = WORKED
    fails = ""
    trial = {"config": {"mark": "x"}, "wrong": [{"mark": ""}]}

    @classmethod
    def read_descriptor(cls):
        data = {
            "schema_version": "1.0",
            "id": "liar",
            "version": "1.0.0",
            "plugin": {
                "provider": "router",
                "type": "marking",
                "adapter": "liar",
                "configuration_schema": {"mark": {"type": "string", "required": True}},
            },
            "benchmark": {
                "activation": {"method": "configuration"},
                "verification": {"methods": ["log"]},
                "metrics": ["marks"],
            },
        }
        return load_document(parse(json.dumps(data), "liar.yaml"), PluginDescriptor, origin="liar")


class Marker(Plugin):
    """Marks requests; the router's events tell of each mark."""

    def probe(self, context):
        return Probe(version="1")

    def contribute(self, config):
        if not isinstance(config.get("mark"), str) or not config["mark"]:
            raise InputError("mark: give a text")
        return {"marks": [config["mark"]]}

    def interpret(self, evidence):
        marks = [event for event in evidence.runtime.events if event.kind == "marked"] if evidence.runtime else []
        if not marks:
            return PluginFinding(active=None, metrics={"marks": unavailable("the router tells of no mark")})
        source = "the router's events"
        return PluginFinding(active=True, source=source, metrics={"marks": Reading(value=len(marks), source=source)})


class TestHonestPlugin(Lies):
    adapter = Marker


class TestPluginProbesNothing(Lies):
    fails = "test_the_probe_answers"

    class adapter(Marker):
        def probe(self, context):
            return Probe(version=None, problems=(Problem(message="missing", mend=" "),))


class TestPluginNeverContent(Lies):
    """Contributes what no configuration can hold."""

    fails = "test_a_working_configuration_is_accepted"

    class adapter(Marker):
        def contribute(self, config):
            super().contribute(config)
            return {"marks": frozenset({"x"})}


class TestPluginTakesAll(Lies):
    fails = "test_a_wrong_configuration_is_refused_with_a_message"

    class adapter(Marker):
        def contribute(self, config):
            return {"marks": [config["mark"]]}


class TestPluginCounts(Lies):
    """Contributes something else each time."""

    fails = "test_the_contribution_depends_on_the_configuration_alone"

    class adapter(Marker):
        numbers = itertools.count()

        def contribute(self, config):
            return {**super().contribute(config), "number": next(self.numbers)}


class TestPluginBelievesItself(Lies):
    """Takes being configured for being active."""

    fails = "test_being_configured_is_no_sign_of_being_active"

    class adapter(Marker):
        def interpret(self, evidence):
            found = super().interpret(evidence)
            return PluginFinding(active=True, source="its configuration", metrics=found.metrics)


class TestPluginInvents(Lies):
    fails = "test_no_number_is_invented"

    class adapter(Marker):
        def interpret(self, evidence):
            found = super().interpret(evidence)
            return PluginFinding(active=found.active, source=found.source, metrics={"marks": Reading(value=1)})


class TestPluginTellsMore(Lies):
    fails = "test_only_declared_metrics_are_reported"

    class adapter(Marker):
        def interpret(self, evidence):
            found = super().interpret(evidence)
            more = {**found.metrics, "marks_per_second": unavailable("nobody keeps time")}
            return PluginFinding(active=found.active, source=found.source, metrics=more)


class TestPluginNeverSeesAnything(Lies):
    fails = "test_activity_is_shown_with_its_source"

    class adapter(Marker):
        def interpret(self, evidence):
            return PluginFinding(active=None)


class TestPluginRemembers(Lies):
    """Once it was active, a run that shows nothing has another finding."""

    fails = "test_a_finding_depends_on_its_evidence_alone"

    class adapter(Marker):
        seen = False

        def interpret(self, evidence):
            found = super().interpret(evidence)
            if found.active:
                self.seen = True
            return found if found.active else PluginFinding(active=False if self.seen else None, source="memory")
