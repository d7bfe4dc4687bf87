"""From a validated experiment descriptor to its plan, or to the one reason why it cannot be run as asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from akbench.catalogue import Catalogue
from akbench.dataset.dataset import Dataset, Task
from akbench.descriptors.kinds import AgentDescriptor, AgentReference, ModelEndpoint
from akbench.descriptors.snapshot import canonical_hash
from akbench.experiment.configuration import Placed, configured
from akbench.experiment.dimensions import Factor, agent_name, applying, check_factors, settings
from akbench.experiment.factors import Combination, full_factorial, matches
from akbench.experiment.layers import Layers, find_layers, plugin_choices, runtime_choice
from akbench.experiment.plan import (
    AgentChoice,
    ModelSource,
    Plan,
    PlannedRun,
    PlannedTask,
    PluginChoice,
    RuntimeChoice,
    Variant,
)
from akbench.experiment.publication import check_frozen, quarantine_notes, quarantined, validation_warnings
from akbench.experiment.rejection import ExperimentSnapshot, Location, rejected
from akbench.spec import TASK_IMAGES, InputError, JsonValue, Probe, Support

__all__ = ["SCRIPTED_MODEL", "ResolvedEnvironment", "plan_experiment", "select_tasks"]

SCRIPTED_MODEL = "scripted model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedEnvironment:
    """The environment the host offers for the experiment, and its sandbox.

    `shortcomings` say what it does not guarantee, `unkept` what its descriptor asks for in vain; `task_images`:
    whether it runs tasks in images of their own.
    """

    id: str
    sandbox: str
    bounded: bool
    shortcomings: tuple[str, ...] = ()
    unkept: tuple[str, ...] = ()
    task_images: bool = False


def plan_experiment(
    experiment: ExperimentSnapshot,
    catalogue: Catalogue,
    dataset: Dataset,
    environment: ResolvedEnvironment,
    probed: Mapping[str, Probe],
) -> Plan:
    """Check everything that can be checked without running, and lay out the runs.

    `probed` is what the adapters found out on this machine, by agent id: it overrides what descriptors declare.

    Raises `PlanRejectedError` with the place in the experiment file for what cannot be run as asked.
    """
    part = experiment.model.experiment
    _check_dataset(experiment, dataset)
    tasks = select_tasks(experiment, dataset)
    _check_evaluators(experiment, catalogue, tasks)
    _check_images(experiment, catalogue, tasks, environment)
    _check_metrics(experiment, catalogue)
    agents = _agents(experiment, catalogue, probed)
    layers = find_layers(experiment, catalogue, {name: agent.descriptor for name, agent in agents.items()})
    variants = _variants(experiment, catalogue, agents, layers)
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
        sandbox=environment.sandbox,
        environment=environment.id,
        capabilities=_contestants(agents),
        notes=(*_capability_differences(agents), *_not_runnable(probed), *quarantine_notes(tasks, catalogue)),
        warnings=(
            *environment.shortcomings,
            *_unkept(experiment, environment),
            *validation_warnings(tasks, dataset.model.id, catalogue),
            *_unconfined(variants),
            *capability_warnings,
            *_model_warnings(scripted=scripted),
        ),
        labels=(SCRIPTED_MODEL,) if scripted else (),
    )


def _unkept(experiment: ExperimentSnapshot, environment: ResolvedEnvironment) -> tuple[str, ...]:
    if environment.unkept and experiment.model.experiment.requires.mode == "strict":
        mend = "; drop it, use another sandbox, or set requires.mode: best_effort"
        raise rejected(experiment, environment.unkept[0] + mend, ("experiment", "isolation", "environment"))
    return environment.unkept


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
    missing: dict[str, str] = {}
    for task in tasks:
        for part in task.evaluator.model.evaluator.parts:
            if part.adapter not in allowed:
                missing.setdefault(part.adapter, task.descriptor.id)
    if missing:
        judged = ", ".join(f"{adapter!r} (task {task_id!r})" for adapter, task_id in missing.items())
        raise rejected(
            experiment,
            f"tasks are judged by evaluators that are not named here: {judged}; "
            f"write evaluators: [{', '.join((*allowed, *missing))}]",
            ("experiment", "evaluation", "evaluators"),
        )


def _check_images(
    experiment: ExperimentSnapshot, catalogue: Catalogue, tasks: tuple[Task, ...], environment: ResolvedEnvironment
) -> None:
    """A task in another system than its own would be another task: no mode makes up for it."""
    for task in tasks:
        if task.descriptor.task.environment.has_image and not environment.task_images:
            place = task.snapshot.document.place(("task", "environment"))
            able = [name for name in catalogue.sandbox_names() if TASK_IMAGES in catalogue.sandbox(name)[1].honours]
            mend = f"choose one with sandbox {' or '.join(able)}" if able else "install a sandbox that does"
            raise rejected(
                experiment,
                f"task {task.descriptor.id!r} runs in an image of its own ({place}), which sandbox "
                f"{environment.sandbox!r} cannot carry out; {mend}, or leave the task out",
                ("experiment", "isolation", "environment"),
            )


def _check_metrics(experiment: ExperimentSnapshot, catalogue: Catalogue) -> None:
    for index, name in enumerate(experiment.model.experiment.metrics):
        try:
            catalogue.find("metric", name)
        except InputError as error:
            raise rejected(experiment, error.message, ("experiment", "metrics", index)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Agent:
    """An agent of the experiment: its reference, where that stands in the file, its descriptor, what it can do here."""

    reference: AgentReference
    location: Location
    descriptor: AgentDescriptor
    capabilities: Mapping[str, Support]


def _agents(experiment: ExperimentSnapshot, catalogue: Catalogue, probed: Mapping[str, Probe]) -> dict[str, _Agent]:
    """Name -> agent, for every agent that a variant can use. The unnamed ``agent`` has the name ''."""
    part = experiment.model.experiment
    references: dict[str, tuple[AgentReference, Location]] = {
        name: (reference, ("experiment", "agents", name)) for name, reference in part.agents.items()
    }
    if part.agent is not None:
        references[""] = (part.agent, ("experiment", "agent"))
    return {
        name: _agent(experiment, catalogue, reference, location, probed)
        for name, (reference, location) in references.items()
    }


def _agent(
    experiment: ExperimentSnapshot,
    catalogue: Catalogue,
    reference: AgentReference,
    location: Location,
    probed: Mapping[str, Probe],
) -> _Agent:
    try:
        descriptor = catalogue.agent(reference.id).model
    except InputError as error:
        raise rejected(experiment, error.message, (*location, "id")) from error
    if reference.version is not None and reference.version != descriptor.version:
        message = f"agent {reference.id!r} is described here in version {descriptor.version}, not {reference.version}"
        raise rejected(experiment, message, (*location, "version"))
    found = probed[reference.id].capabilities if reference.id in probed else {}
    capabilities = {**descriptor.agent.capabilities, **found}
    return _Agent(reference=reference, location=location, descriptor=descriptor, capabilities=capabilities)


def _variants(
    experiment: ExperimentSnapshot, catalogue: Catalogue, agents: dict[str, _Agent], layers: Layers
) -> tuple[Variant, ...]:
    descriptors = {name: agent.descriptor for name, agent in agents.items()}
    factors = check_factors(experiment, catalogue, descriptors, layers)
    combinations = full_factorial({name: factor.values for name, factor in factors.items()})
    found: dict[str, Variant] = {}
    for combination in combinations:
        variant = _variant(experiment, combination, factors, agents, layers)
        found.setdefault(variant.id, variant)
    return _with_baseline(experiment, tuple(found.values()))


def _variant(
    experiment: ExperimentSnapshot,
    combination: Combination,
    factors: Mapping[str, Factor],
    agents: dict[str, _Agent],
    layers: Layers,
) -> Variant:
    agent = agents[agent_name(combination, factors)]
    values = applying(combination, factors, agent.descriptor)
    given = settings(values, factors)
    choice = _choice(experiment, agent, given.agent)
    is_control = agent.descriptor.agent.role == "control"
    runtime = None if is_control else runtime_choice(experiment, layers, given.runtime)
    carriers = set() if is_control else {choice.id, *([runtime.id] if runtime else [])}
    plugins = plugin_choices(experiment, layers, given.plugins, carriers)
    digest = canonical_hash(_identity(choice, runtime, plugins))
    return Variant(
        id=f"v-{digest[:8]}",
        name=" · ".join(_value_name(value) for value in values.values() if value is not None) or choice.id,
        values=values,
        agent=choice,
        config_hash=digest,
        runtime=runtime,
        plugins=plugins,
        is_control=is_control,
    )


def _value_name(value: JsonValue) -> str:
    """A value in a variant's name: a whole configuration by its keys and values."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={each}" for key, each in value.items()) or "defaults"
    return str(value)


