"""What an experiment may rely on: tasks whose stored verdict holds, a frozen dataset that is still as it was."""

from __future__ import annotations

from akbench.catalogue import Catalogue
from akbench.dataset.dataset import Brought, Dataset, Task
from akbench.dataset.frozen import changes
from akbench.experiment.rejection import ExperimentSnapshot, rejected

__all__ = [
    "brought_by",
    "check_frozen",
    "quarantine_notes",
    "quarantined",
    "validation_warnings",
    "verdict_fault",
]

_NAMED = 3


def brought_by(task: Task, catalogue: Catalogue) -> tuple[Brought, ...]:
    """Who brings each of the task's evaluators. Raises `InputError` for one that is not installed."""
    adapters = [catalogue.evaluator_adapter(part.adapter)[0] for part in task.evaluator.model.evaluator.parts]
    return tuple(Brought(distribution=each.distribution, version=each.version) for each in adapters)


def verdict_fault(task: Task, catalogue: Catalogue) -> str | None:
    """Why the stored verdict does not vouch for the task; None if it does."""
    verdict = task.verdict
    if verdict is None:
        return "was never validated"
    now = task.verdict_key(brought_by(task, catalogue))
    if verdict.key.content != now.content:
        return "was changed since it was validated"
    if verdict.key != now:
        was = verdict.key
        return (
            f"was validated with {was.evaluator} of {was.distribution} {was.version}, "
            f"not with {now.evaluator} of {now.distribution} {now.version}"
        )
    return None if verdict.valid else f"was refused by its validation: {verdict.problems[0]}"


def quarantined(task: Task, catalogue: Catalogue) -> tuple[str, ...]:
    """The tests that no evaluation counts, by a verdict that holds."""
    return task.quarantined(brought_by(task, catalogue))


def quarantine_notes(tasks: tuple[Task, ...], catalogue: Catalogue) -> tuple[str, ...]:
    """One sentence for each task that has flaky tests."""
    found = {task.descriptor.id: quarantined(task, catalogue) for task in tasks}
    return tuple(
        f"task {task_id!r} has flaky tests, which count for nothing: {', '.join(tests)}"
        for task_id, tests in found.items()
        if tests
    )


def validation_warnings(tasks: tuple[Task, ...], dataset: str, catalogue: Catalogue) -> tuple[str, ...]:
    """One sentence when no verdict vouches for some tasks; empty otherwise."""
    faults = [(task.descriptor.id, verdict_fault(task, catalogue)) for task in tasks]
    lacking = [f"{task_id} {fault}" for task_id, fault in faults if fault]
    if not lacking:
        return ()
    named = "; ".join(lacking[:_NAMED]) + (f"; and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else "")
    how = f"akbench dataset validate {dataset}"
    return (f"no valid verdict vouches for {len(lacking)} of {len(tasks)} tasks ({named}): {how}",)


def check_frozen(experiment: ExperimentSnapshot, dataset: Dataset) -> None:
    """Raise `PlanRejectedError` when a frozen dataset was changed, or is not the one that the experiment names."""
    wanted, frozen = experiment.model.experiment.dataset.hash, dataset.frozen
    name = dataset.model.id
    if frozen is None:
        if wanted is not None:
            message = f"dataset {name!r} is not frozen, so it has no hash; freeze it: akbench dataset freeze {name}"
            raise rejected(experiment, message, ("experiment", "dataset", "hash"))
        return
    found = changes(dataset)
    if found:
        message = f"dataset {name!r} is frozen and was changed since: {'; '.join(found)}"
        raise rejected(experiment, message, ("experiment", "dataset", "id"))
    if wanted is not None and wanted != frozen.hash:
        message = f"dataset {name!r} {frozen.version} is frozen with the hash {frozen.hash}, not this one"
        raise rejected(experiment, message, ("experiment", "dataset", "hash"))
