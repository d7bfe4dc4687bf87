"""The whole program on one page: load -> plan -> prepare -> run -> store."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol, cast

from akbench import __version__
from akbench.catalogue import Adapter, Catalogue, Probing
from akbench.cleaning import clean, remnants
from akbench.dataset.assembly import AssembledTask, assemble
from akbench.dataset.dataset import UNWRITTEN, Dataset, Task, find_dataset, load_dataset
from akbench.dataset.environment import PreparedEnvironment, environment_key, prepare_environment
from akbench.descriptors.configuration import NamedVariable
from akbench.descriptors.kinds import ExperimentDescriptor, RuntimeDescriptor
from akbench.descriptors.snapshot import Snapshot, load
from akbench.environments import AUTO, ReadyEnvironment, ready_environment, strongest_environment
from akbench.evaluate.judging import ReadyEvaluator
from akbench.experiment.configuration import complete_configuration
from akbench.experiment.plan import Plan, PlannedRun, Variant
from akbench.experiment.planner import SCRIPTED_MODEL, ResolvedEnvironment, plan_experiment, select_tasks
from akbench.experiment.publication import brought_by
from akbench.project import Project, cache_faults, cache_folder
from akbench.run.execution import Equipment, Upstream, execute
from akbench.run.journal import RunFolder
from akbench.run.record import Event, ExperimentEnd, ExperimentRecord, RunResult, RunSpec
from akbench.run.runtime_work import ReadyPlugin, ReadyRuntime
from akbench.sandbox.image_context import check_context
from akbench.sandbox.task_image import TaskSandbox, image_environment, image_key
from akbench.spec import (
    TASK_IMAGES,
    AkbenchError,
    HostError,
    InputError,
    JsonValue,
    Probe,
    ProbeContext,
    Problem,
    Sandbox,
    SessionAgent,
    Support,
)
from akbench.validity import judge_experiment
from akbench.verdict import is_untried
from akbench.workspace.snapshot import Snapshot as TreeSnapshot
from akbench.workspace.snapshot import take_snapshot

if TYPE_CHECKING:
    from akbench.store.index import Index

__all__ = [
    "Loaded",
    "Observer",
    "ReadyTask",
    "check_task",
    "clean_quietly",
    "load_experiment",
    "make_ready",
    "prepared_key",
    "require_python",
    "run_experiment",
]


class Observer(Protocol):
    """Is told what happens; changes nothing."""

    def preparing(self, text: str) -> None:
        """Something slow begins before the first run."""

    def planned(self, experiment_id: str, plan: Plan) -> None:
        """The experiment is durable and its runs begin."""

    def event(self, run: PlannedRun, event: Event) -> None:
        """A run's event is durable."""

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """A run's result is durable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """An experiment that can be run as asked, as far as can be said without preparing anything."""

    project: Project
    catalogue: Catalogue
    experiment: Snapshot[ExperimentDescriptor]
    dataset: Dataset
    environment: ReadyEnvironment
    plan: Plan

    def tasks(self) -> tuple[Task, ...]:
        """The tasks that take part."""
        return tuple(self.dataset.task(task.id) for task in self.plan.tasks)

    def only(self, run_ids: Collection[str]) -> Loaded:
        """The same experiment with these planned runs alone."""
        return replace(self, plan=self.plan.only(run_ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyTask:
    """A task with everything it needs built; all of its processes run in `sandbox`."""

    assembled: AssembledTask
    snapshot: TreeSnapshot
    environment: PreparedEnvironment
    sandbox: Sandbox
    evaluators: tuple[ReadyEvaluator, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadyAgent:
    """A variant's agent with its runtime and plugins, probed on this machine.

    `facts` are what the probes found, and `variables` the state of the variables that descriptors name, of all of them.
    """

    agent: SessionAgent[Any]
    runtime: ReadyRuntime | None
    plugins: tuple[ReadyPlugin, ...]
    version: str | None
    facts: Mapping[str, JsonValue]
    problems: tuple[str, ...]
    capabilities: Mapping[str, str]
    declared: Mapping[str, str]
    variables: Mapping[str, JsonValue]
    secrets: tuple[str, ...] = field(repr=False)


def load_experiment(project: Project, path: Path, catalogue: Catalogue) -> Loaded:
    """Read the experiment at `path` and plan it. Raises `InputError` for anything wrong in any file it needs."""
    experiment = load(path, ExperimentDescriptor)
    wanted = experiment.model.experiment
    try:
        folder = find_dataset(project.root, wanted.dataset.id)
    except InputError as error:
        if error.place is not None:
            raise
        raise experiment.document.error(error.message, ("experiment", "dataset", "id")) from error
    dataset = load_dataset(folder)
    tasks = select_tasks(experiment, dataset)
    for task in tasks:
        check_task(task, catalogue)
    environment = _environment(experiment, catalogue, tasks)
    resolved = ResolvedEnvironment(
        id=environment.id,
        sandbox=environment.sandbox_id,
        bounded=environment.sandbox.bounded,
        shortcomings=_shortcomings(environment),
        unkept=environment.unkept,
        task_images=TASK_IMAGES in environment.sandbox.honours,
    )
    probes = _probes(experiment, catalogue, environment.sandbox)
    plan = plan_experiment(experiment, catalogue, dataset, resolved, probes)
    plan = replace(plan, warnings=(*plan.warnings, *_untried(plan, catalogue)))
    _check_script(experiment, project)
    return Loaded(
        project=project,
        catalogue=catalogue,
        experiment=experiment,
        dataset=dataset,
        environment=environment,
        plan=plan,
    )


def _untried(plan: Plan, catalogue: Catalogue) -> tuple[str, ...]:
    """Agents whose installed version has not passed its contract tests on this machine, a sentence per distribution."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, adapter_id in sorted({(variant.agent.id, variant.agent.adapter) for variant in plan.variants}):
        adapter, _ = catalogue.agent_adapter(adapter_id)
        if is_untried(adapter):
            found.setdefault((adapter.distribution, adapter.version), []).append(repr(name))
    return tuple(
        f"no passing contract verdict for version {version} of agent {' and '.join(names)}; run: "
        f"akbench extension check {distribution}"
        for (distribution, version), names in found.items()
    )


