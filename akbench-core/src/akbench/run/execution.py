"""One run from its specification to its durable result. Needs no database; everything it learns lands in its folder."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from akbench.audit.auditing import Observed, audit, unavailable_audit
from akbench.audit.finding import Audit
from akbench.audit.rules import AddedCode
from akbench.dataset.assembly import AssembledTask
from akbench.dataset.environment import PreparedEnvironment
from akbench.evaluate.judging import ReadyEvaluator, WorkJudgement, judge_work
from akbench.foreign import cause_of
from akbench.run.agent_host import AgentHost
from akbench.run.agent_result import WorkspaceChange, added_code, agent_result, workspace_changes
from akbench.run.agent_work import AgentWork, Rooms, agent_request, make_rooms
from akbench.run.collection import keep_files
from akbench.run.journal import RunFolder
from akbench.run.lifecycle import RunState
from akbench.run.record import FINAL_TREE, RunResult, RunSpec
from akbench.run.runtime_work import (
    ReadyPlugin,
    ReadyRuntime,
    RuntimeWork,
    plugin_findings,
    running_runtime,
    with_plugins,
)
from akbench.run.session import SessionEnd, carry_out
from akbench.run.verdict import EVALUATED, Fault, Verdict, verdict
from akbench.sandbox.endpoint import ModelEndpoint
from akbench.sandbox.local import LocalSandbox
from akbench.sandbox.relay import ModelRequest
from akbench.spec import (
    AgentOutcome,
    AkbenchError,
    ConfigState,
    InputError,
    Invocation,
    JsonValue,
    ProviderAccess,
    Reading,
    RunFacts,
    Sandbox,
    SessionAgent,
    Support,
    Usage,
    VerificationStatus,
    unavailable,
)
from akbench.workspace.capture import Capture, capture
from akbench.workspace.reference import reference_solution
from akbench.workspace.scratch import scratch_folder
from akbench.workspace.snapshot import Snapshot
from akbench.workspace.worktree import Worktree, lay_worktree

__all__ = ["Equipment", "Upstream", "execute"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What the run's model endpoint relays to. The key stays in memory and is never shown."""

    base_url: str
    kind: str
    key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """Everything a specification names, resolved on this machine.

    `runtime` and `plugins` are the variant's. `workspaces` is the folder for scratch space; `metrics` maps metric id to
    the function that derives it.
    """

    assembled: AssembledTask
    snapshot: Snapshot
    environment: PreparedEnvironment
    agent: SessionAgent[Any]
    runtime: ReadyRuntime | None
    plugins: tuple[ReadyPlugin, ...]
    evaluators: tuple[ReadyEvaluator, ...]
    sandbox: Sandbox
    upstream: Upstream | None
    declared: Mapping[str, str]
    metrics: Mapping[str, Callable[[RunFacts], Reading]]
    cache: Path
    workspaces: Path


@dataclass(slots=True)
class _Progress:
    """What is known of a run so far; whatever ends it, the result is made of this."""

    started_at: datetime
    session: SessionEnd | None = None
    runtime: RuntimeWork | None = None
    plugin_config: tuple[ConfigState, ...] = ()
    plugin_metrics: Mapping[str, Reading] = field(default_factory=dict)
    changes: tuple[WorkspaceChange, ...] | None = None
    added: Mapping[str, AddedCode] | None = None
    evaluation: WorkJudgement | None = None
    oddities: tuple[str, ...] = ()
    model_source: str | None = None
    model_requests: tuple[ModelRequest, ...] | None = None

    @property
    def outcome(self) -> AgentOutcome | None:
        """What the agent's adapter said, corrected by what the harness saw; None if it never came to that."""
        return self.session.outcome if self.session else None


