"""What single values of descriptors may be: identifiers, versions, paths, URLs, counts and seconds."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, WithJsonSchema

__all__ = [
    "BaseUrl",
    "Count",
    "Difficulty",
    "Flag",
    "Folder",
    "Glob",
    "Identifier",
    "ImageName",
    "InsidePath",
    "Number",
    "Pinned",
    "RelativePath",
    "Seconds",
    "VariableName",
    "Version",
]

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[^\s;=*]+")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,499}")
_INSIDE = re.compile(r"(/[A-Za-z0-9._-]+)+")
_SYSTEM = ("ak", "bin", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "run", "sbin", "sys", "tmp", "usr", "var")
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


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or ":" in value:
        raise ValueError(f"{value!r} must be a relative path that stays inside, without ':'")
    return value


def _below(value: str) -> str:
    if not PurePosixPath(_inside(value)).parts:
        raise ValueError(f"{value!r} must be a relative path that stays inside")
    return value


def _image_name(value: str) -> str:
    if not _IMAGE.fullmatch(value):
        raise ValueError(f"{value!r} names no image; write name:tag, name@sha256:… or sha256:…")
    return value


def _inside_path(value: str) -> str:
    if not _INSIDE.fullmatch(value) or any(part in (".", "..") for part in value.split("/")) or value[1:] in _SYSTEM:
        raise ValueError(f"{value!r} is no place for a folder of its own; write an absolute path such as /app")
    return value


def _glob(value: str) -> str:
    parts = value.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{value!r} matches nothing: write a relative path such as tests/**, without '.' and '..'")
    return value


def _base_url(value: str) -> str:
    try:
        url = urlsplit(value)
        good = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError as error:
        raise ValueError(f"{value!r} is no URL: {error}") from error
    if not good or any(char.isspace() or not char.isprintable() for char in value):
        raise ValueError(f"{value!r} is no URL such as https://api.example.com/v1")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise ValueError("a base URL has no user, password, query or fragment; name the key's variable in api_key_env")
    return value


def _text_of(pattern: re.Pattern[str]) -> WithJsonSchema:
    """The schema that editors check; the validators beside it give the better message."""
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern.pattern}$"})


type Identifier = Annotated[str, AfterValidator(_identifier), _text_of(_IDENTIFIER)]
type Version = Annotated[str, AfterValidator(_version), _text_of(_VERSION)]
type Pinned = Annotated[str, AfterValidator(_pinned), _text_of(_PINNED)]
type VariableName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]
type Folder = Annotated[str, AfterValidator(_inside)]
"""A folder relative to some root, or the root itself (``.``)."""
type ImageName = Annotated[str, AfterValidator(_image_name), _text_of(_IMAGE)]
type InsidePath = Annotated[str, AfterValidator(_inside_path), _text_of(_INSIDE)]
"""An absolute path inside a sandbox that no system has for something else."""
type RelativePath = Annotated[str, AfterValidator(_below)]
"""A path below some root."""
type Glob = Annotated[str, AfterValidator(_glob)]
type BaseUrl = Annotated[str, AfterValidator(_base_url)]
type Difficulty = Literal["easy", "medium", "hard", "expert"]
# Strict: what YAML tells apart (1, 1.0, true, "1") is never taken for one another.
type Flag = Annotated[bool, Field(strict=True)]
type Count = Annotated[int, Field(strict=True, ge=1)]
type Number = Annotated[float, Field(strict=True)]
type Seconds = Annotated[float, Field(strict=True, gt=0, le=7 * 24 * 3600)]
