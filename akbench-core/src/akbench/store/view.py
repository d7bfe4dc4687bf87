"""What the store tells its readers (the CLI, reports, exports): plain frozen values, no rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from akbench.run.lifecycle import TERMINAL, RunState
from akbench.spec import ConfigState, JsonValue, Outcome, Reading, TestResult

__all__ = ["ArtifactView", "EventView", "ExperimentView", "RunView", "TaskView", "ToolCallView", "VariantView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactView:
    """A file kept with a run: `path` is absolute; `sha256` and `size` (bytes) as recorded when it was written."""

    name: str
    path: Path
    sha256: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """One line of a run's events.jsonl: a change of state, or something that happened within one."""

    at: datetime
    kind: str
    state: RunState | None
    text: str
    data: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallView:
    """One tool call as the agent's adapter reported it; fields are None where the agent reports none."""

    name: str
    command: str | None
    status: str | None
    exit_code: int | None
    output: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task as it was when the experiment ran."""

    id: str
    version: str
    title: str
    category: str
    difficulty: str
    dataset: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantView:
    """A combination of dimension values. `values` is what the factors say, None where a dimension does not apply.

    `is_control` marks agents that are given the solution or do nothing; they measure the benchmark, not an agent.
    """

    id: str
    name: str
    values: Mapping[str, JsonValue]
    agent_id: str
    agent_version: str | None
    agent_config: Mapping[str, JsonValue]
    config_hash: str
    is_baseline: bool
    is_control: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One (variant, task, repetition) and what became of it.

    - `state`: the last durable state; `interrupted` is True when it is not final and no process works on it any more.
    - `outcome`: the evaluation's verdict, None when there was none.
    - `solved`: True, False, or None when the run says nothing about the agent (infrastructure, cancelled, unfinished,
      unclassified). Only runs with True or False belong in a denominator of quality.
    - `reason`: one sentence why the run ended as it did, where that is not a plain success.
    - `metrics`: metric id -> reading (a value or the reason for its absence).
    - `model_source`: ``scripted model`` when no real model answered; None when no model endpoint was used;
      otherwise ``provider``.
    """

    id: str
    experiment_id: str
    variant_id: str
    task_id: str
    repetition: int
    state: RunState
    interrupted: bool
    outcome: Outcome | None
    solved: bool | None
    reason: str | None
    started_at: datetime | None
    finished_at: datetime | None
    agent_version: str | None
    session_id: str | None
    final_message: str | None
    model_source: str | None
    sandbox: str | None
    metrics: Mapping[str, Reading]
    config: tuple[ConfigState, ...]
    tests: tuple[TestResult, ...]
    touched_protected: tuple[str, ...]
    oddities: tuple[str, ...]
    artifacts: tuple[ArtifactView, ...]

    @property
    def is_final(self) -> bool:
        """Whether the run has ended for good."""
        return self.state in TERMINAL


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentView:
    """An experiment with its variants, tasks and runs.

    - `status`: valid, valid_with_warnings, invalid or incomplete; `status_reasons` says why, one sentence each.
    - `labels`: what must be said wherever a number of it appears, such as ``scripted model``.
    - `descriptor`: the experiment's YAML as it was run; `snapshots`: kind/id -> {version, hash, source}.
    - `extensions`: the distributions and versions whose adapters took part.
    """

    id: str
    descriptor_id: str
    descriptor_version: str
    title: str
    status: str
    status_reasons: tuple[str, ...]
    labels: tuple[str, ...]
    created_at: datetime
    finished_at: datetime | None
    dataset_id: str
    dataset_version: str
    dataset_hash: str
    repetitions: int
    descriptor: str
    snapshots: Mapping[str, Mapping[str, JsonValue]]
    extensions: Mapping[str, str]
    variants: tuple[VariantView, ...]
    tasks: tuple[TaskView, ...]
    runs: tuple[RunView, ...]