def execute(spec: RunSpec, equipment: Equipment, folder: RunFolder, cancelled: threading.Event) -> RunResult:
    """Carry out `spec`. Never raises for what agent, evaluator or host do: that is in the result's state."""
    folder.begin(spec)
    progress = _Progress(started_at=datetime.now(UTC))
    try:
        with _scratch(equipment.workspaces, spec) as scratch:
            _work(spec, equipment, folder, cancelled, scratch, progress)
        ended = verdict(
            progress.outcome,
            progress.evaluation.judgement if progress.evaluation else None,
            (*_runtime_faults(progress), *_unproven(equipment, progress)),
        )
    except InputError as error:
        ended = Verdict(state=RunState.INVALID_CONFIGURATION, reason=str(error))
    except (AkbenchError, OSError) as error:
        ended = Verdict(state=RunState.INFRASTRUCTURE_ERROR, reason=str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an adapter's bug ends its own run, never the experiment
        folder.write("error.txt", traceback.format_exc().encode(), "text/plain")
        where = f"in state {folder.state} with the agent adapter {spec.variant.agent.adapter!r}"
        reason = f"{type(error).__name__}: {error} ({where}; see error.txt in the run's folder)"
        ended = Verdict(state=RunState.INFRASTRUCTURE_ERROR, reason=reason)
    folder.enter(RunState.FINALIZING)
    return folder.finish(_result(spec, equipment, folder, progress, ended))


def _work(
    spec: RunSpec,
    equipment: Equipment,
    folder: RunFolder,
    cancelled: threading.Event,
    scratch: Path,
    progress: _Progress,
) -> None:
    folder.enter(RunState.PREPARING)
    folder.enter(RunState.VALIDATING)
    config = with_plugins(spec.variant.agent.config, equipment.plugins, spec.variant.agent.id, folder)
    with ExitStack() as stack:
        progress.runtime = _runtime(equipment, scratch, folder, cancelled, stack)
        folder.enter(RunState.CREATING_WORKSPACE)
        sandbox = _agent_sandbox(spec, equipment)
        worktree, rooms = _worktree(equipment, sandbox, scratch), make_rooms(scratch)
        with _endpoint(equipment, spec, progress.runtime) as endpoint:
            work = _agent_work(spec, equipment, sandbox, config, worktree, rooms, endpoint, scratch)
            _run_agent(work, folder, cancelled, progress)
        _note_requests(endpoint, equipment, folder, progress)
        if progress.runtime is not None:
            progress.runtime.observe()
    folder.enter(RunState.COLLECTING)
    captured = _collect(equipment, folder, worktree, rooms, scratch, progress)
    _keep_observations(equipment, folder, scratch, progress)
    folder.write_json("audit.json", _audit(spec, folder, progress))
    if progress.outcome is not None and progress.outcome.status in EVALUATED:
        folder.enter(RunState.EVALUATING)
        _evaluate(spec, equipment, folder, captured, scratch, cancelled, progress)


def _runtime(
    equipment: Equipment, scratch: Path, folder: RunFolder, cancelled: threading.Event, stack: ExitStack
) -> RuntimeWork | None:
    """The variant's runtime, started and verified; stopped when `stack` is left."""
    ready, upstream = equipment.runtime, equipment.upstream
    if ready is None:
        return None
    config = with_plugins(ready.choice.config, equipment.plugins, ready.choice.id, folder)
    provider = ProviderAccess(base_url=upstream.base_url, key=upstream.key) if upstream else None
    return stack.enter_context(running_runtime(ready, config, provider, scratch / "runtime", folder, cancelled))


def _agent_sandbox(spec: RunSpec, equipment: Equipment) -> Sandbox:
    """Where paths lie as the agent sees them: an agent that AK-Bench does not start sees those of the host."""
    return equipment.sandbox if spec.variant.agent.execution_type == "process" else LocalSandbox()


@contextmanager
def _scratch(workspaces: Path, spec: RunSpec) -> Iterator[Path]:
    workspaces.mkdir(parents=True, exist_ok=True)
    with scratch_folder(f"{spec.experiment_id}-{spec.run_id}-", workspaces) as path:
        path.chmod(0o755)
        yield path


def _worktree(equipment: Equipment, sandbox: Sandbox, scratch: Path) -> Worktree:
    return lay_worktree(
        equipment.snapshot,
        scratch,
        inside_workspace=sandbox.inside("workspace", scratch / "workspace"),
        inside_repository=sandbox.inside("repository", scratch / "repo.git"),
    )


@contextmanager
def _endpoint(equipment: Equipment, spec: RunSpec, runtime: RuntimeWork | None) -> Iterator[ModelEndpoint | None]:
    """The relay to the model, for agents that are given one. A socket's path may have 107 bytes: hence its folder."""
    upstream = equipment.upstream
    carrier = runtime.model_url if runtime else None
    if carrier is not None:
        base_url, key = carrier, None  # the runtime holds the provider's key
    elif upstream is not None and spec.variant.agent.model is not None:
        base_url, key = upstream.base_url, upstream.key
    else:
        yield None
        return
    with scratch_folder() as folder:
        folder.chmod(0o755)
        with ModelEndpoint(base_url, key, folder / "model.sock") as endpoint:
            yield endpoint


def _agent_work(
    spec: RunSpec,
    equipment: Equipment,
    sandbox: Sandbox,
    config: Mapping[str, JsonValue],
    worktree: Worktree,
    rooms: Rooms,
    endpoint: ModelEndpoint | None,
    scratch: Path,
) -> AgentWork:
    reference = None
    if spec.variant.agent.receives_reference_solution:
        place = scratch / "solution"
        place.mkdir()
        reference = reference_solution(equipment.assembled, equipment.snapshot, equipment.cache, place).patch
    return AgentWork(
        spec=spec,
        agent=equipment.agent,
        config=config,
        sandbox=sandbox,
        environment=equipment.environment,
        worktree=worktree,
        rooms=rooms,
        endpoint=endpoint,
        python_path=equipment.assembled.task.descriptor.task.environment.python_path,
        declared=equipment.declared,
        reference_patch=reference,
    )


def _run_agent(work: AgentWork, folder: RunFolder, cancelled: threading.Event, progress: _Progress) -> None:
    request = agent_request(work)

    def launch(invocation: Invocation) -> Invocation:
        return progress.runtime.launch(invocation) if progress.runtime else invocation

    host = AgentHost(work, request, folder.path, cancelled, launch)
    try:
        progress.session = carry_out(work, request, host, cancelled, folder)
    finally:
        for name in ("stdout.log", "stderr.log"):
            if (folder.path / name).exists():
                folder.adopt(name, "text/plain")
    if not progress.session.stopped:
        progress.oddities += ("the agent may still have been at work when its workspace was read",)


def _note_requests(
    endpoint: ModelEndpoint | None, equipment: Equipment, folder: RunFolder, progress: _Progress
) -> None:
    """The relay's own count of requests: what was asked of the model, independent of what the agent says."""
    if endpoint is None or equipment.upstream is None:
        return
    if endpoint.requests:
        progress.model_source = equipment.upstream.kind
    progress.model_requests = endpoint.records
    folder.write_lines("model_requests.jsonl", endpoint.records)
    text = f"{endpoint.requests} requests passed the model endpoint"
    folder.record("model_requests", text, count=endpoint.requests)


def _collect(
    equipment: Equipment,
    folder: RunFolder,
    worktree: Worktree,
    rooms: Rooms,
    scratch: Path,
    progress: _Progress,
) -> Capture:
    captured = capture(worktree.workspace, equipment.snapshot, scratch / "final.git")
    folder.write("diff.patch", captured.patch, "text/x-diff")
    folder.record(FINAL_TREE, f"the agent left the tree {captured.tree.id}", tree=captured.tree.id)
    progress.changes = workspace_changes(equipment.assembled.given, captured.tree)
    progress.added = added_code(equipment.assembled.given, captured.tree)
    progress.oddities += tuple(_oddity(each.path, each.kind, each.detail) for each in captured.oddities)
    if not captured.complete:
        progress.oddities += ("the workspace was too large to read whole",)
    if progress.outcome is not None:
        folder.write_lines("agent_trace.jsonl", progress.outcome.trace)
        folder.write_lines("tool_calls.jsonl", progress.outcome.tool_calls)
        missing = keep_files(folder, "agent", rooms.state, progress.outcome.artifacts)
        for name in missing:
            folder.record("artifact_missing", f"the agent's file {name!r} could not be kept")
    return captured


def _keep_observations(equipment: Equipment, folder: RunFolder, scratch: Path, progress: _Progress) -> None:
    """What runtime and plugins say of the run."""
    state = progress.runtime.state if progress.runtime else None
    if state is not None:
        folder.write_lines("runtime_trace.jsonl", state.events)
        for name in keep_files(folder, "runtime", scratch / "runtime" / "state", state.artifacts):
            folder.record("artifact_missing", f"the runtime's file {name!r} could not be kept")
    progress.plugin_config, progress.plugin_metrics = plugin_findings(
        equipment.plugins, state, progress.outcome, folder
    )


def _audit(spec: RunSpec, folder: RunFolder, progress: _Progress) -> Audit:
    outcome, changes = progress.outcome, progress.changes
    observed = Observed(
        tool_calls=outcome.tool_calls if outcome else (),
        trace=outcome.trace if outcome else (),
        redacted=folder.redacted,
        reports_calls=spec.agent_capabilities.get("tool_trace") == Support.YES,
        added=progress.added,
        changes=None if changes is None else {each.path: each.change for each in changes},
        model_requests=progress.model_requests,
    )
    try:
        return audit(observed)
    except Exception as error:  # noqa: BLE001 - a rule's bug costs its own findings, never the run
        return unavailable_audit(f"the audit failed: {cause_of(error)}")


def _oddity(path: bytes, kind: str, detail: str) -> str:
    return f"{path.decode('utf-8', 'backslashreplace')}: {kind}: {detail}"


def _evaluate(
    spec: RunSpec,
    equipment: Equipment,
    folder: RunFolder,
    captured: Capture,
    scratch: Path,
    cancelled: threading.Event,
    progress: _Progress,
) -> None:
    progress.evaluation = judge_work(
        assembled=equipment.assembled,
        final=captured.tree,
        evaluators=equipment.evaluators,
        environment=equipment.environment,
        sandbox=equipment.sandbox,
        scratch=scratch / "evaluation",
        cancelled=cancelled,
        quarantined=spec.task.quarantined,
    )
    for path in progress.evaluation.touched:
        folder.record("protected_path", f"the agent changed the protected path {path}; it was put back", path=path)
    folder.write_json("evaluation.json", progress.evaluation.record())
    for name, (content, media_type) in progress.evaluation.files().items():
        folder.write(name, content, media_type)


def _runtime_faults(progress: _Progress) -> Iterator[Fault]:
    for text in progress.runtime.faults if progress.runtime else ():
        yield Fault(state=RunState.INFRASTRUCTURE_ERROR, reason=text)


def _unproven(equipment: Equipment, progress: _Progress) -> Iterator[Fault]:
    """Plugins that must be shown to have worked and were not."""
    needed = {f"plugin {each.choice.id}" for each in equipment.plugins if each.choice.must_be_verified}
    for state in progress.plugin_config:
        if state.key == "active" and state.component in needed and state.status is not VerificationStatus.VERIFIED:
            text = f"nothing shows that {state.component} was at work ({state.source or 'no source tells'})"
            yield Fault(state=RunState.INVALID_CONFIGURATION, reason=text)


def _result(spec: RunSpec, equipment: Equipment, folder: RunFolder, progress: _Progress, ended: Verdict) -> RunResult:
    outcome, evaluation = progress.outcome, progress.evaluation
    facts = RunFacts(
        usage=outcome.usage if outcome else Usage(),
        agent_seconds=progress.session.seconds if progress.session else None,
        judgement=evaluation.judgement if evaluation else None,
        solved=ended.solved,
        reason=ended.reason,
    )
    metrics = {name: _reading(derive, facts) for name, derive in equipment.metrics.items()}
    metrics.update(progress.plugin_metrics)
    folder.write_json("metrics.json", metrics)
    folder.write_json("metadata.json", agent_result(spec, progress.session, progress.changes))
    runtime = progress.runtime
    return RunResult(
        experiment_id=spec.experiment_id,
        run_id=spec.run_id,
        state=ended.state,
        reason=ended.reason,
        outcome=ended.outcome,
        score=evaluation.judgement.score if evaluation else None,
        solved=ended.solved,
        started_at=progress.started_at,
        finished_at=datetime.now(UTC),
        agent_status=outcome.status if outcome else None,
        error_class=outcome.error_class if outcome else None,
        agent_version=(outcome.agent_version if outcome else None) or spec.agent_version,
        session_id=outcome.session_id if outcome else None,
        final_message=outcome.final_message if outcome else None,
        observed_models=tuple(
            dict.fromkeys(
                (
                    *(outcome.observed_models if outcome else ()),
                    *(runtime.state.models if runtime and runtime.state else ()),
                )
            )
        ),
        model_source=progress.model_source,
        config=(
            *(outcome.config if outcome else ()),
            *(runtime.config if runtime else ()),
            *progress.plugin_config,
        ),
        metrics=metrics,
        tests=evaluation.judgement.tests if evaluation else (),
        touched_protected=evaluation.touched if evaluation else (),
        oddities=progress.oddities,
        artifacts=folder.artifacts(),
    )


def _reading(derive: Callable[[RunFacts], Reading], facts: RunFacts) -> Reading:
    try:
        found: object = derive(facts)
        return found if isinstance(found, Reading) else unavailable(f"the metric returned {type(found).__name__}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a metric's bug costs its own number, nothing else
        return unavailable(f"the metric failed: {cause_of(error)}")
