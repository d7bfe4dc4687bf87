"""The sections of agentbeats.toml as they are allowed to be, and what is said when they are not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from akbench_abv3.completed import (
    FORBIDDEN_VARIABLE_PREFIXES,
    FORBIDDEN_VARIABLES,
    MAX_TAGS,
    NAME_PATTERN,
    VARIABLE_PATTERN,
)
from akbench_abv3.description.version import SEMVER_PATTERN

__all__ = [
    "SECTION_RULES",
    "DependencySection",
    "InstallSection",
    "RepoSection",
    "ResultsSection",
    "Rule",
    "RunConfigsSection",
    "RunSection",
    "Section",
    "SectionRules",
]


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("has a NUL character")
    return text


def _allowed_variable(name: str) -> str:
    if name in FORBIDDEN_VARIABLES or name.startswith(FORBIDDEN_VARIABLE_PREFIXES):
        raise ValueError("is not allowed")
    return name


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Filled = Annotated[str, StringConstraints(pattern=r"\S"), AfterValidator(_without_nul)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Variable = Annotated[str, StringConstraints(pattern=VARIABLE_PATTERN), AfterValidator(_allowed_variable)]
Variables = Annotated[list[Variable], Field(min_length=1), BeforeValidator(_as_list)]


class Section(BaseModel):
    """A section: every field optional here, so that one wrong field does not hide the others."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, defer_build=True)


class RepoSection(Section):
    """`[abv3_repo]`."""

    name: Annotated[str, StringConstraints(pattern=NAME_PATTERN)] | None = None
    role: Literal["judge", "subject"] | None = None
    author: Filled | None = None
    version: Annotated[str, StringConstraints(pattern=SEMVER_PATTERN)] | None = None
    logo_file: Filled | None = None
    tags: Annotated[list[Filled], Field(max_length=MAX_TAGS)] | None = None


class RunSection(Section):
    """`[run]`."""

    command: Filled | None = None
    timeout_seconds: Seconds | None = None


class InstallSection(Section):
    """`[install]`."""

    command: Filled | None = None
    timeout_seconds: Seconds | None = None


class DependencySection(Section):
    """`[dependency.<name>]`."""

    required: bool = True
    description: str | None = None
    type: Literal["env", "file", "dir", "docker", "step"] | None = None
    env: Variables | None = None
    secret: bool | None = None
    command: Filled | None = None
    check_command: Annotated[Filled | None, Field(alias="check")] = None


class RunConfigsSection(Section):
    """`[run_configs]`."""

    folder: Filled | None = None
    default_exp: Filled | None = None


class ResultsSection(Section):
    """`[results]`."""

    folder: Filled | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The code and wording for one field that is not as it must be."""

    code: str
    must: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRules:
    """One section: its model, its fields' rules, and the code for a section that is no table."""

    model: type[Section]
    code: str
    fields: dict[str, Rule] = field(default_factory=dict)


_COMMAND = "must be a non-empty string"
_SECONDS = "must be a positive number of seconds"

SECTION_RULES: Final[dict[str, SectionRules]] = {
    "abv3_repo": SectionRules(
        model=RepoSection,
        code="E010",
        fields={
            "name": Rule(code="E011", must="only letters, digits, . _ - (max 100)", required=True),
            "role": Rule(code="E012", must='must be "judge" or "subject"', required=True),
            "author": Rule(code="E013", must="required non-empty string", required=True),
            "version": Rule(code="E014", must="not a semantic version"),
            "logo_file": Rule(code="E015", must="must be a URL or a path"),
            "tags": Rule(code="E016", must=f"must be a list of at most {MAX_TAGS} non-empty strings"),
        },
    ),
    "run": SectionRules(
        model=RunSection,
        code="E020",
        fields={
            "command": Rule(code="E020", must=_COMMAND, required=True),
            "timeout_seconds": Rule(code="E021", must=_SECONDS),
        },
    ),
    "install": SectionRules(
        model=InstallSection,
        code="E030",
        fields={
            "command": Rule(code="E030", must=_COMMAND),
            "timeout_seconds": Rule(code="E031", must=_SECONDS),
        },
    ),
    "dependency": SectionRules(
        model=DependencySection,
        code="E040",
        fields={
            "required": Rule(code="E041", must="must be true or false"),
            "description": Rule(code="E042", must="must be a string"),
            "type": Rule(code="E043", must="must be env, file, dir, docker or step"),
            "env": Rule(
                code="E044",
                must="must be a variable or a list: capitals, digits, _; not PATH, HOME, ABV3_* or the like",
            ),
            "secret": Rule(code="E045", must="must be true or false"),
            "command": Rule(code="E046", must=_COMMAND),
            "check": Rule(code="E046", must=_COMMAND),
        },
    ),
    "run_configs": SectionRules(
        model=RunConfigsSection,
        code="E050",
        fields={
            "folder": Rule(code="E050", must="must be a path", required=True),
            "default_exp": Rule(code="E051", must="must be the name of an experiment"),
        },
    ),
    "results": SectionRules(
        model=ResultsSection,
        code="E060",
        fields={"folder": Rule(code="E060", must="must be a path")},
    ),
}