def _choice(experiment: ExperimentSnapshot, agent: _Agent, varied: Placed) -> AgentChoice:
    part, owner = agent.descriptor.agent, f"agent {agent.descriptor.id!r}"
    config = configured(experiment, owner, part.configuration_schema, agent.reference.config, varied, agent.location)
    endpoint = experiment.model.experiment.execution.model_endpoint
    if part.needs_model and endpoint is None:
        raise rejected(experiment, f"{owner} needs a model; say which under execution.model_endpoint", agent.location)
    reaches_model = part.role == "contestant" and part.execution_type == "process"
    return AgentChoice(
        id=agent.descriptor.id,
        version=agent.descriptor.version,
        adapter=part.adapter,
        config=config,
        model=_model_source(endpoint) if endpoint and reaches_model else None,
        receives_reference_solution=part.receives_reference_solution,
        needs_model=part.needs_model,
        execution_type=part.execution_type,
    )


def _model_source(endpoint: ModelEndpoint) -> ModelSource:
    if endpoint.scripted is not None:
        return ModelSource(kind=SCRIPTED_MODEL, script=endpoint.scripted)
    return ModelSource(kind="provider", base_url=endpoint.base_url, api_key_env=endpoint.api_key_env)


def _identity(
    choice: AgentChoice, runtime: RuntimeChoice | None, plugins: tuple[PluginChoice, ...]
) -> dict[str, object]:
    """What makes two variants the same: not the path of a script nor the name of the variable with the key."""
    source = choice.model
    whole: dict[str, object] = {
        "agent": choice.id,
        "version": choice.version,
        "adapter": choice.adapter,
        "config": dict(choice.config),
        "model": None if source is None else [source.kind, source.base_url],
    }
    if runtime is not None:
        whole["runtime"] = [runtime.id, runtime.version, runtime.adapter, dict(runtime.config)]
    if plugins:
        whole["plugins"] = [[plugin.id, plugin.version, plugin.adapter, dict(plugin.config)] for plugin in plugins]
    return whole


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
    for agent, capabilities in _contestants(agents).items():
        for name in requires.capabilities:
            support = capabilities[name]
            if support is Support.YES:
                continue
            lack = "lacks" if support is Support.NO else "is not known to have"
            message = f"agent {agent!r} {lack} the required capability {name!r}"
            if support is Support.NO and requires.mode == "strict":
                mend = "; drop it, or set requires.mode: best_effort"
                raise rejected(experiment, message + mend, ("experiment", "requires", "capabilities"))
            warnings.append(message)
    return tuple(warnings)


