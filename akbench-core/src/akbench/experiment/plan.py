"""The plan of an experiment: variants, tasks and runs with stable ids. Plain values, no I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from akbench.spec import JsonValue, Support

__all__ = [
    "AgentChoice",
    "ModelSource",
    "Plan",
    "PlannedRun",
    "PlannedTask",
    "PluginChoice",
    "RuntimeChoice",
    "Variant",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """What answers the agent's model requests.

    `kind` is ``provider`` or ``scripted model``. `base_url` is the provider's (None for a scripted model, whose
    address is known only while it serves); `api_key_env` names the harness's variable that holds the key;
    `script` is the scripted model's file.
    """

    kind: str
    base_url: str | None = None
    api_key_env: str | None = None
    script: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChoice:
    """One agent with the configuration asked for. `adapter` and `extension` name what carries it out."""

    id: str
    version: str
    adapter: str
    config: Mapping[str, JsonValue]
    model: ModelSource | None
    receives_reference_solution: bool = False
    needs_model: bool = False
    execution_type: str = "process"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeChoice:
    """The runtime that carries an agent or its model requests, with the configuration asked for."""

    id: str
    version: str
    type: str
    adapter: str
    config: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginChoice:
    """A plugin of the runtime or agent `provider`, with the configuration asked for and the metrics it reports.

    `must_be_verified`: a run in which nothing shows that it worked does not count.
    """

    id: str
    version: str
    adapter: str
    provider: str
    config: Mapping[str, JsonValue]
    metrics: tuple[str, ...] = ()
    must_be_verified: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A combination of dimension values.

    `id` is derived from `config_hash`, so it is the same on every machine. `values` holds None for a dimension that
    does not apply to the variant's agent.
    """

    id: str
    name: str
    values: Mapping[str, JsonValue]
    agent: AgentChoice
    config_hash: str
    runtime: RuntimeChoice | None = None
    plugins: tuple[PluginChoice, ...] = ()
    is_baseline: bool = False
    is_control: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task of the plan: what identifies it, and what the reports need to say about it.

    `quarantined` are tests that its validation found flaky: no evaluation of the experiment counts them.

    `tree` is the git tree id of what the agent will be given; `digest` covers every file of the task's folder.
    """

    id: str
    version: str
    title: str
    category: str
    difficulty: str
    dataset: str
    folder: str
    digest: str
    description: str
    timeout_seconds: float | None = None
    quarantined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One run: a variant on a task, for the `repetition`-th time (from 1)."""

    id: str
    variant_id: str
    task_id: str
    repetition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that will run, in order.

    `environment` is the descriptor that chose the `sandbox`.
    `capabilities` says of each compared agent what it can do here: declared, or found out where that could be probed.
    `warnings` are reasons why the result cannot be plainly ``valid``.
    """

    variants: tuple[Variant, ...]
    tasks: tuple[PlannedTask, ...]
    runs: tuple[PlannedRun, ...]
    repetitions: int
    concurrency: int
    timeout_seconds: float
    sandbox: str
    environment: str
    capabilities: Mapping[str, Mapping[str, Support]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def only(self, run_ids: Collection[str]) -> Plan:
        """The plan of these runs alone, with their ids, and of the variants and tasks that they need."""
        runs = tuple(run for run in self.runs if run.id in run_ids)
        return replace(
            self,
            runs=runs,
            variants=tuple(each for each in self.variants if any(run.variant_id == each.id for run in runs)),
            tasks=tuple(each for each in self.tasks if any(run.task_id == each.id for run in runs)),
            repetitions=len({run.repetition for run in runs}),
        )
