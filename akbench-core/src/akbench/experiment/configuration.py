"""The configuration of an agent, runtime or plugin, checked against its descriptor's schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from akbench.descriptors.kinds import ConfigurationKey
from akbench.experiment.rejection import ExperimentSnapshot, Location, rejected
from akbench.spec import JsonValue

__all__ = ["Placed", "complete_configuration", "configuration_faults", "configured"]

type Schema = Mapping[str, ConfigurationKey]

type Placed = Mapping[str, tuple[JsonValue, Location]]
"""Configuration key -> the value that a factor gives it, and where that stands."""

_TYPES: dict[str, Callable[[JsonValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list | tuple),
    "mapping": lambda value: isinstance(value, dict),
}


def complete_configuration(schema: Schema, config: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """`config` with the schema's defaults for what it leaves out."""
    return {key: each.default for key, each in schema.items() if each.default is not None} | dict(config)


def configuration_faults(owner: str, schema: Schema, config: Mapping[str, JsonValue]) -> list[tuple[str | None, str]]:
    """What is wrong with a completed configuration: (key or None, sentence) for each fault.

    `owner` names whose it is, such as ``agent 'x'``.
    """
    faults: list[tuple[str | None, str]] = [
        (None, f"{owner} needs the configuration key {key!r}")
        for key, each in schema.items()
        if each.required and config.get(key) is None
    ]
    for key, value in config.items():
        if key not in schema:
            faults.append((key, f"{owner} has no configuration key {key!r}{_hint(key, list(schema))}"))
        elif message := value_fault(schema[key], value):
            faults.append((key, f"{key}: {message}"))
    return faults


def configured(
    experiment: ExperimentSnapshot,
    owner: str,
    schema: Schema,
    asked: Mapping[str, JsonValue],
    varied: Placed,
    location: Location,
) -> dict[str, JsonValue]:
    """The complete configuration of one variant: what factors set beside what the reference at `location` asks for.

    Raises `PlanRejectedError` at the place of a value that the schema does not allow, or that stands in both.
    """
    for key in varied:
        if key in asked:
            message = f"{key} of {owner} is set here and by a factor; leave it to the factor"
            raise rejected(experiment, message, (*location, "config", key))
    config = complete_configuration(schema, dict(asked) | {key: value for key, (value, _) in varied.items()})
    for wrong, fault in configuration_faults(owner, schema, config):
        place = (*location, "config", wrong) if wrong else location
        raise rejected(experiment, fault, varied[wrong][1] if wrong and wrong in varied else place)
    return config


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