def _contestants(agents: dict[str, _Agent]) -> dict[str, Mapping[str, Support]]:
    """What each compared agent can do, by its id."""
    return {
        agent.descriptor.id: agent.capabilities
        for agent in agents.values()
        if agent.descriptor.agent.role == "contestant"
    }


def _capability_differences(agents: dict[str, _Agent]) -> tuple[str, ...]:
    """Where the compared contestants differ, one sentence per capability."""
    contestants = _contestants(agents)
    names = sorted({name for capabilities in contestants.values() for name in capabilities})
    notes = []
    for name in names:
        have = {agent: capabilities.get(name, Support.UNKNOWN) for agent, capabilities in contestants.items()}
        if len(set(have.values())) > 1:
            said = ", ".join(f"{agent}: {support}" for agent, support in sorted(have.items()))
            notes.append(f"capability {name} differs ({said})")
    return tuple(notes)


def _unconfined(variants: tuple[Variant, ...]) -> tuple[str, ...]:
    outside = sorted({each.agent.id for each in variants if each.agent.execution_type != "process"})
    return tuple(f"agent {name!r} works outside the sandbox: nothing confines it" for name in outside)


def _not_runnable(probed: Mapping[str, Probe]) -> tuple[str, ...]:
    return tuple(
        f"agent {name!r} cannot run here yet: {problem.message} ({problem.mend})"
        for name, probe in sorted(probed.items())
        for problem in probe.problems
    )


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
