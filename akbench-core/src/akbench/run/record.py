"""What a run and an experiment leave on disk: the values behind manifest.json, result.json and experiment.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_json

from akbench.experiment.plan import Plan, PlannedTask, Variant
from akbench.run.lifecycle import RunState
from akbench.spec import AgentStatus, ConfigState, JsonValue, Outcome, Reading, TestResult

__all__ = [
    "FINAL_TREE",
    "ArtifactRecord",
    "Event",
    "ExperimentEnd",
    "ExperimentRecord",
    "RunResult",
    "RunSpec",
    "dump_json",
    "dump_line",
    "load_json",
]

FORMAT = "1"
"""Version of the files written here; a reader that meets another one says so instead of guessing."""

FINAL_TREE = "final_tree"
"""The kind of the event whose data names, as ``tree``, git's id of what the agent left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Everything a run needs, and its reproducibility manifest (``manifest.json``), written before it starts.

    `tree` and `commit` identify the snapshot the agent gets; `environment` is the prepared environment's key, and
    `image` the id of the image if it is one;
    `extensions` maps distribution to version for every adapter that takes part; `host` describes the machine.
    """

    format: str = FORMAT
    experiment_id: str
    run_id: str
    repetition: int
    variant: Variant
    task: PlannedTask
    dataset: str
    dataset_version: str
    dataset_hash: str
    tree: str
    commit: str
    environment: str
    image: str | None = None
    python_version: str
    evaluator: str
    evaluator_version: str
    sandbox: str
    sandbox_facts: Mapping[str, str]
    agent_version: str | None
    agent_facts: Mapping[str, JsonValue]
    agent_capabilities: Mapping[str, str]
    descriptors: Mapping[str, str]
    extensions: Mapping[str, str]
    timeout_seconds: float
    prompt: str
    environment_variables: Mapping[str, JsonValue]
    host: Mapping[str, str]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRecord:
    """A file of a run: its name relative to the run's folder, checksum, size (bytes), type."""

    name: str
    sha256: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of events.jsonl. `state` is set when the line is a change of state."""

    at: datetime
    kind: str
    text: str
    state: RunState | None = None
    data: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended (``result.json``), written last and atomically: a run without it has not finished.

    The times are None only for an imported run whose source does not tell them.
    """

    format: str = FORMAT
    experiment_id: str
    run_id: str
    state: RunState
    reason: str | None
    outcome: Outcome | None
    score: float | None
    solved: bool | None
    started_at: datetime | None
    finished_at: datetime | None
    agent_status: AgentStatus | None
    error_class: str | None
    agent_version: str | None
    session_id: str | None
    final_message: str | None
    observed_models: tuple[str, ...]
    model_source: str | None
    config: tuple[ConfigState, ...]
    metrics: Mapping[str, Reading]
    tests: tuple[TestResult, ...]
    touched_protected: tuple[str, ...]
    oddities: tuple[str, ...]
    artifacts: tuple[ArtifactRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRecord:
    """An experiment as planned (``experiment.json``), written before its first run.

    `descriptor` is the YAML text; `snapshots` maps ``kind/id`` to the snapshot (version, hash, source text) of every
    descriptor that took part; `images` maps a task to the id of the image it runs in, if it has one of its own.
    """

    format: str = FORMAT
    id: str
    descriptor_id: str
    descriptor_version: str
    title: str
    created_at: datetime
    dataset_id: str
    dataset_version: str
    dataset_hash: str
    descriptor: str
    plan: Plan
    snapshots: Mapping[str, Mapping[str, JsonValue]]
    extensions: Mapping[str, str]
    images: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentEnd:
    """How an experiment ended (``end.json``): valid, valid_with_warnings, invalid or incomplete, and why."""

    status: str
    reasons: tuple[str, ...]
    finished_at: datetime


def dump_json(value: Any) -> bytes:
    """Any of these values as readable JSON, ending in a newline."""
    return _encoded(value, indent=2) + b"\n"


def dump_line(value: Any) -> bytes:
    """Any of these values as one line of JSON Lines, newline included."""
    return _encoded(value, indent=None) + b"\n"


def load_json[T](kind: type[T], text: bytes) -> T:
    """The value of type `kind` that `dump_json` or `dump_line` wrote.

    Raises pydantic's ValidationError on anything else.
    """
    value: T = _adapter(kind).validate_json(text)
    return value


_adapters: dict[type, TypeAdapter[Any]] = {}


def _adapter(kind: type) -> TypeAdapter[Any]:
    """Building one takes milliseconds, using it microseconds."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def _encoded(value: Any, indent: int | None) -> bytes:
    adapter = _adapter(type(value))
    try:
        return adapter.dump_json(value, indent=indent)
    except PydanticSerializationError:
        # Agents can print half a surrogate pair: legal in JSON's escapes, impossible in UTF-8.
        return to_json(_without_surrogates(adapter.dump_python(value, mode="json")), indent=indent)


def _without_surrogates(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    return value
