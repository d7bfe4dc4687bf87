"""An agent's configuration, checked against its descriptor's schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from akbench.descriptors.kinds import AgentDescriptor, ConfigurationKey
from akbench.spec import JsonValue

__all__ = ["complete_configuration", "configuration_faults"]

_TYPES: dict[str, Callable[[JsonValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list | tuple),
    "mapping": lambda value: isinstance(value, dict),
}


def complete_configuration(agent: AgentDescriptor, config: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """`config` with the schema's defaults for what it leaves out."""
    defaults = {
        key: schema.default for key, schema in agent.agent.configuration_schema.items() if schema.default is not None
    }
    return defaults | dict(config)


def configuration_faults(agent: AgentDescriptor, config: Mapping[str, JsonValue]) -> list[tuple[str | None, str]]:
    """What is wrong with a completed configuration: (key or None, sentence) for each fault."""
    schema = agent.agent.configuration_schema
    faults: list[tuple[str | None, str]] = [
        (None, f"agent {agent.id!r} needs the configuration key {key!r}")
        for key, each in schema.items()
        if each.required and config.get(key) is None
    ]
    for key, value in config.items():
        if key not in schema:
            faults.append((key, f"agent {agent.id!r} has no configuration key {key!r}{_hint(key, list(schema))}"))
        elif message := value_fault(schema[key], value):
            faults.append((key, f"{key}: {message}"))
    return faults


def value_fault(key: ConfigurationKey, value: JsonValue) -> str | None:
    """Why `value` cannot be used for `key`, or None."""
    if value is None:
        return None
    if not _TYPES[key.type](value):
        return f"expected {key.type}, got {value!r}"
    if key.allowed is not None and value not in key.allowed:
        return f"{value!r} is not allowed; allowed: {', '.join(map(str, key.allowed))}"
    return None


def _hint(key: str, known: list[str]) -> str:
    close = get_close_matches(key, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; it has: {', '.join(sorted(known))}" if known else "; it takes no configuration"
