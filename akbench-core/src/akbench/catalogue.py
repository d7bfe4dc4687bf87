"""Everything that can be used by name: descriptors by kind and id, and the adapters behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, cast

from akbench.descriptors.document import parse, read
from akbench.descriptors.kinds import (
    KINDS,
    AgentDescriptor,
    Descriptor,
    DimensionDescriptor,
    EvaluatorDescriptor,
    MetricDescriptor,
)
from akbench.descriptors.snapshot import Snapshot, kind_of, load_document
from akbench.discovery import Extension, Failure, Installed, discover
from akbench.foreign import cause_of, foreign_code
from akbench.plain_yaml import decoded
from akbench.project import descriptor_files
from akbench.spec import (
    AkbenchError,
    Evaluator,
    ExtensionError,
    ImportedDataset,
    InputError,
    Plugin,
    Probe,
    ProbeContext,
    Reading,
    RunFacts,
    Runtime,
    Sandbox,
    SessionAgent,
)
from akbench.spec.hooks import (
    AgentRecord,
    DatasetImporterRecord,
    DescriptorRecord,
    DimensionRecord,
    EvaluatorRecord,
    ExporterRecord,
    ImporterRecord,
    MetricRecord,
    PluginRecord,
    Record,
    RuntimeRecord,
    SandboxRecord,
)

__all__ = ["Adapter", "Catalogue", "Probing"]

_RENAME = "; give it another id, or leave one of the two extensions out with AKBENCH_DISABLE"


class Probing(Protocol):
    """An adapter that can be asked what is installed."""

    def probe(self, context: ProbeContext, /) -> Probe:
        """What is installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A registered record and the distribution that brought it."""

    record: Record
    distribution: str
    version: str

    def load(self, kind: type[Any]) -> Any:
        """Import the target and build it; `kind` is the class it must be derived from."""
        target = self._import()
        if not (isinstance(target, type) and issubclass(target, kind)):
            raise self._error(f"{self.record.target} is no {kind.__name__}")
        with self.guard("cannot be loaded"):
            return target()

    @contextmanager
    def guard(self, failing: str) -> Iterator[None]:
        """Run the adapter's own code; however it fails is an `ExtensionError` that names it (see `foreign_code`)."""
        with foreign_code(f"adapter {self.record.id!r} of {self.distribution} {self.version} {failing}"):
            yield

    def probed(self, adapter: Probing, context: ProbeContext) -> Probe:
        """What `adapter`, built from this record, finds on this machine. Raises `ExtensionError` that names it."""
        with self.guard("cannot be probed"):
            found: object = adapter.probe(context)
        if not isinstance(found, Probe):
            owner = f"adapter {self.record.id!r} of {self.distribution} {self.version}"
            raise ExtensionError(f"{owner}: probe returned {type(found).__name__}, expected Probe")
        return found

    def function(self) -> Any:
        """Import the target, a function."""
        target = self._import()
        if not callable(target):
            raise self._error(f"{self.record.target} cannot be called")
        return target

    def _import(self) -> Any:
        module, _, name = self.record.target.partition(":")
        with self.guard("cannot be loaded"):
            return getattr(import_module(module), name)

    def _error(self, cause: str) -> ExtensionError:
        return ExtensionError(
            f"adapter {self.record.id!r} of {self.distribution} {self.version} cannot be loaded: {cause}"
        )


