"""The report as a whole: from a store to a folder of pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from akbench.store.query import Store
from akbench_report.pages import pages
from akbench_report.publish import publish

__all__ = ["write_report", "write_site"]


def write_site(data: Path, target: Path, experiments: tuple[str, ...] | None) -> Path:
    """Report the stored `experiments` below `data` (all when None) in the folder `target`; returns its first page.

    Raises `InputError` for an unknown experiment.
    """
    return write_report(Store(data), target, experiments)


def write_report(store: Store, target: Path, experiments: Sequence[str] | None) -> Path:
    """Report `experiments` of `store` (all when None) in the folder `target`; returns its first page."""
    target = target.resolve()
    chosen = store.experiment_ids() if experiments is None else tuple(dict.fromkeys(experiments))
    views = tuple(store.experiment(experiment) for experiment in chosen)
    publish(pages(store, views, target=target, written_at=datetime.now(UTC)), target)
    return target / "index.html"
