"""The runtime and the plugins of an experiment: what they are, and what they are for one variant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from akbench.catalogue import Catalogue
from akbench.descriptors.kinds import (
    AgentDescriptor,
    Descriptor,
    PluginDescriptor,
    PluginReference,
    RuntimeDescriptor,
    RuntimeReference,
)
from akbench.experiment.configuration import Placed, configured
from akbench.experiment.plan import PluginChoice, RuntimeChoice
from akbench.experiment.rejection import ExperimentSnapshot, Location, rejected
from akbench.spec import InputError

__all__ = ["Layers", "find_layers", "plugin_choices", "runtime_choice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """What stands between AK-Bench, the agents and the models; nothing for the mode ``direct``."""

    runtime: RuntimeDescriptor | None = None
    plugins: Mapping[str, PluginDescriptor] = field(default_factory=dict)


def find_layers(experiment: ExperimentSnapshot, catalogue: Catalogue, agents: Mapping[str, AgentDescriptor]) -> Layers:
    """The experiment's runtime and plugins. Raises `PlanRejectedError` for what cannot take part as asked."""
    execution = experiment.model.experiment.execution
    runtime = None
    if execution.runtime is not None:
        location: Location = ("experiment", "execution", "runtime")
        runtime = cast("RuntimeDescriptor", _described(experiment, catalogue, "runtime", execution.runtime, location))
        if runtime.runtime.type != execution.mode:
            message = f"{runtime.id!r} is a {runtime.runtime.type}; use mode: {runtime.runtime.type}"
            raise rejected(experiment, message, ("experiment", "execution", "mode"))
        if "managed" not in runtime.runtime.lifecycles:
            message = f"AK-Bench can run no instance of {runtime.id!r}: its descriptor does not offer managed"
            raise rejected(experiment, message, (*location, "id"))
    plugins: dict[str, PluginDescriptor] = {}
    for index, reference in enumerate(execution.plugins):
        place: Location = ("experiment", "execution", "plugins", index)
        plugin = cast("PluginDescriptor", _described(experiment, catalogue, "plugin", reference, place))
        _check_plugin(experiment, plugin, {runtime.id if runtime else "", *_ids(agents)}, place)
        plugins[plugin.id] = plugin
    _check_dependencies(experiment, plugins)
    return Layers(runtime=runtime, plugins=plugins)


def _ids(agents: Mapping[str, AgentDescriptor]) -> set[str]:
    return {agent.id for agent in agents.values()}


def _described(
    experiment: ExperimentSnapshot,
    catalogue: Catalogue,
    kind: str,
    reference: RuntimeReference | PluginReference,
    location: Location,
) -> Descriptor:
    try:
        descriptor = catalogue.find(kind, reference.id).model
    except InputError as error:
        raise rejected(experiment, error.message, (*location, "id")) from error
    if reference.version is not None and reference.version != descriptor.version:
        message = f"{kind} {reference.id!r} is described here in version {descriptor.version}, not {reference.version}"
        raise rejected(experiment, message, (*location, "version"))
    return descriptor


def _check_plugin(
    experiment: ExperimentSnapshot, plugin: PluginDescriptor, providers: set[str], location: Location
) -> None:
    message = None
    if plugin.plugin.provider not in providers:
        message = f"plugin {plugin.id!r} equips {plugin.plugin.provider!r}, which takes no part in this experiment"
    elif not plugin.benchmark.enabled:
        message = f"plugin {plugin.id!r} may not be used in experiments: its descriptor says benchmark.enabled: false"
    elif plugin.plugin.adapter is None:
        message = f"plugin {plugin.id!r} is described without an adapter, so it cannot be switched on"
    if message:
        raise rejected(experiment, message, (*location, "id"))


def _check_dependencies(experiment: ExperimentSnapshot, plugins: Mapping[str, PluginDescriptor]) -> None:
    for index, plugin in enumerate(plugins.values()):
        missing = [name for name in plugin.plugin.dependencies if name not in plugins]
        if missing:
            message = f"plugin {plugin.id!r} needs {', '.join(missing)}; add it to execution.plugins"
            raise rejected(experiment, message, ("experiment", "execution", "plugins", index))


def runtime_choice(experiment: ExperimentSnapshot, layers: Layers, varied: Placed) -> RuntimeChoice | None:
    """The runtime of one variant. Raises `PlanRejectedError` for a configuration that its descriptor does not allow."""
    reference, descriptor = experiment.model.experiment.execution.runtime, layers.runtime
    if reference is None or descriptor is None:
        return None
    part = descriptor.runtime
    location: Location = ("experiment", "execution", "runtime")
    owner = f"runtime {descriptor.id!r}"
    config = configured(experiment, owner, part.configuration_schema, reference.config, varied, location)
    return RuntimeChoice(
        id=descriptor.id, version=descriptor.version, type=part.type, adapter=part.adapter, config=config
    )


def plugin_choices(
    experiment: ExperimentSnapshot, layers: Layers, varied: Mapping[str, Placed], carriers: set[str]
) -> tuple[PluginChoice, ...]:
    """The plugins of one variant: those that equip one of `carriers`, the ids of its agent and its runtime."""
    found = []
    for index, reference in enumerate(experiment.model.experiment.execution.plugins):
        descriptor = layers.plugins[reference.id]
        part, benchmark = descriptor.plugin, descriptor.benchmark
        if part.provider not in carriers or part.adapter is None:
            continue
        location: Location = ("experiment", "execution", "plugins", index)
        owner = f"plugin {descriptor.id!r}"
        given = varied.get(descriptor.id, {})
        config = configured(experiment, owner, part.configuration_schema, reference.config, given, location)
        found.append(
            PluginChoice(
                id=descriptor.id,
                version=descriptor.version,
                adapter=part.adapter,
                provider=part.provider,
                config=config,
                metrics=benchmark.metrics,
                must_be_verified=benchmark.verification.required,
            )
        )
    return tuple(found)