def _probes(experiment: Snapshot[ExperimentDescriptor], catalogue: Catalogue, sandbox: Sandbox) -> dict[str, Probe]:
    """What the adapters of the experiment's agents find here, by agent id; whatever cannot be asked is left out."""
    part = experiment.model.experiment
    found: dict[str, Probe] = {}
    for reference in (*part.agents.values(), *((part.agent,) if part.agent else ())):
        try:
            described = catalogue.agent(reference.id).model.agent
            adapter, agent = catalogue.agent_adapter(described.adapter)
        except AkbenchError:  # the planner names it with its place, or the run does
            continue
        config = complete_configuration(described.configuration_schema, reference.config)
        declared = {each.name: os.environ[each.name] for each in described.environment if each.name in os.environ}
        context = ProbeContext(config=config, environ=declared, bounded=sandbox.bounded)
        try:
            found.setdefault(reference.id, adapter.probed(agent, context))
        except AkbenchError as error:
            found[reference.id] = Probe(version=None, problems=(Problem(message=str(error), mend="correct it"),))
    return found


def _environment(
    experiment: Snapshot[ExperimentDescriptor], catalogue: Catalogue, tasks: tuple[Task, ...]
) -> ReadyEnvironment:
    wanted = experiment.model.experiment.isolation.environment
    if wanted == AUTO:
        images = any(task.descriptor.task.environment.has_image for task in tasks)
        return strongest_environment(catalogue, task_images=images)
    try:
        return ready_environment(wanted, catalogue)
    except InputError as error:
        if error.place is not None:  # a fault of the descriptor, not of its name
            raise
        raise experiment.document.error(error.message, ("experiment", "isolation", "environment")) from error