@dataclass(slots=True)
class Catalogue:
    """Descriptors and adapters of all installed extensions and of the project's own ``descriptors/`` folder."""

    failures: list[Failure] = field(default_factory=list)
    _descriptors: dict[tuple[str, str], Snapshot[Descriptor]] = field(default_factory=dict)
    _adapters: dict[tuple[type[Record], str], Adapter] = field(default_factory=dict)

    @classmethod
    def load(cls, project: Path | None = None, installed: Installed | None = None) -> Catalogue:
        """The catalogue of what is installed, and of the descriptors in `project`. Never fails for an extension."""
        installed = installed or discover()
        catalogue = cls(failures=list(installed.failures))
        for extension in installed.extensions:
            catalogue._add_extension(extension)
        if project is not None:
            catalogue._add_project(project)
        return catalogue

    def descriptors(self, kind: str) -> tuple[Snapshot[Descriptor], ...]:
        """All descriptors of `kind`, by id."""
        return tuple(self._descriptors[key] for key in sorted(self._descriptors) if key[0] == kind)

    def find(self, kind: str, name: str) -> Snapshot[Descriptor]:
        """The descriptor of `kind` with id `name`. Raises `InputError` that lists what there is."""
        found = self._descriptors.get((kind, name))
        if found is not None:
            return found
        known = [key[1] for key in sorted(self._descriptors) if key[0] == kind]
        raise InputError(f"unknown {kind} {name!r}{_did_you_mean(name, known)}{self._failed_hint()}")

    def agent(self, name: str) -> Snapshot[AgentDescriptor]:
        """The agent descriptor `name`."""
        return cast("Snapshot[AgentDescriptor]", self.find("agent", name))

    def dimension(self, name: str) -> Snapshot[DimensionDescriptor]:
        """The dimension descriptor `name`."""
        return cast("Snapshot[DimensionDescriptor]", self.find("dimension", name))

    def evaluator(self, name: str) -> Snapshot[EvaluatorDescriptor]:
        """The evaluator descriptor `name`."""
        return cast("Snapshot[EvaluatorDescriptor]", self.find("evaluator", name))

    def agent_adapter(self, name: str) -> tuple[Adapter, SessionAgent[Any]]:
        """The adapter with id `name`, loaded."""
        adapter = self._adapter(AgentRecord, name, "agent adapter")
        return adapter, cast("SessionAgent[Any]", adapter.load(SessionAgent))

    def runtime_adapter(self, name: str) -> tuple[Adapter, Runtime[Any]]:
        """The adapter with id `name`, loaded."""
        adapter = self._adapter(RuntimeRecord, name, "runtime adapter")
        return adapter, cast("Runtime[Any]", adapter.load(Runtime))

    def plugin_adapter(self, name: str) -> tuple[Adapter, Plugin]:
        """The adapter with id `name`, loaded."""
        adapter = self._adapter(PluginRecord, name, "plugin adapter")
        return adapter, cast("Plugin", adapter.load(Plugin))

    def evaluator_adapter(self, name: str) -> tuple[Adapter, Evaluator]:
        """The evaluator adapter with id `name`, loaded."""
        adapter = self._adapter(EvaluatorRecord, name, "evaluator")
        return adapter, cast("Evaluator", adapter.load(Evaluator))

    def sandbox(self, name: str) -> tuple[Adapter, Sandbox]:
        """The sandbox with id `name`, loaded."""
        adapter = self._adapter(SandboxRecord, name, "sandbox")
        return adapter, cast("Sandbox", adapter.load(Sandbox))

    def registered(self, kind: type[Record], name: str) -> Adapter | None:
        """The adapter of this kind with id `name`, not loaded; None if no extension brings one."""
        return self._adapters.get((kind, name))

    def sandbox_names(self) -> tuple[str, ...]:
        """All sandboxes, in the order of registration: strongest first among the built-in ones."""
        return tuple(name for kind, name in self._adapters if kind is SandboxRecord)

    def exporter(self, name: str) -> Adapter | None:
        """The exporter for the format `name`, or None if no extension brings one."""
        return self._adapters.get((ExporterRecord, name))

    def exporters(self) -> tuple[Adapter, ...]:
        """All exporters, by format."""
        return self._all(ExporterRecord)

    def importers(self) -> tuple[Adapter, ...]:
        """All importers, by format."""
        return self._all(ImporterRecord)

    def export_function(self, name: str) -> Callable[[Path, Path, tuple[str, ...] | None], Path]:
        """The writer of the format `name`. Raises `InputError` that lists the formats there are."""
        found = self._adapter(ExporterRecord, name, "export format").function()
        return cast("Callable[[Path, Path, tuple[str, ...] | None], Path]", found)

    def import_function(self, name: str) -> Callable[[Path, Path], str]:
        """The reader of the format `name`. Raises `InputError` that lists the formats there are."""
        return cast("Callable[[Path, Path], str]", self._adapter(ImporterRecord, name, "import format").function())

    def dataset_importers(self) -> tuple[Adapter, ...]:
        """All readers of public sets of tasks, by format."""
        return self._all(DatasetImporterRecord)

    def read_foreign_dataset(self, name: str, source: Path) -> ImportedDataset:
        """The set of tasks in the checkout `source`, of the format `name`."""
        adapter = self._adapter(DatasetImporterRecord, name, "dataset format")
        function = adapter.function()
        with adapter.guard("cannot read the checkout"):
            found = function(source)
        if not isinstance(found, ImportedDataset):
            raise ExtensionError(f"dataset importer {name!r} returned {type(found).__name__}, no ImportedDataset")
        return found

    def _all(self, kind: type[Record]) -> tuple[Adapter, ...]:
        return tuple(self._adapters[key] for key in sorted(k for k in self._adapters if k[0] is kind))

    def metric_function(self, name: str) -> Callable[[RunFacts], Reading] | None:
        """The function behind the metric descriptor `name`; None for one that plugins report."""
        descriptor = cast("MetricDescriptor", self.find("metric", name).model)
        if descriptor.metric.adapter is None:
            return None
        adapter = self._adapter(MetricRecord, descriptor.metric.adapter, "metric adapter")
        return cast("Callable[[RunFacts], Reading]", adapter.function())

    def _adapter(self, kind: type[Record], name: str, word: str) -> Adapter:
        found = self._adapters.get((kind, name))
        if found is not None:
            return found
        known = [key[1] for key in self._adapters if key[0] is kind]
        raise InputError(f"unknown {word} {name!r}{_did_you_mean(name, known)}{self._failed_hint()}")

    def _failed_hint(self) -> str:
        return "".join(f"\n{failure}" for failure in self.failures)

    def _add_extension(self, extension: Extension) -> None:
        try:
            with foreign_code("its descriptors cannot be read"):
                descriptors, adapters = _contents(extension)
            for key in descriptors:
                if key in self._descriptors:
                    raise InputError(
                        f"{key[0]} {key[1]!r} is already registered by {self._descriptors[key].origin}{_RENAME}"
                    )
            for adapter_key in adapters:
                if adapter_key in self._adapters:
                    other = self._adapters[adapter_key].distribution
                    raise InputError(f"adapter {adapter_key[1]!r} is already registered by {other}{_RENAME}")
        except AkbenchError as error:
            self.failures.append(
                Failure(
                    name=extension.name,
                    distribution=extension.distribution,
                    version=extension.version,
                    cause=cause_of(error),
                    module=extension.module,
                )
            )
            return
        self._descriptors.update(descriptors)
        self._adapters.update(adapters)

    def _add_project(self, project: Path) -> None:
        if not project.is_dir():
            raise InputError("no such folder; name a project's folder with --project", place=str(project))
        for path in descriptor_files(project):
            snapshot = _snapshot(read(path), origin=str(path))
            key = (snapshot.kind, snapshot.model.id)
            if key in self._descriptors:
                raise InputError(
                    f"{snapshot.kind} {snapshot.model.id!r} is already registered by {self._descriptors[key].origin}",
                    place=snapshot.document.place(("id",)),
                )
            self._descriptors[key] = snapshot


