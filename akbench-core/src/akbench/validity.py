"""Whether an experiment's numbers may be used, and what must be said beside them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from akbench.experiment.plan import Plan, Variant
from akbench.run.lifecycle import RunState
from akbench.run.record import RunResult
from akbench.spec import VerificationStatus

__all__ = ["judge_experiment"]

type Results = Mapping[str, RunResult]


def judge_experiment(plan: Plan, results: Results) -> tuple[str, tuple[str, ...]]:
    """Status (valid, valid_with_warnings, invalid, incomplete) and its reasons, worst first.

    `results` maps run id to the result of each finished run.
    """
    invalid = [*_broken_controls(plan, results), *_mismatches(plan, results)]
    incomplete = _unfinished(plan, results)
    warnings = [*plan.warnings, *_failed_runs(results), *_unverified(plan, results), *_tampering(results)]
    reasons = (*invalid, *incomplete, *warnings)
    if invalid:
        return "invalid", reasons
    if incomplete:
        return "incomplete", reasons
    return ("valid_with_warnings" if warnings else "valid"), reasons


def _broken_controls(plan: Plan, results: Results) -> list[str]:
    """A task that the reference solution does not solve, or that is solved by nothing, measures nothing."""
    variants = {variant.id: variant for variant in plan.variants if variant.is_control}
    found = {}
    for run in plan.runs:
        variant, result = variants.get(run.variant_id), results.get(run.id)
        if variant is None or result is None or result.solved is None:
            continue
        given_solution = variant.agent.receives_reference_solution
        if result.solved != given_solution:
            verb = "did not solve" if given_solution else "solved"
            found[variant.name, run.task_id] = (
                f"control {variant.name!r} {verb} task {run.task_id!r}: it measures nothing"
            )
    return list(found.values())


def _mismatches(plan: Plan, results: Results) -> list[str]:
    keys = _keys_with(plan, results, VerificationStatus.MISMATCH)
    return [f"{name}: {key} was observed to differ from what was asked for" for name, key in keys]


def _unverified(plan: Plan, results: Results) -> list[str]:
    keys = _keys_with(plan, results, VerificationStatus.UNVERIFIED)
    by_agent: dict[str, list[str]] = {}
    for name, key in keys:
        by_agent.setdefault(name, []).append(key)
    return [
        f"{name}: requested but not confirmed by another source: {', '.join(sorted(keys))}"
        for name, keys in by_agent.items()
    ]


def _keys_with(plan: Plan, results: Results, status: VerificationStatus) -> list[tuple[str, str]]:
    variants: dict[str, Variant] = {variant.id: variant for variant in plan.variants}
    found = {
        (variants[run.variant_id].agent.id if state.component == "agent" else state.component, state.key)
        for run in plan.runs
        if run.id in results
        for state in results[run.id].config
        if state.status is status and state.requested is not None
    }
    return sorted(found)


def _unfinished(plan: Plan, results: Results) -> list[str]:
    open_runs = sum(run.id not in results for run in plan.runs)
    cancelled = sum(result.state is RunState.CANCELLED for result in results.values())
    return _counted(((open_runs, "not finished"), (cancelled, "cancelled")))


def _failed_runs(results: Results) -> list[str]:
    states = Counter(result.state for result in results.values())
    unclassified = sum(result.solved is None and result.state is RunState.FAILED for result in results.values())
    return _counted(
        (
            (states[RunState.INFRASTRUCTURE_ERROR], "ended by infrastructure errors and count for no agent"),
            (states[RunState.INVALID_CONFIGURATION], "ended by configuration errors and count for no agent"),
            (states[RunState.EVALUATION_ERROR], "could not be evaluated and count for no agent"),
            (unclassified, "failed for a reason that could not be classified and count for no agent"),
        )
    )


def _tampering(results: Results) -> list[str]:
    touched = sum(bool(result.touched_protected) for result in results.values())
    return _counted(((touched, "changed protected paths, which were put back before the evaluation"),))


def _counted(pairs: Iterable[tuple[int, str]]) -> list[str]:
    return [f"{count} {'run' if count == 1 else 'runs'} {text}" for count, text in pairs if count]
