"""What this distribution registers with AK-Bench; light, as discovery imports it."""

from __future__ import annotations

from akbench.spec import DatasetImporterRecord, hookimpl


@hookimpl
def akbench_register_dataset_importers() -> list[DatasetImporterRecord]:
    """The formats that can be imported."""
    return [
        DatasetImporterRecord(
            id="quixbugs",
            target="akbench_datasets.quixbugs:read_quixbugs",
            summary="QuixBugs: 40 Python programs with a bug in one line",
        ),
        DatasetImporterRecord(
            id="exercism-python",
            target="akbench_datasets.exercism:read_exercism_track",
            summary="Exercism's Python track: the practice exercises as new features",
        ),
        DatasetImporterRecord(
            id="polyglot-python",
            target="akbench_datasets.exercism:read_polyglot",
            summary="The polyglot benchmark's Python part",
        ),
        DatasetImporterRecord(
            id="swebench-jsonl",
            target="akbench_datasets.swebench:read_instances",
            summary="SWE-bench-style instances, one JSON object a line",
        ),
        DatasetImporterRecord(
            id="harbor",
            target="akbench_datasets.harbor:read_harbor",
            summary="Harbor task folders, with their image where a sandbox builds it",
        ),
    ]
