"""Validating many tasks: some at once, each stored as soon as it is done, none done twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from akbench.dataset.dataset import Task
from akbench.dataset.verdict import Verdict
from akbench.spec import HostError

__all__ = ["TaskReport", "validate_all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """How it went with one task. `verdict` is None when this machine could not say: `lack` says why.

    `reused` says that a stored verdict still held; `seconds` is the wall clock spent now.
    """

    task_id: str
    verdict: Verdict | None
    lack: str | None = None
    reused: bool = False
    seconds: float = 0.0

    @property
    def valid(self) -> bool:
        """Whether the task may be used."""
        return self.verdict is not None and self.verdict.valid


def validate_all(
    tasks: Sequence[Task],
    *,
    stored: Callable[[Task], Verdict | None],
    validate: Callable[[Task], Verdict],
    finished: Callable[[TaskReport], None],
    jobs: int,
    cancelled: threading.Event,
) -> tuple[TaskReport, ...]:
    """Validate `tasks`, `jobs` at a time, in their order.

    `stored` gives a verdict that still holds, `validate` makes and stores one; `finished` is told of each at once, in
    this thread. When anything else than a `HostError` is raised, nothing further begins and it is raised on.
    """
    reports: dict[str, TaskReport] = {}
    waiting, working = list(reversed(tasks)), set[Future[TaskReport]]()
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="validate") as pool:
        try:
            while waiting or working:
                while waiting and len(working) < jobs:
                    working.add(pool.submit(_one, waiting.pop(), stored, validate))
                done, working = wait(working, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    report = future.result()
                    reports[report.task_id] = report
                    finished(report)
        except BaseException:
            cancelled.set()
            raise
    return tuple(reports[task.descriptor.id] for task in tasks)


def _one(task: Task, stored: Callable[[Task], Verdict | None], validate: Callable[[Task], Verdict]) -> TaskReport:
    begun = time.monotonic()
    task_id = task.descriptor.id
    try:
        held = stored(task)
        verdict = held or validate(task)
    except HostError as error:
        return TaskReport(task_id=task_id, verdict=None, lack=str(error), seconds=time.monotonic() - begun)
    return TaskReport(task_id=task_id, verdict=verdict, reused=held is not None, seconds=time.monotonic() - begun)
