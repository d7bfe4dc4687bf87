"""What this distribution registers with AK-Bench."""

from __future__ import annotations

from collections.abc import Iterable

from akbench.spec import ExporterRecord, ImporterRecord, hookimpl

__all__ = ["akbench_register_exporters", "akbench_register_importers"]


@hookimpl
def akbench_register_exporters() -> Iterable[ExporterRecord]:
    """An experiment as an L1 repository."""
    return [
        ExporterRecord(
            id="abv3",
            target="akbench_abv3.exchange.export:write_repository",
            summary="ABV3-L1 repository of one experiment, which abv3 checks and runs again",
        )
    ]


@hookimpl
def akbench_register_importers() -> Iterable[ImporterRecord]:
    """The results of an L1 judge as an experiment."""
    return [
        ImporterRecord(
            id="abv3",
            target="akbench_abv3.exchange.importing:import_results",
            summary="results of an ABV3-L1 repository, one variant for each of its experiments",
        )
    ]
