"""Bringing the data of an older descriptor to the present schema before it is validated. The text stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

__all__ = ["MIGRATIONS", "Migration", "migrated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step: `change` turns the data of one schema version into that of version `to`.

    It is given a copy of its own and returns the new data; ``schema_version`` is set afterwards.
    """

    to: str
    change: Callable[[dict[str, Any]], dict[str, Any]]


MIGRATIONS: dict[tuple[str, str], Migration] = {}
"""(kind, schema version) -> the step to the next version. Empty as long as 1.0 is the first and only version."""


def migrated(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """`data` after all steps registered for its kind and version; the same object where there is none."""
    while isinstance(version := data.get("schema_version"), str) and (step := MIGRATIONS.get((kind, version))):
        data = step.change(deepcopy(data)) | {"schema_version": step.to}
    return data
