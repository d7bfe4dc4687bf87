"""Experiments as the coordinator writes them, small and whole, for the tests of the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from akbench.experiment.plan import AgentChoice, Plan, PlannedRun, PlannedTask, Variant
from akbench.run.journal import RunFolder
from akbench.run.lifecycle import RunState
from akbench.run.record import Event, ExperimentEnd, ExperimentRecord, RunResult, RunSpec
from akbench.spec import (
    AgentStatus,
    ConfigState,
    Outcome,
    Reading,
    TestResult,
    TestRole,
    ToolCall,
    VerificationStatus,
    unavailable,
)

T0 = datetime(2026, 5, 1, 12, 0, 0, 250, tzinfo=UTC)


def variant(number: int) -> Variant:
    return Variant(
        id=f"v{number}",
        name=f"codex effort={number}",
        values={"agent": "codex", "reasoning_effort": None if number else "low"},
        agent=AgentChoice(
            id="codex", version="1.0.0", adapter="codex", config={"model": "m", "retries": [1, 2.5, None]}, model=None
        ),
        config_hash="c" * 63 + str(number),
        is_baseline=number == 0,
        is_control=number == 1,
    )


def task(number: int) -> PlannedTask:
    return PlannedTask(
        id=f"bugfix-{number:03}",
        version="1.0.0",
        title=f"Mend it {number}",
        category="bug_fix",
        difficulty="easy",
        dataset="examples",
        folder=f"datasets/examples/bug_fix/bugfix-{number:03}",
        digest="d" * 64,
        description="It is broken.",
    )


def experiment(experiment_id: str, runs: int = 4, tasks: int = 2) -> ExperimentRecord:
    planned = tuple(
        PlannedRun(
            id=f"run-{n + 1:04}",
            variant_id=f"v{n % 2}",
            task_id=f"bugfix-{n // 2 % tasks:03}",
            repetition=1 + n // (2 * tasks),
        )
        for n in range(runs)
    )
    plan = Plan(
        variants=(variant(0), variant(1)),
        tasks=tuple(task(n) for n in range(tasks)),
        runs=planned,
        repetitions=max(run.repetition for run in planned),
        concurrency=4,
        timeout_seconds=60.0,
        sandbox="bubblewrap",
        environment="bubblewrap",
        labels=("scripted model",),
    )
    return ExperimentRecord(
        id=experiment_id,
        descriptor_id="compare",
        descriptor_version="1.0.0",
        title="Does effort help?",
        created_at=T0,
        dataset_id="examples",
        dataset_version="1.0.0",
        dataset_hash="h" * 64,
        descriptor="id: compare\n",
        plan=plan,
        snapshots={"agent/codex": {"version": "1.0.0", "hash": "a" * 64, "source": "id: codex\n"}},
        extensions={"akbench-core": "0.1.0"},
    )


def manifest(record: ExperimentRecord, run: PlannedRun) -> RunSpec:
    return RunSpec(
        experiment_id=record.id,
        run_id=run.id,
        repetition=run.repetition,
        variant=next(v for v in record.plan.variants if v.id == run.variant_id),
        task=next(t for t in record.plan.tasks if t.id == run.task_id),
        dataset=record.dataset_id,
        dataset_version=record.dataset_version,
        dataset_hash=record.dataset_hash,
        tree="1" * 40,
        commit="2" * 40,
        environment="e" * 64,
        python_version="3.12.1",
        evaluator="pytest",
        evaluator_version="0.1.0",
        sandbox="bubblewrap",
        sandbox_facts={"version": "0.8.0"},
        agent_version="0.171.0",
        agent_facts={},
        agent_capabilities={"token_usage": "yes"},
        descriptors={"agent/codex": "a" * 64},
        extensions={"akbench-core": "0.1.0"},
        timeout_seconds=60.0,
        prompt="Mend it.",
        environment_variables={},
        host={"system": "Linux"},
        created_at=T0,
    )


def result(
    record: ExperimentRecord, run: PlannedRun, message: str = "Done.", tests: int = 3, metrics: int = 0
) -> RunResult:
    return RunResult(
        experiment_id=record.id,
        run_id=run.id,
        state=RunState.COMPLETED,
        reason=None,
        outcome=Outcome.FULL_SUCCESS,
        score=1.0,
        solved=True,
        started_at=T0,
        finished_at=T0 + timedelta(seconds=12.5),
        agent_status=AgentStatus.COMPLETED,
        error_class=None,
        agent_version="0.171.0",
        session_id="s-1",
        final_message=message,
        observed_models=("m-2026", "m-mini"),
        model_source="provider",
        config=(ConfigState(key="model", requested="m", configured="m", status=VerificationStatus.UNVERIFIED),),
        metrics={
            "input_tokens": Reading(value=1200, source="rollout"),
            "execution_time": Reading(value=12.5, source="clock"),
            "cached": Reading(value=True),
            "total_cost": unavailable("the provider reports no price"),
            **{f"metric_{n}": Reading(value=n) for n in range(metrics)},
        },
        tests=tuple(
            TestResult(id=f"tests/test_a.py::test_{n}", role=TestRole.TARGET, status="passed", duration_seconds=0.01)
            for n in range(tests)
        ),
        touched_protected=("tests/test_a.py",),
        oddities=("the agent left a process",),
        artifacts=(),
    )


def start(path: Path, record: ExperimentRecord, run: PlannedRun, notify=lambda _: None) -> RunFolder:
    """A run that has got as far as working on its task."""

    def on_event(event: Event) -> None:
        notify(run.id)

    folder = RunFolder(path, on_event)
    folder.begin(manifest(record, run))
    for state in (RunState.PREPARING, RunState.CREATING_WORKSPACE, RunState.EXECUTING):
        folder.enter(state)
    return folder


def finish(folder: RunFolder, ended: RunResult) -> None:
    folder.write("diff.patch", b"--- a\n+++ b\n\xff\n", "text/x-diff")
    folder.write_lines("tool_calls.jsonl", [ToolCall(name="shell", command="ls", exit_code=0, output="a\n")])
    folder.enter(RunState.EVALUATING)
    folder.finish(ended)


def end() -> ExperimentEnd:
    return ExperimentEnd(status="valid_with_warnings", reasons=("no sandbox",), finished_at=T0 + timedelta(minutes=3))
