"""What a described thing can be configured with, what it may read, and what it can do."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from akbench.descriptors.header import Part
from akbench.descriptors.scalars import Flag, Identifier, VariableName
from akbench.spec import JsonValue, Support

__all__ = ["ConfigurationKey", "DeclaredSupport", "NamedVariable", "Observability"]


def _support(value: Any) -> Any:
    if isinstance(value, bool):
        return Support.YES if value else Support.NO
    if value not in list(Support):
        raise ValueError("say true, false or unknown")
    return value


type DeclaredSupport = Annotated[
    Support,
    BeforeValidator(_support),
    WithJsonSchema({"enum": [True, False, "unknown", "yes", "no"]}),
]
"""``true``, ``false`` or ``unknown``."""

type Observability = dict[Identifier, Literal["supported", "unsupported", "unverified"]]


class ConfigurationKey(Part):
    """One configuration value: its type, whether AK-Bench can set it, its default and allowed values."""

    type: Literal["string", "integer", "float", "boolean", "list", "mapping"]
    """The type of the value."""
    controllable: Flag = True
    """Whether AK-Bench can set it."""
    required: Flag = False
    """Whether it must be given."""
    default: JsonValue = None
    """The value where nothing is given; none if left out."""
    allowed: tuple[JsonValue, ...] | None = None
    """The only values allowed; any of the type if left out."""
    description: str = ""
    """What it means and who checks it."""


class NamedVariable(Part):
    """A variable of the harness's environment that the adapter may read. Of a sensitive one only is_set is kept."""

    name: VariableName
    """The variable's name."""
    sensitive: Flag
    """Whether its value must never be stored; then only whether it is set is recorded."""
    description: str = ""
    """What it is read for."""
