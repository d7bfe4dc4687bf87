"""The contract of plugins: configured is not active, and nothing is known without evidence."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import ClassVar, cast

import pytest
from pydantic import TypeAdapter, ValidationError

from akbench.descriptors.plugin import PluginDescriptor
from akbench.descriptors.trial import PluginTrial
from akbench.experiment.configuration import complete_configuration, configuration_faults
from akbench.spec import (
    AgentOutcome,
    AgentStatus,
    JsonValue,
    Plugin,
    PluginEvidence,
    PluginFinding,
    PluginRecord,
    ProbeContext,
    RuntimeState,
)
from akbench.testing.contract.checks import Described, check_probe
from akbench.testing.contract.contract import allowed_values, raised_by, refused, wrong_values

__all__ = ["PluginContract"]


class PluginContract(Described):
    """Subclass it with a name that begins with ``Test`` and say in `descriptor` where the plugin's descriptor lies.

    `evidence` is what a run leaves in which the plugin was at work, for the tests that need one; the fixture `config`
    gives values beside the trial's.
    """

    record_kind = PluginRecord
    contract_kind = Plugin
    evidence: ClassVar[PluginEvidence | None] = None

    @pytest.fixture
    def config(self) -> Mapping[str, JsonValue]:
        """Configuration beside the trial's."""
        return {}

    @pytest.fixture
    def described(self) -> PluginDescriptor:
        """The descriptor."""
        return cast("PluginDescriptor", self.snapshot().model)

    @pytest.fixture
    def attempt(self, described: PluginDescriptor) -> PluginTrial:
        """The trial."""
        if self.trial is not None:
            return PluginTrial.model_validate(self.trial)
        return described.plugin.trial or PluginTrial()

    @pytest.fixture
    def whole(
        self, described: PluginDescriptor, attempt: PluginTrial, config: Mapping[str, JsonValue]
    ) -> dict[str, JsonValue]:
        """The working configuration with the defaults of the schema."""
        return complete_configuration(described.plugin.configuration_schema, {**attempt.config, **config})

    @pytest.fixture
    def plugin(self) -> Plugin:
        """The adapter."""
        return cast("Plugin", self.built())

    def test_the_probe_answers(self, plugin: Plugin, whole: dict[str, JsonValue]) -> None:
        """`probe` returns a `Probe`; a problem names its mend."""
        check_probe(plugin.probe(ProbeContext(config=whole, environ={}, bounded=True)))

    def test_a_working_configuration_is_accepted(
        self, plugin: Plugin, described: PluginDescriptor, whole: dict[str, JsonValue]
    ) -> None:
        """The working configuration keeps to the schema, and `contribute` takes it and each value that the schema
        names; what it returns can be written as JSON.
        """
        schema = described.plugin.configuration_schema
        assert configuration_faults("the trial", schema, whole) == []
        for config in allowed_values(schema, whole):
            error = raised_by(partial(_contribution, plugin, config))
            assert error is None, f"{config} is allowed by the schema, but contribute raises {error!r}"

    def test_a_wrong_configuration_is_refused_with_a_message(
        self, plugin: Plugin, described: PluginDescriptor, attempt: PluginTrial, whole: dict[str, JsonValue]
    ) -> None:
        """What the trial calls wrong is refused with an `InputError`; a value of another type or a missing key leads
        to nothing else than an `InputError`, if to any error.
        """
        for wrong in attempt.wrong:
            error = raised_by(partial(plugin.contribute, {**whole, **wrong}))
            assert refused(error), f"{wrong} must be refused with an InputError, not {error!r}"
        for wrong in wrong_values(described.plugin.configuration_schema, whole):
            error = raised_by(partial(plugin.contribute, wrong))
            assert error is None or refused(error), f"{wrong} must be refused with an InputError, not {error!r}"

    def test_the_contribution_depends_on_the_configuration_alone(
        self, plugin: Plugin, whole: dict[str, JsonValue]
    ) -> None:
        """The same configuration gives the same contribution, also from another instance, and stays as it was."""
        given = copy.deepcopy(whole)
        first = plugin.contribute(given)
        assert plugin.contribute(given) == first
        assert self.built().contribute(given) == first
        assert given == whole

    def test_being_configured_is_no_sign_of_being_active(self, plugin: Plugin, whole: dict[str, JsonValue]) -> None:
        """Without a word from runtime or agent `interpret` does not say that the plugin was active."""
        for evidence in _empty(whole):
            finding: object = plugin.interpret(evidence)
            assert isinstance(finding, PluginFinding)
            assert finding.active is not True, "nothing shows that it was active"

    def test_no_number_is_invented(self, plugin: Plugin, whole: dict[str, JsonValue]) -> None:
        """Without a word from runtime or agent every metric is unavailable, with its reason; of a run in which nothing
        was told of the plugin, none is anything but zero or unavailable.
        """
        nothing, *silent = _empty(whole)
        unknown = plugin.interpret(nothing).metrics
        assert {name: reading.value for name, reading in unknown.items() if reading.value is not None} == {}
        assert all((reading.unavailable or "").strip() for reading in unknown.values())
        for evidence in silent:
            told = plugin.interpret(evidence).metrics
            assert {name: reading.value for name, reading in told.items() if reading.value} == {}

    def test_only_declared_metrics_are_reported(
        self, plugin: Plugin, described: PluginDescriptor, whole: dict[str, JsonValue]
    ) -> None:
        """The metrics of every finding are among those that the descriptor names."""
        for evidence in (*_empty(whole), *([self.evidence] if self.evidence else [])):
            assert set(plugin.interpret(evidence).metrics) <= set(described.benchmark.metrics)

    def test_activity_is_shown_with_its_source(self, plugin: Plugin) -> None:
        """With the evidence of a run in which it worked, it is active, and the finding says by what source. Skipped
        where the class gives no `evidence`.
        """
        if self.evidence is None:
            pytest.skip("the class gives no evidence of a run in which the plugin worked")
        finding = plugin.interpret(self.evidence)
        assert finding.active is True
        assert (finding.source or "").strip()

    def test_a_finding_depends_on_its_evidence_alone(self, plugin: Plugin, whole: dict[str, JsonValue]) -> None:
        """The same evidence gives the same finding, whatever was interpreted in between."""
        nothing = _empty(whole)[0]
        first = plugin.interpret(nothing)
        plugin.interpret(self.evidence or _empty(whole)[-1])
        assert plugin.interpret(nothing) == first


def _contribution(plugin: Plugin, config: dict[str, JsonValue]) -> None:
    found = plugin.contribute(config)
    try:
        TypeAdapter(dict[str, JsonValue]).validate_python(dict(found), strict=True)
    except ValidationError as error:
        raise TypeError(f"the contribution {found!r} cannot be written as JSON") from error


def _empty(config: dict[str, JsonValue]) -> tuple[PluginEvidence, ...]:
    """Evidence of runs that shows nothing."""
    done = AgentOutcome(status=AgentStatus.COMPLETED)
    return (
        PluginEvidence(config=config, runtime=None, outcome=None),
        PluginEvidence(config=config, runtime=RuntimeState(), outcome=None),
        PluginEvidence(config=config, runtime=RuntimeState(facts=dict(config)), outcome=done),
    )
