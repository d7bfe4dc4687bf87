"""What every descriptor has in common: the header, identifiers, versions, and the strictness of its sections."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

__all__ = [
    "SCHEMA_VERSION",
    "Descriptor",
    "Difficulty",
    "Identifier",
    "Part",
    "Pinned",
    "Seconds",
    "VariableName",
    "Version",
]

SCHEMA_VERSION = "1.0"
"""The version of all models here. Older descriptors are brought to it by `akbench.descriptors.migration`."""

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[^\s;=*]+")
_VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")


def _identifier(value: str) -> str:
    if not _IDENTIFIER.fullmatch(value):
        raise ValueError(f"{value!r} is no identifier: letters, digits, '.', '_' and '-', at most 100")
    return value


def _version(value: str) -> str:
    if not _VERSION.fullmatch(value):
        raise ValueError(f"{value!r} is no version such as 1.0.0")
    return value


def _pinned(value: str) -> str:
    if not _PINNED.fullmatch(value):
        raise ValueError(f"{value!r} is not pinned; write name==version, for the whole closure")
    return value


def _text_of(pattern: re.Pattern[str]) -> WithJsonSchema:
    """The schema that editors check; the validators beside it give the better message."""
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern.pattern}$"})


type Identifier = Annotated[str, AfterValidator(_identifier), _text_of(_IDENTIFIER)]
type Version = Annotated[str, AfterValidator(_version), _text_of(_VERSION)]
type Pinned = Annotated[str, AfterValidator(_pinned), _text_of(_PINNED)]
type Seconds = Annotated[float, Field(gt=0, le=7 * 24 * 3600)]
type VariableName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]
type Difficulty = Literal["easy", "medium", "hard", "expert"]


class Part(BaseModel):
    """A section of a descriptor; unknown keys are errors and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Descriptor(Part):
    """What every descriptor says, beside the section that is named after its kind."""

    schema_version: Literal["1.0"]
    """The version of this format, in quotes."""
    id: Identifier
    """The name by which other files refer to it; unique within its kind."""
    version: Version
    """The descriptor's own version; raise it with every change of meaning."""
    title: str = ""
    """One line for listings and reports."""
    description: str = ""
    """What a reader should know about it."""
