"""Finding installed extensions: entry points in, records and failures out. One broken extension stops no other."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from akbench.spec import hooks

__all__ = ["Extension", "Failure", "Installed", "discover"]

GROUP = "akbench"
CORE = "akbench-core"
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
}
"""Hook -> what it must return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """An installed distribution that registered something. `records` are in the order of the hooks."""

    name: str
    distribution: str
    version: str
    records: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An extension that could not be used, and why."""

    name: str
    distribution: str
    version: str
    cause: str

    def __str__(self) -> str:
        return f"extension {self.name!r} of {self.distribution} {self.version} is not usable: {self.cause}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """All extensions found, sorted by name, and those that failed."""

    extensions: tuple[Extension, ...]
    failures: tuple[Failure, ...]


def discover(environ: dict[str, str] | None = None) -> Installed:
    """Load every extension of the group ``akbench``.

    ``AKBENCH_DISABLE`` (comma-separated entry-point names) leaves extensions out; ``AKBENCH_STRICT=1`` re-raises the
    first failure instead of collecting it.
    """
    environ = dict(os.environ) if environ is None else environ
    disabled = {name.strip() for name in environ.get("AKBENCH_DISABLE", "").split(",")}
    strict = environ.get("AKBENCH_STRICT") == "1"
    found = sorted(entry_points(group=GROUP), key=_order)
    extensions: list[Extension] = []
    failures: list[Failure] = []
    for entry in found:
        if entry.name in disabled:
            continue
        try:
            extensions.append(_load(entry))
        except Exception as error:
            if strict:
                raise
            name, version = _distribution(entry)
            cause = f"{type(error).__name__}: {error}"
            failures.append(Failure(name=entry.name, distribution=name, version=version, cause=cause))
    return Installed(extensions=tuple(extensions), failures=tuple(failures))


def _order(entry: EntryPoint) -> tuple[bool, str, str]:
    """The core first, so that nothing can take its names; then by name, so that the order is the same everywhere."""
    distribution, _ = _distribution(entry)
    return distribution != CORE, entry.name, distribution


def _load(entry: EntryPoint) -> Extension:
    distribution, version = _distribution(entry)
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    module = entry.load()
    manager.register(module, name=entry.name)
    manager.check_pending()
    records = tuple(record for hook, kind in RECORDS.items() for record in _call(manager, hook, kind))
    return Extension(name=entry.name, distribution=distribution, version=version, records=records)


def _call(manager: pluggy.PluginManager, hook: str, kind: type[Any]) -> list[Any]:
    answers: list[Iterable[Any]] = getattr(manager.hook, hook)()
    records = [record for answer in answers for record in answer]
    for record in records:
        if not isinstance(record, kind):
            raise TypeError(f"{hook} returned {type(record).__name__}, expected {kind.__name__}")
        api = getattr(record, "api", hooks.API_VERSION)
        if api != hooks.API_VERSION:
            raise TypeError(f"{record.id!r} was written for API version {api}; this core offers {hooks.API_VERSION}")
    return records


def _distribution(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown", "unknown")