def _shortcomings(environment: ReadyEnvironment) -> tuple[str, ...]:
    if environment.sandbox.bounded:
        return ()
    why = "it was asked for"
    if environment.passed_over:
        why = "no stronger sandbox works here (" + "; ".join(environment.passed_over) + ")"
    return (f"sandbox {environment.sandbox_id!r} confines nothing: agents could read this machine's files; {why}",)


def _problem_text(problems: tuple[Problem, ...]) -> str:
    return "; ".join(f"{problem.message} ({problem.mend})" for problem in problems)


def _check_script(experiment: Snapshot[ExperimentDescriptor], project: Project) -> None:
    endpoint = experiment.model.experiment.execution.model_endpoint
    if endpoint is not None and endpoint.scripted is not None:
        from akbench.testing.scripted_model import ScriptedModel

        path = project.root / endpoint.scripted
        if not path.is_file():
            location = ("experiment", "execution", "model_endpoint", "scripted")
            raise experiment.document.error(f"no such file below the project: {endpoint.scripted}", location)
        ScriptedModel.load(path)


def task_evaluators(task: Task, catalogue: Catalogue) -> tuple[ReadyEvaluator, ...]:
    """The task's evaluators with their configuration checked. Raises `InputError` with the place in evaluator.yaml."""
    return tuple(_task_evaluator(task, catalogue, index) for index in range(len(task.evaluator.model.evaluator.parts)))


def _task_evaluator(task: Task, catalogue: Catalogue, index: int) -> ReadyEvaluator:
    whole, document = task.evaluator.model.evaluator, task.evaluator.document
    part, way = whole.parts[index], whole.way(index)
    try:
        adapter, evaluator = catalogue.evaluator_adapter(part.adapter)
    except InputError as error:
        raise document.error(error.message, (*way, "adapter")) from error
    try:
        with adapter.guard("cannot check its configuration"):
            evaluator.check_config(part.config)
            needed = evaluator.check_files(part.config)
        for name in needed:
            _require_check(task, name)
    except InputError as error:
        raise document.error(error.message, (*way, "config")) from error
    return ReadyEvaluator(part=part, evaluator=evaluator, distribution=adapter.distribution, version=adapter.version)


