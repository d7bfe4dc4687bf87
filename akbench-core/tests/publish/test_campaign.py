"""Validating many tasks: none twice, one that cannot be judged stops no other, an interruption keeps what is done."""

import shutil
import threading
from pathlib import Path

import pytest

from akbench.cli.dataset_new import write_new_dataset
from akbench.dataset.dataset import Task, load_dataset
from akbench.dataset.verdict import Verdict, VerdictKey
from akbench.publish.campaign import TaskReport, validate_all
from akbench.spec import HostError

KEY = VerdictKey(content="c", evaluator="pytest", distribution="d", version="1")


@pytest.fixture
def tasks(tmp_path: Path) -> tuple[Task, ...]:
    folder = tmp_path / "new"
    write_new_dataset("new", folder)
    for name in ("slug-002", "slug-003"):
        shutil.copytree(folder / "bug_fix/slug-001", folder / "bug_fix" / name)
        path = folder / "bug_fix" / name / "task.yaml"
        path.write_text(path.read_text().replace("slug-001", name))
    return load_dataset(folder).tasks


def verdict(task: Task, *, valid: bool = True) -> Verdict:
    return Verdict(task=task.descriptor.id, task_version="1.0.0", valid=valid, key=KEY)


def campaign(tasks, validate, stored=lambda task: None, jobs=2):
    told: list[TaskReport] = []
    cancelled = threading.Event()
    try:
        reports = validate_all(
            tasks, stored=stored, validate=validate, finished=told.append, jobs=jobs, cancelled=cancelled
        )
    except BaseException as error:
        return error, told, cancelled
    return reports, told, cancelled


def test_a_stored_verdict_that_holds_is_taken_as_it_is(tasks):
    begun: list[str] = []

    def validate(task: Task) -> Verdict:
        begun.append(task.descriptor.id)
        return verdict(task)

    reports, told, _ = campaign(tasks, validate, lambda t: verdict(t) if t.descriptor.id == "slug-002" else None)
    assert sorted(begun) == ["slug-001", "slug-003"]
    assert [(report.task_id, report.reused) for report in reports] == [
        ("slug-001", False),
        ("slug-002", True),
        ("slug-003", False),
    ]
    assert len(told) == 3


def test_a_task_that_cannot_be_judged_here_is_neither_valid_nor_refused_and_stops_no_other(tasks):
    def validate(task: Task) -> Verdict:
        if task.descriptor.id == "slug-001":
            raise HostError("no Python 3.99 here")
        return verdict(task, valid=task.descriptor.id == "slug-002")

    reports, _, cancelled = campaign(tasks, validate)
    assert [(report.valid, report.lack) for report in reports] == [
        (False, "no Python 3.99 here"),
        (True, None),
        (False, None),
    ]
    assert not cancelled.is_set()


def test_an_interruption_begins_nothing_further_and_tells_those_at_work(tasks):
    begun: list[str] = []

    def validate(task: Task) -> Verdict:
        begun.append(task.descriptor.id)
        raise KeyboardInterrupt

    error, _, cancelled = campaign(tasks, validate, jobs=1)
    assert isinstance(error, KeyboardInterrupt)
    assert (begun, cancelled.is_set()) == (["slug-001"], True)


def test_no_more_tasks_are_at_work_than_asked_for(tasks):
    together = threading.Barrier(2)

    def validate(task: Task) -> Verdict:
        if task.descriptor.id != "slug-003":
            together.wait(timeout=30)
        return verdict(task)

    reports, _, _ = campaign(tasks, validate, jobs=2)
    assert all(report.valid for report in reports)
