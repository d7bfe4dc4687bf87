"""The hooks through which an extension registers what it brings.

A hook implementation takes no arguments and returns records: plain data that name an adapter by its import path.
Hook modules import nothing but `akbench.spec`; adapters are imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pluggy

__all__ = [
    "API_VERSION",
    "AgentRecord",
    "DatasetImporterRecord",
    "DescriptorRecord",
    "DimensionRecord",
    "EvaluatorRecord",
    "ExporterRecord",
    "ImporterRecord",
    "MetricRecord",
    "PluginRecord",
    "Record",
    "RuntimeRecord",
    "SandboxRecord",
    "hookimpl",
    "hookspec",
]

PROJECT = "akbench"
API_VERSION = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every registration says.

    - `id`: the adapter id that descriptors name.
    - `target`: the import path of the adapter, ``package.module:Name``; imported on first use.
    - `descriptors`: descriptor files of the package, ``package:path/in/package.yaml``.
    - `api`: the version of the contract the adapter was written for.
    """

    id: str
    target: str
    summary: str
    descriptors: tuple[str, ...] = ()
    api: int = API_VERSION


class AgentRecord(Record):
    """`target` is a `SessionAgent`; most are a `ProcessAgent`."""

    __slots__ = ()


class RuntimeRecord(Record):
    """`target` is a `Runtime`: a layer that carries the agent or its model requests."""

    __slots__ = ()


class PluginRecord(Record):
    """`target` is a `Plugin`: equipment of a runtime or an agent whose effect is measured."""

    __slots__ = ()


class EvaluatorRecord(Record):
    """`target` is an `Evaluator`."""

    __slots__ = ()


class SandboxRecord(Record):
    """`target` is a `Sandbox`."""

    __slots__ = ()


class MetricRecord(Record):
    """`target` is a function ``(RunFacts) -> Reading`` that derives one metric of one run."""

    __slots__ = ()


class ExporterRecord(Record):
    """`target` is a function ``(data: Path, target: Path, experiments: tuple[str, ...] | None) -> Path``.

    It writes the stored experiments (all when None) and returns the file a person should open.
    """

    __slots__ = ()


class ImporterRecord(Record):
    """`target` is a function ``(source: Path, data: Path) -> str``.

    It reads foreign results at `source` into the store below `data` as one experiment and returns that one's id. What
    the source does not say is unavailable with its reason, and the experiment's labels say that it was imported.
    """

    __slots__ = ()


class DatasetImporterRecord(Record):
    """`target` is a function ``(source: Path) -> ImportedDataset``.

    It reads the user's own checkout of a public set of tasks, changes nothing there and runs nothing of it. Raises
    `InputError` when `source` is no such checkout.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionRecord:
    """A dimension is data: the descriptor file ``package:path/in/package.yaml`` says all."""

    descriptor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptorRecord:
    """A descriptor of any other kind (category, model, environment), as ``package:path/in/package.yaml``."""

    descriptor: str


@hookspec
def akbench_register_agents() -> Iterable[AgentRecord]:  # type: ignore[empty-body]
    """Agents. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_runtimes() -> Iterable[RuntimeRecord]:  # type: ignore[empty-body]
    """Runtimes, routers among them. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_plugins() -> Iterable[PluginRecord]:  # type: ignore[empty-body]
    """Plugins of runtimes or agents. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_evaluators() -> Iterable[EvaluatorRecord]:  # type: ignore[empty-body]
    """Evaluators. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_dimensions() -> Iterable[DimensionRecord]:  # type: ignore[empty-body]
    """Dimensions that experiments may vary or observe. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_metrics() -> Iterable[MetricRecord]:  # type: ignore[empty-body]
    """Metrics of a run. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_descriptors() -> Iterable[DescriptorRecord]:  # type: ignore[empty-body]
    """Further descriptors: categories, models, environments. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_sandboxes() -> Iterable[SandboxRecord]:  # type: ignore[empty-body]
    """Sandboxes. Called once per process, when the catalogue is built."""


@hookspec
def akbench_register_exporters() -> Iterable[ExporterRecord]:  # type: ignore[empty-body]
    """Writers of reports and exports; the id is the name of the format. Called once, when the catalogue is built."""


@hookspec
def akbench_register_importers() -> Iterable[ImporterRecord]:  # type: ignore[empty-body]
    """Readers of foreign results; the id is the name of the format. Called once, when the catalogue is built."""


@hookspec
def akbench_register_dataset_importers() -> Iterable[DatasetImporterRecord]:  # type: ignore[empty-body]
    """Readers of public sets of tasks; the id is the name of the format. Called once, when the catalogue is built."""
