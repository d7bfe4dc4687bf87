"""Finding installed extensions: entry points in, records and failures out. One broken extension stops no other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import EntryPoint
from inspect import Parameter, signature
from typing import Any

import pluggy

from akbench.foreign import Identity, cause_of, distribution_of, foreign_code, installed_entry_points, loading
from akbench.spec import ExtensionError, hooks

__all__ = ["Disabled", "Extension", "Failure", "Installed", "discover"]

GROUP = "akbench"
CORE = "akbench-core"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MODULE = re.compile(r"\w+(\.\w+)*(:\w+(\.\w+)*)?")
_RESOURCE = re.compile(r"[^:\s]+:[^:\s]+")
RECORDS: dict[str, type[Any]] = {
    "akbench_register_agents": hooks.AgentRecord,
    "akbench_register_runtimes": hooks.RuntimeRecord,
    "akbench_register_plugins": hooks.PluginRecord,
    "akbench_register_evaluators": hooks.EvaluatorRecord,
    "akbench_register_dimensions": hooks.DimensionRecord,
    "akbench_register_metrics": hooks.MetricRecord,
    "akbench_register_descriptors": hooks.DescriptorRecord,
    "akbench_register_sandboxes": hooks.SandboxRecord,
    "akbench_register_exporters": hooks.ExporterRecord,
    "akbench_register_importers": hooks.ImporterRecord,
    "akbench_register_dataset_importers": hooks.DatasetImporterRecord,
}
"""Hook -> what it must return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """An installed distribution that registered something.

    `module` is its hook module; `records` are in the order of the hooks.
    """

    name: str
    distribution: str
    version: str
    module: str
    records: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An extension that could not be used, and why. `module` is None where its metadata do not even tell that."""

    name: str
    distribution: str
    version: str
    cause: str
    module: str | None = None

    def __str__(self) -> str:
        return f"extension {self.name!r} of {self.distribution} {self.version} is not usable: {self.cause}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disabled:
    """An extension that ``AKBENCH_DISABLE`` names; nothing of it was loaded."""

    name: str
    distribution: str
    version: str
    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """All extensions found, sorted by name, those that failed and those that were left out."""

    extensions: tuple[Extension, ...]
    failures: tuple[Failure, ...]
    disabled: tuple[Disabled, ...] = ()


def discover(environ: dict[str, str] | None = None) -> Installed:
    """Load every extension of the group ``akbench``.

    ``AKBENCH_DISABLE`` (comma-separated entry-point names) leaves extensions out; ``AKBENCH_STRICT=1`` re-raises the
    first failure instead of collecting it.
    """
    environ = dict(os.environ) if environ is None else environ
    unwanted = {name.strip() for name in environ.get("AKBENCH_DISABLE", "").split(",")}
    strict = environ.get("AKBENCH_STRICT") == "1"
    found, unreadable = installed_entry_points(GROUP)
    extensions: list[Extension] = []
    disabled: list[Disabled] = []
    failures = [
        Failure(name=name, distribution=name, version=version, cause=f"its metadata cannot be read: {cause}")
        for (name, version), cause in unreadable.items()
    ]
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    for (name, version), entry in sorted(((distribution_of(entry), entry) for entry in found), key=_order):
        if entry.name in unwanted:
            disabled.append(Disabled(name=entry.name, distribution=name, version=version, module=entry.value))
            continue
        try:
            with foreign_code("it cannot be loaded"), loading(entry.name, f"{name} {version}"):
                records = _load(manager, entry)
        except ExtensionError as error:
            cause = error.__cause__ or error
            if strict:
                # An exit would end the command without a word.
                raise (cause if isinstance(cause, Exception) else error) from None
            failures.append(
                Failure(name=entry.name, distribution=name, version=version, cause=cause_of(cause), module=entry.value)
            )
            continue
        extensions.append(
            Extension(name=entry.name, distribution=name, version=version, module=entry.value, records=records)
        )
    return Installed(extensions=tuple(extensions), failures=tuple(failures), disabled=tuple(disabled))


def _order(found: tuple[Identity, EntryPoint]) -> tuple[bool, str, str]:
    """The core first, so that nothing can take its names; then by name, so that the order is the same everywhere."""
    (distribution, _), entry = found
    return distribution != CORE, entry.name, distribution


def _load(manager: pluggy.PluginManager, entry: EntryPoint) -> tuple[Any, ...]:
    """The records of one extension. It is alone in the manager, and nothing of it stays there."""
    if not _matches(_MODULE, entry.value):
        raise ValueError(f"its entry point {entry.value!r} names no module")
    module = entry.load()
    try:
        _check_hooks(module)
        manager.register(module, name=entry.name)
        manager.check_pending()
        return tuple(record for hook, kind in RECORDS.items() for record in _call(manager, hook, kind))
    finally:
        _forget(manager, module)


def _check_hooks(module: Any) -> None:
    """Raise for an implementation of no hook, with the one that may be meant, and for one with arguments."""
    for name, value in vars(module).items():
        if not hasattr(value, "akbench_impl"):
            continue
        if name not in RECORDS:
            close = get_close_matches(name, RECORDS, n=1)
            raise TypeError(f"unknown hook {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        needed = [each.name for each in signature(value).parameters.values() if each.default is Parameter.empty]
        if needed:
            raise TypeError(f"{name} is called without arguments; here it wants {', '.join(needed)}")


def _forget(manager: pluggy.PluginManager, module: Any) -> None:
    """Also where the registration failed halfway: pluggy keeps what it took until then."""
    if manager.is_registered(module):
        manager.unregister(module)


def _call(manager: pluggy.PluginManager, hook: str, kind: type[Any]) -> list[Any]:
    caller = getattr(manager.hook, hook)
    answers: list[Iterable[Any]] = caller()
    if len(answers) < len(caller.get_hookimpls()):  # pluggy drops None
        raise TypeError(f"{hook} returned None, expected a list of {kind.__name__}; return () for none")
    for answer in answers:
        if isinstance(answer, str | Mapping) or not isinstance(answer, Iterable):
            raise TypeError(f"{hook} returned {type(answer).__name__}, expected a list of {kind.__name__}")
    records = [record for answer in answers for record in answer]
    for record in records:
        if not isinstance(record, kind):
            raise TypeError(f"{hook} returned {type(record).__name__}, expected {kind.__name__}")
        _check(record)
        api = getattr(record, "api", hooks.API_VERSION)
        if api != hooks.API_VERSION or not isinstance(api, int):
            raise TypeError(f"{record.id!r} was written for API version {api!r}; this core offers {hooks.API_VERSION}")
    return records


def _check(record: Any) -> None:
    """Raise for a record whose fields are not what they are declared to be: Python does not look."""
    paths: Any = getattr(record, "descriptors", None)
    if isinstance(record, hooks.Record):
        adapter_id: Any = record.id
        target: Any = record.target
        if not _matches(_ID, adapter_id):
            raise ValueError(f"{adapter_id!r} is no adapter id: letters, digits, '.', '_' and '-'")
        if not _matches(_RESOURCE, target):
            raise ValueError(f"target {target!r} of {adapter_id!r} is not written as package.module:Name")
        if not isinstance(record.summary, str):
            raise TypeError(f"summary {record.summary!r} of {adapter_id!r} is no text")
    else:
        paths = (record.descriptor,)
    if (
        isinstance(paths, str)
        or not isinstance(paths, Iterable)
        or not all(_matches(_RESOURCE, path) for path in paths)
    ):
        raise ValueError(f"descriptors {paths!r} are not a list of package:path/in/package.yaml")


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
