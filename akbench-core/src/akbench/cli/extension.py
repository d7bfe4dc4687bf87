"""``akbench extension``: which distributions bring what, and whether they keep to the contract."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

import click

from akbench.catalogue import Adapter, Catalogue
from akbench.cli.output import json_option, print_findings, print_json, print_table, say
from akbench.contract_tests import check_contract, has_contract
from akbench.descriptors.document import parse
from akbench.descriptors.snapshot import canonical_hash, faults_of, kind_of
from akbench.discovery import Disabled, Extension, Failure, Installed, discover
from akbench.foreign import foreign_code
from akbench.plain_yaml import decoded
from akbench.spec import (
    API_VERSION,
    AkbenchError,
    Evaluator,
    HostError,
    InputError,
    JsonValue,
    Plugin,
    Runtime,
    Sandbox,
    SessionAgent,
)
from akbench.spec.hooks import AgentRecord, EvaluatorRecord, PluginRecord, Record, RuntimeRecord, SandboxRecord
from akbench.testing.hook_imports import HookImports, hook_imports
from akbench.verdict import Verdict, keep_verdict, verdict_for

__all__ = ["extension"]

CLASSES: dict[type[Record], type[Any]] = {
    AgentRecord: SessionAgent,
    RuntimeRecord: Runtime,
    PluginRecord: Plugin,
    EvaluatorRecord: Evaluator,
    SandboxRecord: Sandbox,
}
"""Record -> the class that its target must be derived from; targets of other records are only called."""
JUDGED = (AgentRecord, RuntimeRecord, PluginRecord, EvaluatorRecord, SandboxRecord)
"""The kinds of adapters that contract tests exist for."""

PLURALS = {"sandbox": "sandboxes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An extension as discovery and the catalogue left it. `cause` says why it failed; `extension` is None then or
    where it is disabled, unless its hooks could be read.
    """

    name: str
    distribution: str
    version: str
    module: str | None
    state: str
    cause: str | None = None
    extension: Extension | None = None

    @property
    def records(self) -> tuple[Any, ...]:
        """What its hooks returned; nothing where they could not be called."""
        return self.extension.records if self.extension else ()

    def adapters(self) -> tuple[Adapter, ...]:
        """The adapters that it registers."""
        return tuple(
            Adapter(record=record, distribution=self.distribution, version=self.version)
            for record in self.records
            if isinstance(record, Record)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was checked; `detail` says what was found, or what is wrong."""

    what: str
    ok: bool
    detail: str


@click.group()
def extension() -> None:
    """List, show and check the installed extensions."""


@extension.command("list")
@json_option
def list_extensions(*, as_json: bool) -> None:
    """List every installed extension: what it brings, and whether it can be used.

    The state is ok, disabled (by AKBENCH_DISABLE) or failed, with the cause.
    """
    found = _all_found()
    if as_json:
        print_json({"extensions": [_summary(each) for each in found]})
        return
    rows = [
        (each.name, each.distribution, each.version, each.state, ", ".join(_counted(each)) or "nothing")
        for each in found
    ]
    print_table(("extension", "distribution", "version", "state", "brings"), rows)
    for name in _disabling_nothing(found):
        say(f"warning: AKBENCH_DISABLE names {name!r}, and no extension of that name is installed", err=True)
    failed = [each for each in found if each.cause]
    if failed:
        print_findings((each.state, each.name, str(each.cause), f"AKBENCH_DISABLE={each.name}") for each in failed)


@extension.command()
@click.argument("name")
@json_option
def show(name: str, *, as_json: bool) -> None:
    """Show what extension NAME registers, what its hooks import, and the kept verdicts of the contract tests.

    NAME is the name of the entry point or of the distribution.
    """
    found = _find(name)
    imports = _imports(found)
    if as_json:
        print_json(_described(found, imports))
        return
    _print_extension(found, imports)


@extension.command()
@click.argument("name")
@click.option("--contract/--no-contract", default=True, help="Run the contract tests too, and keep their verdicts.")
@json_option
@click.pass_context
def check(ctx: click.Context, name: str, *, contract: bool, as_json: bool) -> None:
    """Check extension NAME: its hooks are light, every adapter can be imported, every descriptor is right, and every
    agent, runtime, plugin, evaluator and sandbox keeps to the contract.

    The contract tests try the adapters for real, with what their descriptors say under `trial`; an agent that reaches
    a real service uses it. Their verdicts are kept for exactly the installed versions. Exit code 1 if something is
    wrong.
    """
    found = _find(name)
    findings = list(_findings(found))
    if contract and all(finding.ok for finding in findings):
        findings += [_tried(adapter) for adapter in found.adapters() if has_contract(adapter)]
    is_good = all(finding.ok for finding in findings)
    if as_json:
        print_json(_identity(found) | {"ok": is_good, "findings": [asdict(finding) for finding in findings]})
    else:
        print_findings(("ok" if each.ok else "wrong", each.what, each.detail, "") for each in findings)
    ctx.exit(0 if is_good else 1)


def _disabling_nothing(found: tuple[Found, ...]) -> list[str]:
    unwanted = {name.strip() for name in os.environ.get("AKBENCH_DISABLE", "").split(",")} - {""}
    return sorted(unwanted - {each.name for each in found})


def _tried(adapter: Adapter) -> Finding:
    """Run the contract tests of an adapter and keep their verdict; there is none where they cannot be run here."""
    what = f"contract of {_kind(adapter.record)} {adapter.record.id}"
    try:
        verdict = check_contract(adapter)
    except HostError as error:
        return Finding(what=what, ok=False, detail=f"{error}; or leave the contract tests out with --no-contract")
    keep_verdict(verdict)
    faults = [f"{each.name.rpartition('::')[2]}: {each.message}" for each in verdict.failed]
    return Finding(what=what, ok=verdict.is_pass, detail="; ".join([_counts(verdict), *faults]))


def _all_found() -> tuple[Found, ...]:
    installed = discover()
    failures = Catalogue.load(installed=installed).failures
    found = [*_usable_and_refused(installed, failures), *_never_loaded(installed, failures)]
    return tuple(sorted(found, key=lambda each: (each.name, each.distribution)))


def _usable_and_refused(installed: Installed, failures: list[Failure]) -> Iterator[Found]:
    causes = {(each.name, each.distribution): each.cause for each in failures}
    for each in installed.extensions:
        cause = causes.get((each.name, each.distribution))
        yield _found(each, "failed" if cause else "ok", cause=cause, extension=each)


def _never_loaded(installed: Installed, failures: list[Failure]) -> Iterator[Found]:
    loaded = {(each.name, each.distribution) for each in installed.extensions}
    for failure in failures:
        if (failure.name, failure.distribution) not in loaded:
            yield _found(failure, "failed", cause=failure.cause)
    for disabled in installed.disabled:
        yield _found(disabled, "disabled")


def _found(
    each: Extension | Failure | Disabled, state: str, *, cause: str | None = None, extension: Extension | None = None
) -> Found:
    return Found(
        name=each.name,
        distribution=each.distribution,
        version=each.version,
        module=each.module,
        state=state,
        cause=cause,
        extension=extension,
    )


def _find(name: str) -> Found:
    found = _all_found()
    matching = [each for each in found if each.name == name] or [each for each in found if each.distribution == name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        several = ", ".join(f"{each.name} of {each.distribution} {each.version}" for each in matching)
        raise InputError(f"{name!r} names more than one extension: {several}")
    known = [each.name for each in found]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"installed: {', '.join(known)}"
    raise InputError(f"unknown extension {name!r}; {hint}")


def _identity(found: Found) -> dict[str, Any]:
    return {"name": found.name, "distribution": found.distribution, "version": found.version}


def _summary(found: Found) -> dict[str, Any]:
    return _identity(found) | {
        "module": found.module,
        "state": found.state,
        "cause": found.cause,
        "brings": _brought(found),
    }


def _brought(found: Found) -> dict[str, list[str]]:
    brought: dict[str, list[str]] = {}
    for record in found.records:
        name = record.id if isinstance(record, Record) else record.descriptor
        brought.setdefault(_kind(record), []).append(name)
    return brought


def _counted(found: Found) -> list[str]:
    counts = Counter(_kind(record) for record in found.records)
    return [f"{count} {kind if count == 1 else PLURALS.get(kind, f'{kind}s')}" for kind, count in counts.items()]


def _kind(record: Any) -> str:
    return str(type(record).__name__.removesuffix("Record").lower())


def _imports(found: Found) -> HookImports | None:
    """None for an extension whose hook module nobody knows or nobody wants to be loaded."""
    if found.module is None or found.state == "disabled":
        return None
    return hook_imports(found.module.partition(":")[0], [each.record.target for each in found.adapters()])


def _described(found: Found, imports: HookImports | None) -> dict[str, Any]:
    return _summary(found) | {
        "api": sorted({each.record.api for each in found.adapters()}),
        "records": [{"kind": _kind(record)} | asdict(record) for record in found.records],
        "descriptors": [_checked(resource)[0] for resource in _resources(found)],
        "hooks": None if imports is None else asdict(imports) | {"light": imports.is_light},
        "verdicts": [_judged(adapter) for adapter in found.adapters() if isinstance(adapter.record, JUDGED)],
    }


def _judged(adapter: Adapter) -> dict[str, Any]:
    verdict = verdict_for(adapter)
    kept = None if verdict is None else asdict(verdict) | {"is_pass": verdict.is_pass}
    return {"kind": _kind(adapter.record), "adapter": adapter.record.id, "verdict": kept}


def _resources(found: Found) -> list[str]:
    return [
        resource
        for record in found.records
        for resource in (record.descriptors if isinstance(record, Record) else (record.descriptor,))
    ]


def _checked(resource: str) -> tuple[dict[str, JsonValue], list[str]]:
    """What a packaged descriptor says it is, and its faults with their places."""
    package, _, path = resource.partition(":")
    try:
        with foreign_code(f"{resource} cannot be read"):
            document = parse(decoded(files(package).joinpath(path).read_bytes(), resource), resource)
    except AkbenchError as error:
        return {"file": resource}, [str(error)]
    faults = [f"{place}: {message}" for place, message in faults_of(document)]
    if faults:
        return {"file": resource}, faults
    data = document.data
    identity = {"kind": kind_of(document), "id": data["id"], "version": data["version"], "hash": canonical_hash(data)}
    return {"file": resource} | identity, []


def _findings(found: Found) -> Iterator[Finding]:
    if found.state == "disabled":
        detail = f"it is left out: AKBENCH_DISABLE names {found.name}"
        yield Finding(what="registration", ok=False, detail=detail)
        return
    fault = found.cause or (
        None if found.records else f"registers nothing: {found.module} implements no hook, or all give ()"
    )
    yield Finding(what="registration", ok=fault is None, detail=fault or f"API version {API_VERSION}")
    imports = _imports(found)
    if imports is not None:
        yield Finding(what="hooks", ok=imports.is_light, detail="; ".join(imports.faults()) or _lightness(imports))
    for adapter in found.adapters():
        yield _imported(adapter)
    for resource in _resources(found):
        identity, faults = _checked(resource)
        detail = "; ".join(faults) or f"{identity['kind']} {identity['id']} {identity['version']}"
        yield Finding(what=f"descriptor {resource.rpartition(':')[2].rpartition('/')[2]}", ok=not faults, detail=detail)


def _lightness(imports: HookImports) -> str:
    return f"light: imported in {1000 * (imports.seconds or 0):.0f} ms of CPU time"


def _imported(adapter: Adapter) -> Finding:
    what = f"{_kind(adapter.record)} {adapter.record.id}"
    kind = CLASSES.get(type(adapter.record))
    try:
        if kind is None:
            adapter.function()
        else:
            adapter.load(kind)
    except AkbenchError as error:
        return Finding(what=what, ok=False, detail=str(error))
    return Finding(what=what, ok=True, detail=f"{adapter.record.target} can be imported")


def _print_extension(found: Found, imports: HookImports | None) -> None:
    state = f"{found.state}: {found.cause}" if found.cause else found.state
    say(f"{found.name}, of {found.distribution} {found.version}, hooks in {found.module or 'an unknown module'}")
    say(f"state: {state}")
    if imports is not None:
        say(f"hooks: {'; '.join(imports.faults()) or _lightness(imports)}")
    adapters = [
        (_kind(each.record), each.record.id, str(each.record.api), each.record.target, each.record.summary)
        for each in found.adapters()
    ]
    if adapters:
        print_table(("adapter", "id", "API", "target", "what it is"), adapters)
    described = [_checked(resource) for resource in _resources(found)]
    if described:
        print_table(("descriptor", "version", "file"), [_described_row(*each) for each in described])
    for adapter in found.adapters():
        if isinstance(adapter.record, JUDGED):
            say(f"contract of {_kind(adapter.record)} {adapter.record.id}: {_said(verdict_for(adapter))}")


def _described_row(identity: dict[str, JsonValue], faults: list[str]) -> tuple[str, str, str]:
    if faults:
        return "; ".join(faults), "-", str(identity["file"])
    return f"{identity['kind']}/{identity['id']}", str(identity["version"]), str(identity["file"])


def _said(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not tested with the installed versions"
    return f"{'passed' if verdict.is_pass else 'failed'} at {verdict.at} ({_counts(verdict)})"


def _counts(verdict: Verdict) -> str:
    return f"{verdict.passed} passed, {verdict.skipped} skipped, {len(verdict.failed)} failed"