def _require_check(task: Task, name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not (task.checks / path).is_file():
        raise InputError(f"there is no file checks/{name} in the task's folder; put the check script there")


def check_task(task: Task, catalogue: Catalogue) -> None:
    """Check what a task names against what is registered. Raises `InputError` with the place in the task's files."""
    if UNWRITTEN in task.description:
        line = task.description[: task.description.index(UNWRITTEN)].count("\n") + 1
        place = f"{task.folder / 'description.md'}:{line}:1"
        raise InputError("the description is still to be written; write it and remove this line", place=place)
    try:
        catalogue.find("category", task.descriptor.task.category)
    except InputError as error:
        raise task.snapshot.document.error(error.message, ("task", "category")) from error
    task_evaluators(task, catalogue)


def make_ready(task: Task, dataset: Dataset, catalogue: Catalogue, cache: Path, sandbox: Sandbox) -> ReadyTask:
    """Build what a task needs to run in `sandbox`: trees, snapshot, prepared environment. Nothing is built twice.

    Raises `InputError` with the place in the task's files, `HostError` when the cache cannot be used.
    """
    with cache_faults(cache):
        return _ready_task(task, dataset, catalogue, cache, sandbox)


def _ready_task(task: Task, dataset: Dataset, catalogue: Catalogue, cache: Path, sandbox: Sandbox) -> ReadyTask:
    assembled = assemble(task, dataset, cache)
    snapshot = take_snapshot(assembled.given, cache)
    evaluators = task_evaluators(task, catalogue)
    wanted = task.descriptor.task.environment
    try:
        if wanted.dockerfile is not None:
            check_context(assembled, snapshot, cache)
        environment = _prepared(task, cache, sandbox)
        if environment.image is not None:
            require_python(environment, evaluators)
    except InputError as error:
        raise task.snapshot.document.error(str(error), ("task", "environment")) from error
    except HostError as error:
        place = task.snapshot.document.place(("task", "environment"))
        raise HostError(f"{place}: {error}") from error
    return ReadyTask(
        assembled=assembled,
        snapshot=snapshot,
        environment=environment,
        sandbox=TaskSandbox(sandbox, environment.image, wanted.workspace) if environment.image else sandbox,
        evaluators=evaluators,
    )


def _prepared(task: Task, cache: Path, sandbox: Sandbox) -> PreparedEnvironment:
    wanted = task.descriptor.task.environment
    if wanted.has_image:
        return image_environment(wanted, task.folder, sandbox, cache)
    return prepare_environment(
        python=wanted.python,
        requirements=wanted.requirements,
        cache=cache,
        forbidden=task.repository.repository.name,
    )


def prepared_key(task: Task, sandbox: Sandbox) -> str:
    """The key of the task's prepared environment, as it would be here. Raises as `make_ready` does."""
    wanted = task.descriptor.task.environment
    if wanted.has_image:
        return image_key(wanted, task.folder, sandbox)
    return environment_key(python=wanted.python, requirements=wanted.requirements)


def require_python(environment: PreparedEnvironment, evaluators: tuple[ReadyEvaluator, ...]) -> None:
    """Raise `InputError` for an evaluator that needs what the image has not: nobody installs anything into it."""
    for each in evaluators:
        name = each.part.adapter
        if (each.evaluator.needs_python or each.evaluator.needs_packages) and environment.python is None:
            raise InputError(f"the image has no python3 on its PATH, which evaluator {name!r} needs; install it there")
        for package in each.evaluator.needs_packages:
            if package not in environment.packages:
                raise InputError(
                    f"the Python of the image ({environment.python}) has no {package}, which evaluator {name!r} needs; "
                    "install it there"
                )


def clean_quietly(project: Project, environment: ReadyEnvironment) -> None:
    """Remove what dead harnesses left in the project, and of the environment's sandbox; what resists is left.

    `akbench clean` says what that is, and why.
    """
    clean(remnants(project.workspaces, [(environment.sandbox_id, environment.sandbox)]))


def run_experiment(loaded: Loaded, observer: Observer, cancelled: threading.Event) -> str:
    """Run every run of the plan and return the experiment's id. What was finished stays, whatever happens."""
    from akbench.store.folder import ExperimentFolder
    from akbench.store.index import Index

    loaded.project.require_writable()
    clean_quietly(loaded.project, loaded.environment)
    agents = _ready_agents(loaded)
    cache = cache_folder()
    ready: dict[str, ReadyTask] = {}
    for task in loaded.tasks():
        observer.preparing(f"task {task.descriptor.id}")
        ready[task.descriptor.id] = make_ready(
            task, loaded.dataset, loaded.catalogue, cache, loaded.environment.sandbox
        )
    with _upstream(loaded) as upstream, Index.open(loaded.project.data) as index:
        record = _experiment_record(loaded, index.next_experiment_id(), ready)
        folder = ExperimentFolder(loaded.project.data, record.id)
        with folder.hold():
            folder.begin(record)
            index.update_experiment(record.id)
            observer.planned(record.id, loaded.plan)
            context = _Context(
                loaded=loaded,
                record=record,
                agents=agents,
                ready=ready,
                upstream=upstream,
                index=index,
                observer=observer,
                cancelled=cancelled,
                cache=cache,
                metrics=_metric_functions(loaded),
            )
            results = _run_all(context)
            status, reasons = judge_experiment(loaded.plan, results)
            folder.end(ExperimentEnd(status=status, reasons=reasons, finished_at=datetime.now(UTC)))
            index.update_experiment(record.id)
    return record.id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    loaded: Loaded
    record: ExperimentRecord
    agents: Mapping[str, _ReadyAgent]
    ready: Mapping[str, ReadyTask]
    upstream: Upstream | None
    index: Index
    observer: Observer
    cancelled: threading.Event
    cache: Path
    metrics: Mapping[str, Callable[..., Any]]


def _run_all(context: _Context) -> dict[str, RunResult]:
    """Start runs in the plan's order, at most `concurrency` at once; a cancelled experiment starts no further one."""
    plan = context.loaded.plan
    results: dict[str, RunResult] = {}
    waiting = list(reversed(plan.runs))
    working: dict[Future[RunResult], PlannedRun] = {}
    with ThreadPoolExecutor(max_workers=plan.concurrency, thread_name_prefix="run") as pool:
        try:
            while (waiting and not context.cancelled.is_set()) or working:
                while waiting and len(working) < plan.concurrency and not context.cancelled.is_set():
                    run = waiting.pop()
                    working[pool.submit(_run_one, context, run)] = run
                done, _ = wait(working, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    results[working.pop(future).id] = future.result()
        except BaseException:
            context.cancelled.set()
            raise
    return results


def _run_one(context: _Context, run: PlannedRun) -> RunResult:
    loaded, record = context.loaded, context.record
    variant = next(variant for variant in loaded.plan.variants if variant.id == run.variant_id)
    spec = _run_spec(context, run, variant)

    def on_event(event: Event) -> None:
        context.index.update_run(record.id, run.id)
        context.observer.event(run, event)

    secrets = context.agents[variant.id].secrets
    if context.upstream and context.upstream.key:
        secrets += (context.upstream.key,)
    folder = RunFolder(loaded.project.artifacts / record.id / run.id, on_event, secrets)
    result = execute(spec, _equipment(context, run, variant), folder, context.cancelled)
    context.index.update_run(record.id, run.id)
    context.observer.finished(run, result)
    return result


def _equipment(context: _Context, run: PlannedRun, variant: Variant) -> Equipment:
    ready, agent = context.ready[run.task_id], context.agents[variant.id]
    return Equipment(
        assembled=ready.assembled,
        snapshot=ready.snapshot,
        environment=ready.environment,
        agent=agent.agent,
        runtime=agent.runtime,
        plugins=agent.plugins,
        evaluators=ready.evaluators,
        sandbox=ready.sandbox,
        upstream=context.upstream,
        declared=agent.declared,
        metrics=context.metrics,
        cache=context.cache,
        workspaces=context.loaded.project.workspaces,
    )


def _run_spec(context: _Context, run: PlannedRun, variant: Variant) -> RunSpec:
    loaded, record = context.loaded, context.record
    task = next(task for task in loaded.plan.tasks if task.id == run.task_id)
    ready, agent = context.ready[run.task_id], context.agents[variant.id]
    limits = [loaded.plan.timeout_seconds, *([task.timeout_seconds] if task.timeout_seconds else [])]
    return RunSpec(
        experiment_id=record.id,
        run_id=run.id,
        repetition=run.repetition,
        variant=variant,
        task=task,
        dataset=record.dataset_id,
        dataset_version=record.dataset_version,
        dataset_hash=record.dataset_hash,
        tree=ready.snapshot.tree,
        commit=ready.snapshot.commit,
        environment=ready.environment.key,
        image=ready.environment.image,
        python_version=platform.python_version(),
        evaluator="+".join(each.part.adapter for each in ready.evaluators),
        evaluator_version="+".join(each.version for each in ready.evaluators),
        sandbox=loaded.plan.sandbox,
        sandbox_facts=_sandbox_facts(loaded, ready),
        agent_version=agent.version,
        agent_facts=agent.facts,
        agent_capabilities=agent.capabilities,
        descriptors={key: str(snapshot["hash"]) for key, snapshot in record.snapshots.items()},
        extensions=record.extensions,
        timeout_seconds=min(limits),
        prompt=ready.assembled.task.description,
        environment_variables=agent.variables,
        host={"system": platform.system(), "release": platform.release(), "machine": platform.machine()},
        created_at=datetime.now(UTC),
    )


def _sandbox_facts(loaded: Loaded, ready: ReadyTask) -> Mapping[str, str]:
    """What the probe found, but for the image in the place of the sandbox's own."""
    image = ready.environment.image
    return loaded.environment.facts if image is None else {**loaded.environment.facts, "image": image}


def _ready_agents(loaded: Loaded) -> dict[str, _ReadyAgent]:
    """Probe what each variant consists of. Raises `HostError` naming everything that cannot run here."""
    found = {variant.id: _ready_agent(loaded, variant) for variant in loaded.plan.variants}
    problems = dict.fromkeys(problem for ready in found.values() for problem in ready.problems)
    if problems:
        raise HostError("\n".join(problems))
    return found


def _ready_agent(loaded: Loaded, variant: Variant) -> _ReadyAgent:
    catalogue, choice = loaded.catalogue, variant.agent
    adapter, agent = catalogue.agent_adapter(choice.adapter)
    part = catalogue.agent(choice.id).model.agent
    probed = [_probed(f"agent {choice.id!r}", adapter, agent, choice.config, part.environment, loaded)]
    runtime = None
    if variant.runtime is not None:
        runtime_adapter, carrier = catalogue.runtime_adapter(variant.runtime.adapter)
        described = cast("RuntimeDescriptor", catalogue.find("runtime", variant.runtime.id).model).runtime
        name = f"runtime {variant.runtime.id!r}"
        probed.append(_probed(name, runtime_adapter, carrier, variant.runtime.config, described.environment, loaded))
        runtime = ReadyRuntime(choice=variant.runtime, runtime=carrier, declared=probed[-1].declared)
    plugins = []
    for each in variant.plugins:
        plugin_adapter, plugin = catalogue.plugin_adapter(each.adapter)
        probed.append(_probed(f"plugin {each.id!r}", plugin_adapter, plugin, each.config, (), loaded))
        plugins.append(ReadyPlugin(choice=each, plugin=plugin))
    supports: dict[str, Support] = {**part.capabilities, **probed[0].probe.capabilities}
    return _ReadyAgent(
        agent=agent,
        runtime=runtime,
        plugins=tuple(plugins),
        version=probed[0].probe.version,
        facts={**probed[0].probe.facts, **_layer_facts(probed[1:])},
        problems=tuple(text for each in probed for text in each.problems),
        capabilities={name: str(support) for name, support in supports.items()},
        declared=probed[0].declared,
        variables={name: value for each in probed for name, value in each.variables.items()},
        secrets=tuple(secret for each in probed for secret in each.secrets),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Probed:
    """One adapter's answer, and the variables of the harness's environment that it was given."""

    name: str
    probe: Probe
    declared: Mapping[str, str]
    variables: Mapping[str, JsonValue]
    secrets: tuple[str, ...] = field(repr=False)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it cannot run here."""
        found = self.probe.problems
        return (f"{self.name} cannot run here: {_problem_text(found)}",) if found else ()


def _probed(
    name: str,
    adapter: Adapter,
    probing: Probing,
    config: Mapping[str, JsonValue],
    named: tuple[NamedVariable, ...],
    loaded: Loaded,
) -> _Probed:
    declared = {each.name: os.environ[each.name] for each in named if each.name in os.environ}
    context = ProbeContext(config=config, environ=declared, bounded=loaded.environment.sandbox.bounded)
    probe = adapter.probed(probing, context)
    return _Probed(
        name=name,
        probe=probe,
        declared=declared,
        variables={
            each.name: {"is_set": each.name in declared} if each.sensitive else declared.get(each.name)
            for each in named
        },
        secrets=tuple(declared[each.name] for each in named if each.sensitive and each.name in declared),
    )


def _layer_facts(probed: list[_Probed]) -> dict[str, JsonValue]:
    return {each.name: {"version": each.probe.version, **each.probe.facts} for each in probed}


@contextmanager
def _upstream(loaded: Loaded) -> Iterator[Upstream | None]:
    """What answers model requests, for as long as the experiment runs."""
    endpoint = loaded.experiment.model.experiment.execution.model_endpoint
    if endpoint is None:
        yield None
    elif endpoint.scripted is not None:
        from akbench.testing.scripted_model import ScriptedModel

        with ScriptedModel.load(loaded.project.root / endpoint.scripted) as server:
            yield Upstream(base_url=server.base_url, kind=SCRIPTED_MODEL, key=None)
    else:
        yield Upstream(base_url=str(endpoint.base_url), kind="provider", key=_key(loaded, endpoint.api_key_env))


def _key(loaded: Loaded, name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name)
    if not key:
        place = loaded.experiment.document.place(("experiment", "execution", "model_endpoint", "api_key_env"))
        raise HostError(f"{place}: the environment variable {name} is not set; it must hold the provider's key")
    return key


def _experiment_record(loaded: Loaded, experiment_id: str, ready: Mapping[str, ReadyTask]) -> ExperimentRecord:
    model = loaded.experiment.model
    return ExperimentRecord(
        id=experiment_id,
        descriptor_id=model.id,
        descriptor_version=model.version,
        title=model.title or model.id,
        created_at=datetime.now(UTC),
        dataset_id=loaded.dataset.model.id,
        dataset_version=loaded.dataset.model.version,
        dataset_hash=loaded.dataset.hash,
        descriptor=loaded.experiment.document.text,
        plan=loaded.plan,
        snapshots=_snapshots(loaded),
        extensions=_extensions(loaded),
        images={name: each.environment.image for name, each in ready.items() if each.environment.image},
    )


def _snapshots(loaded: Loaded) -> dict[str, Mapping[str, JsonValue]]:
    """Every descriptor that took part, by kind and id."""
    catalogue, model = loaded.catalogue, loaded.experiment.model.experiment
    tasks = loaded.tasks()
    found: list[Snapshot[Any]] = [loaded.experiment, loaded.environment.snapshot]
    found += [catalogue.agent(name) for name in sorted({variant.agent.id for variant in loaded.plan.variants})]
    runtimes = {variant.runtime.id for variant in loaded.plan.variants if variant.runtime}
    found += [catalogue.find("runtime", name) for name in sorted(runtimes)]
    plugins = {plugin.id for variant in loaded.plan.variants for plugin in variant.plugins}
    found += [catalogue.find("plugin", name) for name in sorted(plugins)]
    for factor in model.factors.dimensions:
        found.append(catalogue.dimension(factor.id))
        if found[-1].model.dimension.type == "model_reference":
            found += [catalogue.find("model", str(value)) for value in factor.values]
    found += [catalogue.find("metric", name) for name in model.metrics]
    found += [catalogue.evaluator(name) for name in model.evaluation.evaluators]
    found += [catalogue.find("category", name) for name in sorted({t.descriptor.task.category for t in tasks})]
    found += [task.snapshot for task in tasks] + [task.evaluator for task in tasks]
    return {f"{snapshot.kind}/{snapshot.model.id}": snapshot.record() for snapshot in found}


def _extensions(loaded: Loaded) -> dict[str, str]:
    adapters = [loaded.environment.adapter]
    for variant in loaded.plan.variants:
        adapters.append(loaded.catalogue.agent_adapter(variant.agent.adapter)[0])
        adapters += [loaded.catalogue.runtime_adapter(variant.runtime.adapter)[0]] if variant.runtime else []
        adapters += [loaded.catalogue.plugin_adapter(plugin.adapter)[0] for plugin in variant.plugins]
    found = {"akbench-core": __version__} | {each.distribution: each.version for each in adapters}
    judges = (each for task in loaded.tasks() for each in brought_by(task, loaded.catalogue))
    return found | {each.distribution: each.version for each in judges}


def _metric_functions(loaded: Loaded) -> dict[str, Callable[..., Any]]:
    names = loaded.experiment.model.experiment.metrics
    wanted = names or tuple(snapshot.model.id for snapshot in loaded.catalogue.descriptors("metric"))
    functions = {name: loaded.catalogue.metric_function(name) for name in wanted}
    return {name: function for name, function in functions.items() if function is not None}
