"""``akbench agent``: what can be tested."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from akbench.cli.output import json_option, print_json, print_table, project_option, say

if TYPE_CHECKING:
    from akbench.catalogue import Catalogue
    from akbench.descriptors.kinds import AgentDescriptor
    from akbench.spec import JsonValue, Probe, Support

__all__ = ["agent", "probe_agent"]


@click.group()
def agent() -> None:
    """List and inspect the agents that can be tested."""


@agent.command("list")
@project_option
@json_option
def list_agents(project_dir: Path, *, as_json: bool) -> None:
    """List the registered agents and the extensions that could not be loaded."""
    from akbench.listing import listed_agents

    listing = listed_agents(project_dir)
    if as_json:
        print_json({"agents": listing.agents, "failures": listing.failures})
        return
    print_table(("agent", "version", "title", "role", "from"), [tuple(row.values()) for row in listing.agents])
    for failure in listing.failures:
        say(f"warning: {failure}", err=True)


@agent.command("inspect")
@click.argument("name")
@project_option
@json_option
def inspect_agent(name: str, project_dir: Path, *, as_json: bool) -> None:
    """Show what agent NAME can do, how it is configured, and whether it can run here."""
    from akbench.catalogue import Catalogue

    catalogue = Catalogue.load(project_dir)
    snapshot = catalogue.agent(name)
    probe = probe_agent(catalogue, snapshot.model)
    described = _described(snapshot.model, probe) | {"origin": snapshot.origin, "hash": snapshot.hash}
    if as_json:
        print_json(described)
        return
    _print_agent(snapshot.model, probe, snapshot.origin)
    report_failures(catalogue)


def probe_agent(catalogue: Catalogue, model: AgentDescriptor) -> Probe:
    """Probe an agent with its default configuration."""
    from akbench.environments import strongest_environment
    from akbench.experiment.configuration import complete_configuration
    from akbench.spec import ExtensionError, InputError, Probe, ProbeContext, Problem

    try:
        found, adapter = catalogue.agent_adapter(model.agent.adapter)
        sandbox = strongest_environment(catalogue).sandbox
        declared = {each.name: os.environ[each.name] for each in model.agent.environment if each.name in os.environ}
        config = complete_configuration(model.agent.configuration_schema, {})
        return found.probed(adapter, ProbeContext(config=config, environ=declared, bounded=sandbox.bounded))
    except ExtensionError as error:
        return Probe(version=None, problems=(Problem(message=str(error), mend="update it, or tell its author"),))
    except InputError as error:
        return Probe(version=None, problems=(Problem(message=str(error), mend="install it or correct the name"),))


def report_failures(catalogue: Catalogue) -> None:
    """One line on standard error for each extension that could not be used."""
    for failure in catalogue.failures:
        say(f"warning: {failure!s}", err=True)


def _supports(model: AgentDescriptor, probe: Probe) -> dict[str, Support]:
    return {**model.agent.capabilities, **probe.capabilities}


def _described(model: AgentDescriptor, probe: Probe) -> dict[str, JsonValue]:
    return {
        "id": model.id,
        "version": model.version,
        "title": model.title,
        "description": model.description,
        "role": model.agent.role,
        "adapter": model.agent.adapter,
        "execution_type": model.agent.execution_type,
        "installed_version": probe.version,
        "problems": [{"message": problem.message, "mend": problem.mend} for problem in probe.problems],
        "facts": dict(probe.facts),
        "capabilities": {name: str(support) for name, support in _supports(model, probe).items()},
        "configuration_schema": {
            name: key.model_dump(mode="json") for name, key in model.agent.configuration_schema.items()
        },
        "observability": dict(model.agent.observability),
        "environment": [each.model_dump(mode="json") for each in model.agent.environment],
    }


def _print_agent(model: AgentDescriptor, probe: Probe, origin: str) -> None:
    say(f"{model.title or model.id} ({model.id} {model.version}, from {origin})")
    if model.description:
        say(model.description)
    say(f"installed here: {probe.version if probe.version else 'version not known'}")
    for problem in probe.problems:
        say(f"problem: {problem.message}\n   mend: {problem.mend}")
    print_table(("capability", "support"), [(name, str(value)) for name, value in _supports(model, probe).items()])
    if model.agent.configuration_schema:
        rows = [
            (name, key.type, "yes" if key.required else "no", _shown(key.default), key.description)
            for name, key in model.agent.configuration_schema.items()
        ]
        print_table(("configuration", "type", "required", "default", "meaning"), rows)
    if model.agent.environment:
        read = [(each.name, "yes" if each.sensitive else "no", each.description) for each in model.agent.environment]
        print_table(("variable read", "sensitive", "meaning"), read)


def _shown(default: JsonValue) -> str:
    return "-" if default is None else str(default)
