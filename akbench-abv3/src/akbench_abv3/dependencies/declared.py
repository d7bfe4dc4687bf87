"""The dependencies that a repository declares, each with what it gives to a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from akbench_abv3.completed import DEPENDENCY_PATTERN, RECOGNISED, Kind, Recognised
from akbench_abv3.finding import Finding

if TYPE_CHECKING:
    from akbench_abv3.description.sections import DependencySection

__all__ = ["Dependency", "declared_dependencies"]

_NAME: Final = re.compile(DEPENDENCY_PATTERN)
_WITH_VARIABLES: Final = (Kind.ENV, Kind.FILE, Kind.DIR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """One declared dependency.

    `variables` must have a value for the dependency to be there; `optional_variables` are passed on
    when they have one; `secret` lists those whose values are hidden. A step has `command` and
    perhaps `check`, which exits 0 when the step is already done.
    """

    name: str
    kind: Kind
    required: bool = True
    description: str = ""
    variables: tuple[str, ...] = ()
    optional_variables: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    command: str | None = None
    check: str | None = None
    recognised: Recognised | None = None

    @property
    def advice(self) -> str:
        """What a person can do to provide it, or an empty text."""
        return self.recognised.advice if self.recognised else ""


def declared_dependencies(
    sections: dict[str, DependencySection], *, allow_unknown: bool = False
) -> tuple[tuple[Dependency, ...], tuple[Finding, ...]]:
    """Return the dependencies that can be understood, and a finding for each that cannot.

    `allow_unknown` turns an unrecognised name from an error into a warning; it then gives nothing.
    """
    dependencies: list[Dependency] = []
    findings: list[Finding] = []
    for name, section in sections.items():
        wrong = _wrong(name, section, allow_unknown=allow_unknown)
        findings.extend(wrong)
        if not wrong:
            dependencies.append(_dependency(name, section))
    return tuple(dependencies), tuple(findings)


def _wrong(name: str, section: DependencySection, *, allow_unknown: bool) -> list[Finding]:
    label = f"dependency.{name}"
    if not _NAME.match(name) or name.endswith("\n"):
        return [Finding(code="E040", section=label, message="name: only small letters, digits and _")]
    if name in RECOGNISED:
        return _wrong_for_recognised(label, RECOGNISED[name], section)
    if section.type is None:
        code = "W043" if allow_unknown else "E043"
        advice = 'not a recognised dependency; give type = "env" and env = "NAME"'
        return [Finding(code=code, section=label, message=advice)]
    return _wrong_for_type(label, Kind(section.type), section)


def _wrong_for_recognised(label: str, known: Recognised, section: DependencySection) -> list[Finding]:
    findings = []
    if section.type is not None:
        message = "only for a name that is not recognised; leave it out"
        findings.append(Finding(code="E043", section=label, field="type", message=message))
    if section.env is not None and (known.kind is not Kind.ENV or len(section.env) != len(known.variables)):
        message = f"this dependency has its own variables ({', '.join(known.variables) or 'none'}); leave env out"
        findings.append(Finding(code="E044", section=label, field="env", message=message))
    return findings


def _wrong_for_type(label: str, kind: Kind, section: DependencySection) -> list[Finding]:
    if kind in _WITH_VARIABLES and section.env is None:
        return [Finding(code="E044", section=label, field="env", message=f'required for type = "{kind}"')]
    if kind is Kind.STEP and section.command is None:
        return [Finding(code="E046", section=label, field="command", message='required for type = "step"')]
    return []


def _dependency(name: str, section: DependencySection) -> Dependency:
    known = RECOGNISED.get(name)
    variables = tuple(section.env) if section.env else known.variables if known else ()
    return Dependency(
        name=name,
        kind=known.kind if known else Kind(section.type or Kind.ENV),
        required=section.required,
        description=section.description or "",
        variables=variables,
        optional_variables=known.optional_variables if known else (),
        secret=_secret(section, known, variables),
        command=section.command,
        check=section.check_command,
        recognised=known,
    )


def _secret(section: DependencySection, known: Recognised | None, variables: tuple[str, ...]) -> tuple[str, ...]:
    if section.secret is not None:
        return variables if section.secret else ()
    if known is not None:
        return variables if section.env else known.secret
    return variables if section.type == "env" else ()
