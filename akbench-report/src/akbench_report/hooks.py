"""What this distribution registers with AK-Bench."""

from __future__ import annotations

from collections.abc import Iterable

from akbench.spec import ExporterRecord, hookimpl

__all__ = ["akbench_register_exporters"]


@hookimpl
def akbench_register_exporters() -> Iterable[ExporterRecord]:
    """The static HTML report."""
    return [
        ExporterRecord(
            id="html",
            target="akbench_report.site:write_site",
            summary="static HTML report that opens from disk, without a server",
        )
    ]