def _contents(
    extension: Extension,
) -> tuple[dict[tuple[str, str], Snapshot[Descriptor]], dict[tuple[type[Record], str], Adapter]]:
    descriptors: dict[tuple[str, str], Snapshot[Descriptor]] = {}
    adapters: dict[tuple[type[Record], str], Adapter] = {}
    for record in extension.records:
        if isinstance(record, Record):
            key = (type(record), record.id)
            if key in adapters:
                raise InputError(f"adapter {record.id!r} is registered twice")
            adapters[key] = Adapter(record=record, distribution=extension.distribution, version=extension.version)
        for resource in _resources(record):
            snapshot = _packaged(resource, extension)
            name = (snapshot.kind, snapshot.model.id)
            if name in descriptors and descriptors[name].document.source != resource:
                taken = descriptors[name].document.source
                raise snapshot.document.error(f"{name[0]} {name[1]!r} is described by {taken}, too", ("id",))
            descriptors[name] = snapshot
    return descriptors, adapters


def _resources(record: Record | DimensionRecord | DescriptorRecord) -> tuple[str, ...]:
    return record.descriptors if isinstance(record, Record) else (record.descriptor,)


def _packaged(resource: str, extension: Extension) -> Snapshot[Descriptor]:
    package, _, path = resource.partition(":")
    try:
        content = files(package).joinpath(path).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{package} was installed without {path}; include it in the wheel") from error
    return _snapshot(
        parse(decoded(content, resource), resource), origin=f"{extension.distribution} {extension.version}"
    )


def _snapshot(document: Any, origin: str) -> Snapshot[Descriptor]:
    found = load_document(document, KINDS[kind_of(document)], origin=origin)
    if isinstance(found.model, EvaluatorDescriptor) and found.model.evaluator.combine:
        raise found.document.error("evaluators are combined in a task's evaluator.yaml alone", ("evaluator", "combine"))
    return found


def _did_you_mean(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(sorted(known))}" if known else "; none is registered"
