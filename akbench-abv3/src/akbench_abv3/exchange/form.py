"""What AK-Bench writes into run configs and into the `extra` field of results, and reads back from there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from akbench.spec import InputError
from akbench_abv3.completed import MAX_CONFIG_BYTES
from akbench_abv3.reading.bounded import UnreadableError, read_text
from akbench_abv3.reading.json_text import parse_json

__all__ = [
    "EXTRA_KEY",
    "DatasetPart",
    "ExperimentPart",
    "ResultExtra",
    "RunConfig",
    "TaskPart",
    "VariantPart",
    "read_config",
    "read_extra",
]

EXTRA_KEY = "akbench"
"""The key below `extra` of result.json and results.json, and of a transcript."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ExperimentPart(_Part):
    """The experiment descriptor; `hash` is the canonical one of its content."""

    id: str
    version: str
    hash: str


class VariantPart(_Part):
    """A variant as requested: `agent` is the descriptor's id, `model` what was to answer (None: no model)."""

    id: str
    name: str
    values: dict[str, JsonValue]
    config_hash: str
    agent: str
    agent_version: str
    config: dict[str, JsonValue]
    model: str | None
    is_baseline: bool
    is_control: bool
    receives_reference_solution: bool


class TaskPart(_Part):
    """A task; `digest` covers every file of its folder."""

    id: str
    version: str
    title: str
    category: str
    difficulty: str
    digest: str


class DatasetPart(_Part):
    """The dataset; `hash` covers all its files."""

    id: str
    version: str
    hash: str


class RunConfig(_Part):
    """One run config: what is requested of one task run.

    `extensions` are the distributions whose adapters took part, by version; `tree` is the git tree that the agent was
    given (None where the run never got so far).
    """

    schema_version: Literal["1.0"] = "1.0"
    experiment: ExperimentPart
    variant: VariantPart
    task: TaskPart
    repetition: int
    dataset: DatasetPart
    timeout_seconds: float
    sandbox: str
    tree: str | None
    extensions: dict[str, str]
    labels: tuple[str, ...] = ()


class ResultExtra(_Part):
    """What AK-Bench knows of a run beyond L1.

    `configuration` holds each value as requested, configured, effective and observed, and how far it was confirmed;
    `unavailable` says why a metric has no value; `differences` is how a rerun departed from its run config.
    """

    experiment: ExperimentPart
    variant: VariantPart
    task: TaskPart
    repetition: int
    state: str
    outcome: str | None
    sandbox: str | None
    model_source: str | None
    labels: tuple[str, ...] = ()
    configuration: tuple[dict[str, JsonValue], ...] = ()
    unavailable: dict[str, str] = {}
    differences: tuple[str, ...] = ()


def read_extra(document: object) -> ResultExtra | None:
    """AK-Bench's part of a result document, None where there is none that can be read."""
    extra = document.get("extra") if isinstance(document, dict) else None
    part = extra.get(EXTRA_KEY) if isinstance(extra, dict) else None
    if part is None:
        return None
    try:
        return ResultExtra.model_validate(part)
    except ValidationError:
        return None  # somebody else's use of the key: the standard fields still hold


def read_config(path: Path) -> RunConfig:
    """Read a run config. Raises `InputError` naming what is wrong with it."""
    try:
        return RunConfig.model_validate(parse_json(read_text(path, MAX_CONFIG_BYTES)))
    except UnreadableError as error:
        raise InputError(str(error), place=str(path)) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise InputError(f"no run config of AK-Bench: {where}: {first['msg']}", place=str(path)) from error
