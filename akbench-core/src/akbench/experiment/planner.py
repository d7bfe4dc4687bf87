"""From a validated experiment descriptor to its plan, or to the one reason why it cannot be run as asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from akbench.catalogue import Catalogue
from akbench.dataset.dataset import Dataset, Task
from akbench.descriptors.kinds import AgentDescriptor, AgentReference, ModelEndpoint
from akbench.descriptors.snapshot import canonical_hash
from akbench.experiment.configuration import complete_configuration, configuration_faults
from akbench.experiment.dimensions import Factor, agent_name, applying, check_factors, settings
from akbench.experiment.factors import Combination, full_factorial, matches
from akbench.experiment.plan import AgentChoice, ModelSource, Plan, PlannedRun, PlannedTask, Variant
from akbench.experiment.publication import check_frozen, quarantine_notes, quarantined, validation_warnings
from akbench.experiment.rejection import ExperimentSnapshot, Location, rejected
from akbench.spec import InputError, JsonValue, Support

__all__ = ["SCRIPTED_MODEL", "ResolvedSandbox", "plan_experiment", "select_tasks"]

SCRIPTED_MODEL = "scripted model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSandbox:
    """The sandbox the host offers for the experiment; `shortcomings` say what it does not guarantee."""

    id: str
    bounded: bool
    shortcomings: tuple[str, ...] = ()


def plan_experiment(
    experiment: ExperimentSnapshot, catalogue: Catalogue, dataset: Dataset, sandbox: ResolvedSandbox
) -> Plan:
    """Check everything that can be checked without running, and lay out the runs.

    Raises `PlanRejectedError` with the place in the experiment file for what cannot be run as asked.
    """
    part = experiment.model.experiment
    _check_mode(experiment)
    _check_dataset(experiment, dataset)
    tasks = select_tasks(experiment, dataset)
    _check_evaluators(experiment, catalogue, tasks)
    _check_metrics(experiment, catalogue)
    agents = _agents(experiment, catalogue)
    variants = _variants(experiment, catalogue, agents)
    capability_warnings = _check_capabilities(experiment, agents)
    runs = _runs(variants, tasks, part.execution_policy.repetitions)
    if len(runs) > part.execution_policy.max_runs:
        raise rejected(
            experiment,
            f"{len(runs)} runs planned, more than max_runs ({part.execution_policy.max_runs}); "
            "reduce the factors, tasks or repetitions, or raise max_runs",
            ("experiment", "execution_policy"),
        )
    scripted = any(variant.agent.model and variant.agent.model.kind == SCRIPTED_MODEL for variant in variants)
    return Plan(
        variants=variants,
        tasks=tuple(_planned_task(task, dataset, catalogue) for task in tasks),
        runs=runs,
        repetitions=part.execution_policy.repetitions,
        concurrency=part.execution_policy.concurrency,
        timeout_seconds=part.execution_policy.timeout_seconds,
        sandbox=sandbox.id,
        notes=(*_capability_differences(agents), *quarantine_notes(tasks, catalogue)),
        warnings=(
            *sandbox.shortcomings,
            *validation_warnings(tasks, dataset.model.id, catalogue),
            *capability_warnings,
            *_model_warnings(scripted=scripted),
        ),
        labels=(SCRIPTED_MODEL,) if scripted else (),
    )


def _check_mode(experiment: ExperimentSnapshot) -> None:
    mode = experiment.model.experiment.execution.mode
    if mode != "direct":
        raise rejected(
            experiment,
            f"mode {mode!r} needs a runtime, and this version carries none out; use mode: direct",
            ("experiment", "execution", "mode"),
        )


def _check_dataset(experiment: ExperimentSnapshot, dataset: Dataset) -> None:
    wanted = experiment.model.experiment.dataset
    if wanted.version != dataset.model.version:
        raise rejected(
            experiment,
            f"dataset {dataset.model.id!r} is here in version {dataset.model.version}, not {wanted.version}",
            ("experiment", "dataset", "version"),
        )
    check_frozen(experiment, dataset)


def select_tasks(experiment: ExperimentSnapshot, dataset: Dataset) -> tuple[Task, ...]:
    """The tasks that take part. Raises `PlanRejectedError` with the place of the filter that cannot be met."""
    location = ("experiment", "dataset", "filters")
    try:
        tasks = dataset.select(experiment.model.experiment.dataset.filters)
    except InputError as error:
        raise rejected(experiment, error.message, (*location, "task_ids")) from error
    if not tasks:
        raise rejected(experiment, "no task of the dataset passes these filters", location)
    return tasks


def _check_evaluators(experiment: ExperimentSnapshot, catalogue: Catalogue, tasks: tuple[Task, ...]) -> None:
    allowed = experiment.model.experiment.evaluation.evaluators
    for index, name in enumerate(allowed):
        location = ("experiment", "evaluation", "evaluators", index)
        try:
            catalogue.evaluator(name)
        except InputError as error:
            raise rejected(experiment, error.message, location) from error
    for task in tasks:
        adapter = task.evaluator.model.evaluator.adapter
        if adapter not in allowed:
            raise rejected(
                experiment,
                f"task {task.descriptor.id!r} is judged by {adapter!r}, which is not among the evaluators",
                ("experiment", "evaluation", "evaluators"),
            )


def _check_metrics(experiment: ExperimentSnapshot, catalogue: Catalogue) -> None:
    for index, name in enumerate(experiment.model.experiment.metrics):
        try:
            catalogue.find("metric", name)
        except InputError as error:
            raise rejected(experiment, error.message, ("experiment", "metrics", index)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Agent:
    """An agent of the experiment: its reference, where that stands in the file, and its descriptor."""

    reference: AgentReference
    location: Location
    descriptor: AgentDescriptor


def _agents(experiment: ExperimentSnapshot, catalogue: Catalogue) -> dict[str, _Agent]:
    """Name -> agent, for every agent that a variant can use. The unnamed ``agent`` has the name ''."""
    part = experiment.model.experiment
    references: dict[str, tuple[AgentReference, Location]] = {
        name: (reference, ("experiment", "agents", name)) for name, reference in part.agents.items()
    }
    if part.agent is not None:
        references[""] = (part.agent, ("experiment", "agent"))
    return {
        name: _agent(experiment, catalogue, reference, location) for name, (reference, location) in references.items()
    }


def _agent(
    experiment: ExperimentSnapshot, catalogue: Catalogue, reference: AgentReference, location: Location
) -> _Agent:
    try:
        descriptor = catalogue.agent(reference.id).model
    except InputError as error:
        raise rejected(experiment, error.message, (*location, "id")) from error
    if reference.version is not None and reference.version != descriptor.version:
        message = f"agent {reference.id!r} is described here in version {descriptor.version}, not {reference.version}"
        raise rejected(experiment, message, (*location, "version"))
    return _Agent(reference=reference, location=location, descriptor=descriptor)


def _variants(experiment: ExperimentSnapshot, catalogue: Catalogue, agents: dict[str, _Agent]) -> tuple[Variant, ...]:
    factors = check_factors(experiment, catalogue, {name: agent.descriptor for name, agent in agents.items()})
    combinations = full_factorial({name: factor.values for name, factor in factors.items()})
    found: dict[str, Variant] = {}
    for combination in combinations:
        variant = _variant(experiment, combination, factors, agents)
        found.setdefault(variant.id, variant)
    return _with_baseline(experiment, tuple(found.values()))


def _variant(
    experiment: ExperimentSnapshot,
    combination: Combination,
    factors: Mapping[str, Factor],
    agents: dict[str, _Agent],
) -> Variant:
    agent = agents[agent_name(combination, factors)]
    values = applying(combination, factors, agent.descriptor)
    choice = _choice(experiment, agent, settings(values, factors))
    digest = canonical_hash(_identity(choice))
    return Variant(
        id=f"v-{digest[:8]}",
        name=" · ".join(str(value) for value in values.values() if value is not None) or choice.id,
        values=values,
        agent=choice,
        config_hash=digest,
        is_control=agent.descriptor.agent.role == "control",
    )


def _choice(
    experiment: ExperimentSnapshot, agent: _Agent, varied: Mapping[str, tuple[JsonValue, Location]]
) -> AgentChoice:
    asked = dict(agent.reference.config) | {key: value for key, (value, _) in varied.items()}
    config = complete_configuration(agent.descriptor, asked)
    for key, message in configuration_faults(agent.descriptor, config):
        location = (*agent.location, "config", key) if key else agent.location
        raise rejected(experiment, message, varied[key][1] if key and key in varied else location)
    part = agent.descriptor.agent
    endpoint = experiment.model.experiment.execution.model_endpoint
    if part.needs_model and endpoint is None:
        raise rejected(
            experiment,
            f"agent {agent.descriptor.id!r} needs a model; say which under execution.model_endpoint",
            agent.location,
        )
    return AgentChoice(
        id=agent.descriptor.id,
        version=agent.descriptor.version,
        adapter=part.adapter,
        config=config,
        model=_model_source(endpoint) if endpoint and part.role == "contestant" else None,
        receives_reference_solution=part.receives_reference_solution,
        needs_model=part.needs_model,
    )


def _model_source(endpoint: ModelEndpoint) -> ModelSource:
    if endpoint.scripted is not None:
        return ModelSource(kind=SCRIPTED_MODEL, script=endpoint.scripted)
    return ModelSource(kind="provider", base_url=endpoint.base_url, api_key_env=endpoint.api_key_env)


def _identity(choice: AgentChoice) -> dict[str, object]:
    """What makes two variants the same: not the path of a script nor the name of the variable with the key."""
    source = choice.model
    model = None if source is None else [source.kind, source.base_url]
    return {
        "agent": choice.id,
        "version": choice.version,
        "adapter": choice.adapter,
        "config": dict(choice.config),
        "model": model,
    }


def _with_baseline(experiment: ExperimentSnapshot, variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
    wanted = experiment.model.experiment.factors.baseline
    if not wanted:
        return variants
    chosen = [variant for variant in variants if matches(variant.values, wanted)]
    if len(chosen) != 1:
        found = ", ".join(variant.name for variant in chosen) or "none"
        message = f"the baseline must pick exactly one variant; it picks {found}"
        raise rejected(experiment, message, ("experiment", "factors", "baseline"))
    return tuple(replace(variant, is_baseline=variant is chosen[0]) for variant in variants)


def _check_capabilities(experiment: ExperimentSnapshot, agents: dict[str, _Agent]) -> tuple[str, ...]:
    requires = experiment.model.experiment.requires
    warnings: list[str] = []
    for agent in agents.values():
        for name in requires.capabilities:
            support = agent.descriptor.agent.capabilities[name]
            if support is Support.YES:
                continue
            lack = "lacks" if support is Support.NO else "is not known to have"
            message = f"agent {agent.descriptor.id!r} {lack} the required capability {name!r}"
            if support is Support.NO and requires.mode == "strict":
                mend = "; drop it, or set requires.mode: best_effort"
                raise rejected(experiment, message + mend, ("experiment", "requires", "capabilities"))
            warnings.append(message)
    return tuple(warnings)


def _capability_differences(agents: dict[str, _Agent]) -> tuple[str, ...]:
    """Where the compared contestants differ, one sentence per capability."""
    contestants = {
        agent.descriptor.id: agent.descriptor.agent.capabilities
        for agent in agents.values()
        if agent.descriptor.agent.role == "contestant"
    }
    names = sorted({name for capabilities in contestants.values() for name in capabilities})
    notes = []
    for name in names:
        have = {agent: capabilities.get(name, Support.UNKNOWN) for agent, capabilities in contestants.items()}
        if len(set(have.values())) > 1:
            said = ", ".join(f"{agent}: {support}" for agent, support in sorted(have.items()))
            notes.append(f"capability {name} differs ({said})")
    return tuple(notes)


def _model_warnings(*, scripted: bool) -> tuple[str, ...]:
    if not scripted:
        return ()
    return ("a scripted model answered: the numbers exercise the agent and measure no model",)


def _runs(variants: tuple[Variant, ...], tasks: tuple[Task, ...], repetitions: int) -> tuple[PlannedRun, ...]:
    """Repetition by repetition and task by task, so that variants stand side by side in time."""
    triples = [
        (variant.id, task.descriptor.id, repetition)
        for repetition in range(1, repetitions + 1)
        for task in tasks
        for variant in variants
    ]
    return tuple(
        PlannedRun(id=f"run-{number:04d}", variant_id=variant, task_id=task, repetition=repetition)
        for number, (variant, task, repetition) in enumerate(triples, start=1)
    )


def _planned_task(task: Task, dataset: Dataset, catalogue: Catalogue) -> PlannedTask:
    descriptor = task.descriptor
    return PlannedTask(
        id=descriptor.id,
        version=descriptor.version,
        title=descriptor.title,
        category=descriptor.task.category,
        difficulty=descriptor.task.difficulty,
        dataset=dataset.model.id,
        folder=task.folder.relative_to(dataset.folder).as_posix(),
        digest=task.digest,
        description=task.description,
        timeout_seconds=descriptor.task.limits.timeout_seconds,
        quarantined=quarantined(task, catalogue),
    )
