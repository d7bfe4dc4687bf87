"""One run from its specification to its durable result. Needs no database; everything it learns lands in its folder."""

from __future__ import annotations

import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from akbench.dataset.assembly import AssembledTask
from akbench.dataset.environment import PreparedEnvironment
from akbench.evaluate.evaluation import Evaluation, evaluate
from akbench.evaluate.protection import judged_tree
from akbench.foreign import cause_of
from akbench.run.agent_work import AgentWork, Rooms, agent_request, interpret, make_rooms, run_agent
from akbench.run.collection import keep_agent_files
from akbench.run.journal import RunFolder
from akbench.run.lifecycle import RunState
from akbench.run.record import RunResult, RunSpec
from akbench.run.verdict import Verdict, verdict
from akbench.sandbox.endpoint import ModelEndpoint
from akbench.spec import (
    AgentOutcome,
    AgentStatus,
    AkbenchError,
    Evaluator,
    InputError,
    ProcessAgent,
    Reading,
    RunFacts,
    Sandbox,
    Usage,
    unavailable,
)
from akbench.workspace.capture import Capture, capture
from akbench.workspace.reference import reference_solution
from akbench.workspace.removal import remove_tree
from akbench.workspace.snapshot import Snapshot
from akbench.workspace.worktree import Worktree, lay_worktree

__all__ = ["Equipment", "Upstream", "execute"]

EVALUATED = frozenset({AgentStatus.COMPLETED, AgentStatus.FAILED})
"""Only work that ended by itself is judged; the rest has its verdict from how it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What the run's model endpoint relays to. The key stays in memory and is never shown."""

    base_url: str
    kind: str
    key: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """Everything a specification names, resolved on this machine.

    `workspaces` is the folder for scratch space; `metrics` maps metric id to the function that derives it.
    """

    assembled: AssembledTask
    snapshot: Snapshot
    environment: PreparedEnvironment
    agent: ProcessAgent
    evaluator: Evaluator
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
    outcome: AgentOutcome | None = None
    agent_seconds: float | None = None
    evaluation: Evaluation | None = None
    touched: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()
    model_source: str | None = None


def execute(spec: RunSpec, equipment: Equipment, folder: RunFolder, cancelled: threading.Event) -> RunResult:
    """Carry out `spec`. Never raises for what agent, evaluator or host do: that is in the result's state."""
    folder.begin(spec)
    progress = _Progress(started_at=datetime.now(UTC))
    try:
        with _scratch(equipment.workspaces, spec) as scratch:
            _work(spec, equipment, folder, cancelled, scratch, progress)
        ended = verdict(progress.outcome, progress.evaluation.judgement if progress.evaluation else None)
    except InputError as error:
        ended = Verdict(state=RunState.INVALID_CONFIGURATION, reason=str(error))
    except (AkbenchError, OSError) as error:
        ended = Verdict(state=RunState.INFRASTRUCTURE_ERROR, reason=str(error))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an adapter's bug ends its own run, never the experiment
        folder.write("error.txt", traceback.format_exc().encode(), "text/plain")
        ended = Verdict(state=RunState.INFRASTRUCTURE_ERROR, reason=f"{type(error).__name__}: {error} (see error.txt)")
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
    folder.enter(RunState.CREATING_WORKSPACE)
    worktree = _worktree(equipment, scratch)
    rooms = make_rooms(scratch)
    with _endpoint(equipment, spec) as endpoint:
        work = _agent_work(spec, equipment, worktree, rooms, endpoint, scratch)
        _run_agent(work, folder, cancelled, progress)
    _note_requests(endpoint, equipment, folder, progress)
    folder.enter(RunState.COLLECTING)
    captured = _collect(equipment, folder, worktree, rooms, scratch, progress)
    if progress.outcome is not None and progress.outcome.status in EVALUATED:
        folder.enter(RunState.EVALUATING)
        _evaluate(spec, equipment, folder, captured, scratch, cancelled, progress)


@contextmanager
def _scratch(workspaces: Path, spec: RunSpec) -> Iterator[Path]:
    workspaces.mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix=f"{spec.experiment_id}-{spec.run_id}-", dir=workspaces))
    try:
        path.chmod(0o755)
        yield path
    finally:
        remove_tree(path)


def _worktree(equipment: Equipment, scratch: Path) -> Worktree:
    sandbox = equipment.sandbox
    return lay_worktree(
        equipment.snapshot,
        scratch,
        inside_workspace=sandbox.inside("workspace", scratch / "workspace"),
        inside_repository=sandbox.inside("repository", scratch / "repo.git"),
    )


