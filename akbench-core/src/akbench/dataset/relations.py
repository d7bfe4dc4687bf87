"""Relations between the tasks of a dataset: checked, and followed in both directions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from akbench.descriptors.kinds import TaskDescriptor
from akbench.descriptors.snapshot import Snapshot

__all__ = ["check_relations", "related_tasks"]


def check_relations(tasks: Sequence[Snapshot[TaskDescriptor]]) -> None:
    """Raise `InputError` for a relation to a task that the dataset does not have, or to the task itself."""
    known = [task.model.id for task in tasks]
    for task in tasks:
        for kind, targets in task.model.task.relations.by_kind().items():
            for index, target in enumerate(targets):
                fault = _fault(task.model.id, target, known)
                if fault:
                    raise task.document.error(fault, ("task", "relations", kind, index))


def _fault(task_id: str, target: str, known: Sequence[str]) -> str | None:
    if target == task_id:
        return f"task {task_id!r} stands in a relation to itself; remove it here"
    if target in known:
        return None
    close = get_close_matches(target, known, n=1)
    return f"the dataset has no task {target!r}" + (f"; did you mean {close[0]!r}?" if close else "")


def related_tasks(tasks: Sequence[TaskDescriptor], kinds: Collection[str], centres: Collection[str]) -> set[str]:
    """The ids of tasks that stand in a relation of one of `kinds` (all if empty), whichever of the two says so.

    With `centres` (task ids): these, and only tasks in a relation to one of them.
    """
    pairs = [
        (task.id, target)
        for task in tasks
        for kind, targets in task.task.relations.by_kind().items()
        if not kinds or kind in kinds
        for target in targets
    ]
    if not centres:
        return {task_id for pair in pairs for task_id in pair}
    return {*centres, *(task_id for pair in pairs if set(pair) & set(centres) for task_id in pair)}
