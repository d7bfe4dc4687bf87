"""The dimension kind: a factor of experiments, its type, its values and how they are set and confirmed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from akbench.descriptors.header import Descriptor, Part
from akbench.descriptors.scalars import Flag, Identifier, Number
from akbench.spec import JsonValue

__all__ = ["DIMENSION_TYPES", "TARGETS", "Configure", "DimensionDescriptor", "DimensionPart"]

DIMENSION_TYPES = {
    "boolean": ("true or false", ("agent.config", "runtime.config", "plugin.config")),
    "categorical": ("one of the listed values", ("agent.config", "runtime.config", "plugin.config")),
    "integer": ("a whole number", ("agent.config", "runtime.config", "plugin.config")),
    "float": ("a finite number", ("agent.config", "runtime.config", "plugin.config")),
    "string": ("a text", ("agent.config", "runtime.config", "plugin.config")),
    "agent_reference": ("the name of an agent under experiment.agents", ("agent",)),
    "model_reference": ("the id of a model descriptor", ("agent.config", "runtime.config")),
    "plugin_configuration": ("a mapping of the plugin's configuration keys to values", ("plugin.config",)),
    "runtime_configuration": ("a mapping of the runtime's configuration keys to values", ("runtime.config",)),
}
"""Type -> what a value is, and the targets where such a value can be put."""

TARGETS = {
    "agent": "chooses among the experiment's named agents",
    "agent.config": "sets the agent's configuration key `key`; to an agent without that key it does not apply",
    "runtime.config": "sets the runtime's configuration key `key`, or all of a runtime_configuration",
    "plugin.config": "sets the configuration key `key` of the plugin `plugin`, or all of a plugin_configuration",
}
"""Where a dimension's value is put."""


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


_IS_OF_TYPE: dict[str, Callable[[JsonValue], bool]] = {
    "boolean": lambda value: isinstance(value, bool),
    "categorical": lambda value: isinstance(value, str | int | float),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": _is_number,
    "string": lambda value: isinstance(value, str),
    "agent_reference": lambda value: isinstance(value, str),
    "model_reference": lambda value: isinstance(value, str),
    "plugin_configuration": lambda value: isinstance(value, dict),
    "runtime_configuration": lambda value: isinstance(value, dict),
}


def _own_value(value: JsonValue, info: ValidationInfo) -> JsonValue:
    """Checks one of a dimension's values against the fields that stand before them in the model."""
    if kind := info.data.get("type"):
        bounds = info.data.get("minimum"), info.data.get("maximum")
        if fault := _type_fault(kind, value) or _bounds_fault(bounds, value):
            raise ValueError(f"{value!r} is no such value: {fault}")
    return value


type OwnValue = Annotated[JsonValue, AfterValidator(_own_value)]


class Configure(Part):
    """Where a dimension's value is put."""

    target: Literal["agent", "agent.config", "runtime.config", "plugin.config"]
    """What is set."""
    key: Identifier | None = None
    """The configuration key of the target."""
    plugin: Identifier | None = None
    """The plugin, for target plugin.config."""

    @model_validator(mode="after")
    def _check(self) -> Configure:
        if self.target == "agent" and self.key is not None:
            raise ValueError("key: target agent takes none; it chooses the agent itself")
        if self.target == "agent.config" and self.key is None:
            raise ValueError("key: target agent.config needs the configuration key that is set")
        if (self.target == "plugin.config") != (self.plugin is not None):
            raise ValueError("plugin: needed for target plugin.config, and only there")
        return self


class Verify(Part):
    """How it would be confirmed that a value was in effect."""

    method: str
    """The source other than the request itself, in words; or why there is none."""


class DimensionPart(Part):
    """A factor of experiments. An uncontrollable one can be observed, never varied."""

    type: Literal[
        "boolean",
        "categorical",
        "integer",
        "float",
        "string",
        "agent_reference",
        "model_reference",
        "plugin_configuration",
        "runtime_configuration",
    ]
    """The type of its values."""
    minimum: Number | None = None
    """The smallest value allowed, for integer and float."""
    maximum: Number | None = None
    """The largest value allowed, for integer and float."""
    values: tuple[OwnValue, ...] | None = None
    """The only values allowed; any of the type if left out. A categorical dimension lists its values."""
    controllable: Flag
    """Whether AK-Bench can set it."""
    source: str = ""
    """Where the value stands, in words."""
    configure: Configure | None = None
    """Where the value is put; needed when it is controllable, and only then."""
    verify: Verify | None = None
    """How it would be confirmed."""
    requires: dict[Identifier, Annotated[tuple[JsonValue, ...], Field(min_length=1)]] = Field(default_factory=dict)
    """Other dimensions, each with the values under which this one has a meaning; elsewhere it does not apply."""

    @field_validator("minimum", "maximum")
    @classmethod
    def _check_bound(cls, value: float | None, info: ValidationInfo) -> float | None:
        kind = info.data.get("type")
        if value is not None and kind not in {"integer", "float", None}:
            raise ValueError(f"a dimension of type {kind} has no such bound")
        minimum = info.data.get("minimum")
        if value is not None and minimum is not None and value < minimum:
            raise ValueError(f"{value:g} is below the minimum {minimum:g}")
        return value

    @field_validator("values")
    @classmethod
    def _check_values(cls, values: tuple[JsonValue, ...] | None) -> tuple[JsonValue, ...] | None:
        if values == ():
            raise ValueError("name at least one value, or leave this out")
        for index, value in enumerate(values or ()):
            if value in (values or ())[:index]:
                raise ValueError(f"{index}: {value!r} stands here twice")
        return values

    @model_validator(mode="after")
    def _check(self) -> DimensionPart:
        if self.type == "categorical" and self.values is None:
            raise ValueError("values: a categorical dimension must list them")
        if self.controllable and self.configure is None:
            raise ValueError("configure: a controllable dimension must say where its value is put")
        if not self.controllable and self.configure is not None:
            raise ValueError("configure: a dimension that is not controllable is never set; leave this out")
        self._check_target()
        return self

    def _check_target(self) -> None:
        if self.configure is None:
            return
        allowed = DIMENSION_TYPES[self.type][1]
        if self.configure.target not in allowed:
            raise ValueError(f"configure.target: a value of type {self.type} is put into {' or '.join(allowed)}")
        is_whole = self.type in {"plugin_configuration", "runtime_configuration"}
        if self.configure.target != "agent" and is_whole != (self.configure.key is None):
            need = "sets the whole configuration; leave it out" if is_whole else "needs the key that is set"
            raise ValueError(f"configure.key: type {self.type} {need}")

    def fault(self, value: JsonValue) -> str | None:
        """Why `value` cannot be a value of this dimension, or None."""
        fault = _type_fault(self.type, value) or _bounds_fault((self.minimum, self.maximum), value)
        if fault is None and self.values is not None and value not in self.values:
            fault = f"not among the allowed: {', '.join(map(str, self.values))}"
        return fault


def _type_fault(kind: str, value: JsonValue) -> str | None:
    return None if _IS_OF_TYPE[kind](value) else f"expected {kind}: {DIMENSION_TYPES[kind][0]}"


def _bounds_fault(bounds: tuple[float | None, float | None], value: JsonValue) -> str | None:
    minimum, maximum = bounds
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if minimum is not None and value < minimum:
        return f"below the minimum {minimum:g}"
    if maximum is not None and value > maximum:
        return f"above the maximum {maximum:g}"
    return None


class DimensionDescriptor(Descriptor):
    """A factor of experiments."""

    dimension: DimensionPart
    """What it is."""