@contextmanager
def _endpoint(equipment: Equipment, spec: RunSpec) -> Iterator[ModelEndpoint | None]:
    """The relay to the model, for agents that are given one. A socket's path may have 107 bytes: hence its folder."""
    if equipment.upstream is None or spec.variant.agent.model is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="akbench-") as folder:
        Path(folder).chmod(0o755)
        upstream = equipment.upstream
        with ModelEndpoint(upstream.base_url, upstream.key, Path(folder) / "model.sock") as endpoint:
            yield endpoint


def _agent_work(
    spec: RunSpec,
    equipment: Equipment,
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
        sandbox=equipment.sandbox,
        environment=equipment.environment,
        worktree=worktree,
        rooms=rooms,
        endpoint=endpoint,
        python_path=equipment.assembled.task.descriptor.task.environment.python_path,
        declared=equipment.declared,
        reference_patch=reference,
    )


def _run_agent(work: AgentWork, folder: RunFolder, cancelled: threading.Event, progress: _Progress) -> None:
    folder.enter(RunState.VALIDATING)
    request = agent_request(work)
    invocation = work.agent.prepare(request)
    folder.enter(RunState.STARTING_AGENT)
    folder.enter(RunState.EXECUTING)
    process = run_agent(work, request, invocation, folder.path, cancelled)
    folder.adopt("stdout.log", "text/plain")
    folder.adopt("stderr.log", "text/plain")
    progress.agent_seconds = process.duration_seconds if process.start_error is None else None
    progress.outcome = interpret(work, request, process)


def _note_requests(
    endpoint: ModelEndpoint | None, equipment: Equipment, folder: RunFolder, progress: _Progress
) -> None:
    """The relay's own count of requests: what was asked of the model, independent of what the agent says."""
    if endpoint is None or equipment.upstream is None:
        return
    if endpoint.requests:
        progress.model_source = equipment.upstream.kind
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
    progress.oddities = tuple(_oddity(each.path, each.kind, each.detail) for each in captured.oddities)
    if not captured.complete:
        progress.oddities += ("the workspace was too large to read whole",)
    if progress.outcome is not None:
        folder.write_lines("agent_trace.jsonl", progress.outcome.trace)
        folder.write_lines("tool_calls.jsonl", progress.outcome.tool_calls)
        missing = keep_agent_files(folder, rooms.state, progress.outcome.artifacts)
        for name in missing:
            folder.record("artifact_missing", f"the agent's file {name!r} could not be kept")
    return captured


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
    assembled = equipment.assembled
    task = assembled.task.descriptor.task
    judged = judged_tree(final=captured.tree, given=assembled.given, hidden=assembled.hidden, protected=task.protected)
    progress.touched = judged.touched
    for path in judged.touched:
        folder.record("protected_path", f"the agent changed the protected path {path}; it was put back", path=path)
    progress.evaluation = evaluate(
        tree=judged.tree,
        hidden_files=assembled.hidden_test_files,
        evaluator=equipment.evaluator,
        config=assembled.task.evaluator.model.evaluator.config,
        environment=equipment.environment,
        python_path=task.environment.python_path,
        sandbox=equipment.sandbox,
        scratch=scratch / "evaluation",
        cancelled=cancelled,
        quarantined=spec.task.quarantined,
    )
    _keep_evaluation(folder, progress.evaluation)


def _keep_evaluation(folder: RunFolder, evaluation: Evaluation) -> None:
    folder.write_json("evaluation.json", evaluation.judgement)
    folder.write("evaluation/report.jsonl", evaluation.report, "application/jsonl")
    folder.write("evaluation/stdout.log", evaluation.stdout.read_bytes(), "text/plain")
    folder.write("evaluation/stderr.log", evaluation.stderr.read_bytes(), "text/plain")


def _result(spec: RunSpec, equipment: Equipment, folder: RunFolder, progress: _Progress, ended: Verdict) -> RunResult:
    outcome, evaluation = progress.outcome, progress.evaluation
    facts = RunFacts(
        usage=outcome.usage if outcome else Usage(),
        agent_seconds=progress.agent_seconds,
        judgement=evaluation.judgement if evaluation else None,
        solved=ended.solved,
        reason=ended.reason,
    )
    metrics = {name: _reading(derive, facts) for name, derive in equipment.metrics.items()}
    folder.write_json("metrics.json", metrics)
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
        observed_models=outcome.observed_models if outcome else (),
        model_source=progress.model_source,
        config=outcome.config if outcome else (),
        metrics=metrics,
        tests=evaluation.judgement.tests if evaluation else (),
        touched_protected=progress.touched,
        oddities=progress.oddities,
        artifacts=folder.artifacts(),
    )


def _reading(derive: Callable[[RunFacts], Reading], facts: RunFacts) -> Reading:
    try:
        found: object = derive(facts)
        return found if isinstance(found, Reading) else unavailable(f"the metric returned {type(found).__name__}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a metric's bug costs its own number, nothing else
        return unavailable(f"the metric failed: {cause_of(error)}")
