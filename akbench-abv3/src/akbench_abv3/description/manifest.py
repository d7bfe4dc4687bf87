"""agentbeats.toml read into sections, with a finding for everything that is not as it must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from akbench_abv3.completed import FORBIDDEN_DEPENDENCY_KEYS, MAX_DESCRIPTION_BYTES
from akbench_abv3.description.sections import (
    SECTION_RULES,
    DependencySection,
    InstallSection,
    RepoSection,
    ResultsSection,
    RunConfigsSection,
    RunSection,
    Section,
)
from akbench_abv3.finding import Finding
from akbench_abv3.reading.bounded import OutsideError, UnreadableError, contained, is_there, read_text
from akbench_abv3.reading.credential_shape import looks_like_credential
from akbench_abv3.reading.toml_text import parse_toml
from akbench_abv3.stated import DESCRIPTION_FILE, SECTIONS

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Manifest", "read_manifest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The sections of agentbeats.toml, holding only what was valid. None: the section is absent."""

    repo: RepoSection | None = None
    run: RunSection | None = None
    install: InstallSection | None = None
    dependencies: dict[str, DependencySection]
    run_configs: RunConfigsSection | None = None
    results: ResultsSection | None = None


def read_manifest(root: Path) -> tuple[Manifest | None, tuple[Finding, ...]]:
    """Read agentbeats.toml of `root`. The manifest is None when there is no TOML to speak of."""
    try:
        path = contained(root, DESCRIPTION_FILE)
        if not is_there(path):
            return None, (Finding(code="E001", message=f"no agentbeats.toml in {root}"),)
        document = parse_toml(read_text(path, MAX_DESCRIPTION_BYTES))
    except OutsideError as error:
        return None, (Finding(code="E004", message=str(error)),)
    except UnreadableError as error:
        return None, (Finding(code="E002", message=f"not valid TOML: {error}"),)
    return _manifest(document)


def _manifest(document: dict[str, object]) -> tuple[Manifest, tuple[Finding, ...]]:
    findings = [_unknown(key) for key in document if key not in SECTIONS]
    sections: dict[str, Section | None] = {}
    for name in SECTIONS:
        if name != "dependency":
            sections[name] = _section(name, name, document.get(name), findings)
    dependencies = _dependencies(document.get("dependency", {}), findings)
    manifest = Manifest(
        repo=cast("RepoSection | None", sections["abv3_repo"]),
        run=cast("RunSection | None", sections["run"]),
        install=cast("InstallSection | None", sections["install"]),
        dependencies=dependencies,
        run_configs=cast("RunConfigsSection | None", sections["run_configs"]),
        results=cast("ResultsSection | None", sections["results"]),
    )
    return manifest, tuple(findings)


def _unknown(key: str) -> Finding:
    return Finding(code="W003", message=f"unknown key {key}; ignored")


def _dependencies(table: object, findings: list[Finding]) -> dict[str, DependencySection]:
    if not isinstance(table, dict):
        findings.append(Finding(code="E040", section="dependency", message="must be a table"))
        return {}
    read = {name: _section("dependency", f"dependency.{name}", value, findings) for name, value in table.items()}
    return {name: cast("DependencySection", section) for name, section in read.items() if section is not None}


def _section(kind: str, label: str, table: object, findings: list[Finding]) -> Section | None:
    rules = SECTION_RULES[kind]
    if table is None:
        if kind == "abv3_repo":
            findings.append(Finding(code=rules.code, section=label, message="section [abv3_repo] is missing"))
        elif kind == "run":
            findings.append(Finding(code=rules.code, section=label, field="command", message="required"))
        return None
    if not isinstance(table, dict):
        findings.append(Finding(code=rules.code, section=label, message="must be a table"))
        return None
    return _fields(kind, label, table, findings)


def _fields(kind: str, label: str, table: dict[str, object], findings: list[Finding]) -> Section:
    rules = SECTION_RULES[kind]
    try:
        section, wrong = rules.model.model_validate(table), dict[str, object]()
    except ValidationError as error:
        wrong = {str(one["loc"][0]): one["input"] for one in reversed(error.errors(include_url=False))}
        section = rules.model.model_validate({key: value for key, value in table.items() if key not in wrong})
    for name, rule in rules.fields.items():
        if name in wrong:
            found = f"{rule.must} (found {_shown(table[name])})"
            findings.append(Finding(code=rule.code, section=label, field=name, message=found))
        elif rule.required and name not in table:
            findings.append(Finding(code=rule.code, section=label, field=name, message="required"))
    findings.extend(_other_keys(kind, label, table))
    return section


def _other_keys(kind: str, label: str, table: dict[str, object]) -> list[Finding]:
    others = [key for key in table if key not in SECTION_RULES[kind].fields]
    return [
        Finding(code="E047", section=label, field=key, message="a credential value must not be in agentbeats.toml")
        if kind == "dependency" and key in FORBIDDEN_DEPENDENCY_KEYS
        else Finding(code="W003", section=label, message=f"unknown key {key}; ignored")
        for key in others
    ]


def _shown(value: object) -> str:
    if isinstance(value, str) and looks_like_credential(value):
        text = "what looks like a credential"
    elif isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, int | float):
        text = str(value)
    else:
        text = "a list" if isinstance(value, list) else "a table" if isinstance(value, dict) else "another type"
    return text if len(text) <= 60 else f"{text[:57]}…"
