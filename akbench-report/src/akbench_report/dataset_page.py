"""The page about one dataset: what its tasks are, how large, and whether validation vouches for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from pathlib import Path

from akbench.catalogue import Catalogue
from akbench.dataset.assembly import assemble
from akbench.dataset.dataset import Dataset, Task, find_dataset, load_dataset
from akbench.dataset.frozen import changes
from akbench.dataset.tree import Tree
from akbench.experiment.publication import verdict_fault
from akbench.project import cache_faults, cache_folder
from akbench.spec import HostError, InputError
from akbench_report import compare
from akbench_report.links import Place
from akbench_report.measure import Measures
from akbench_report.pages import assets, environment
from akbench_report.publish import File, publish

__all__ = ["Size", "TaskFacts", "change_in", "dataset_files", "write_dataset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a task is: files and lines of the repository as the agent gets it, and of the reference solution.

    `lines` counts those of files that are UTF-8 text; `changed_lines` counts lines added and removed.
    """

    files: int
    lines: int
    changed_files: int
    changed_lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """A task with what the page says of it. `size` is None when the repository cannot be had, for `unsized`.

    `fault` says why no verdict vouches for the task; empty: it is valid.
    """

    task: Task
    fault: str
    size: Size | None
    unsized: str = ""

    @property
    def source(self) -> str:
        """Where the repository comes from, in short."""
        repository = self.task.repository.repository
        return f"{self.task.repository.id} {self.task.repository.version} ({repository.source})"

    @property
    def seconds(self) -> float | None:
        """Median wall clock of one check of the solved tree; None without a verdict that measured it."""
        verdict = self.task.verdict
        return None if verdict is None else verdict.state_seconds.get("solved")


def write_dataset(project: Path, dataset_id: str, target: Path) -> Path:
    """Write the page of the project's dataset into the folder `target` and return it.

    Repositories come from the cache, or are fetched into it. Raises `InputError` for an unknown or broken dataset.
    """
    catalogue = Catalogue.load(project)
    dataset = load_dataset(find_dataset(project, dataset_id))
    target = target.resolve()
    facts = [_facts(task, dataset, catalogue) for task in dataset.tasks]
    publish(dataset_files(dataset, facts, target=target, written_at=datetime.now(UTC)), target)
    return target / "index.html"


def dataset_files(
    dataset: Dataset, facts: Sequence[TaskFacts], *, target: Path, written_at: datetime
) -> Iterator[File]:
    """The page and its assets."""
    yield from assets()
    text = environment(Measures(())).get_template("dataset.html").render(
        at=Place("index.html", target),
        dataset=dataset,
        changes=changes(dataset),
        facts=facts,
        cells=Counter((each.task.descriptor.task.category, each.task.descriptor.task.difficulty) for each in facts),
        categories=sorted({each.task.descriptor.task.category for each in facts}),
        difficulties=sorted(
            {each.task.descriptor.task.difficulty for each in facts}, key=compare.difficulty_rank
        ),
        valid=sum(not each.fault for each in facts),
        quarantined=[(each.task.descriptor.id, test) for each in facts if each.task.verdict is not None
                     for test in each.task.verdict.quarantined],
        written_at=written_at,
    )  # fmt: skip
    yield File(path="index.html", content=text.encode("utf-8"))


def _facts(task: Task, dataset: Dataset, catalogue: Catalogue) -> TaskFacts:
    try:
        size, unsized = _size(task, dataset), ""
    except (HostError, InputError) as error:
        size, unsized = None, str(error)
    return TaskFacts(task=task, fault=_fault(task, catalogue), size=size, unsized=unsized)


def _fault(task: Task, catalogue: Catalogue) -> str:
    try:
        return verdict_fault(task, catalogue) or ""
    except InputError as error:
        return str(error)


def _size(task: Task, dataset: Dataset) -> Size:
    cache = cache_folder()
    with cache_faults(cache):
        assembled = assemble(task, dataset, cache)
    files, changed = change_in(task, assembled.given, assembled.original)
    return Size(
        files=len(assembled.given.entries),
        lines=sum(_lines(content) for _, content in assembled.given.contents()),
        changed_files=files,
        changed_lines=changed,
    )


def _lines(content: bytes) -> int:
    try:
        return len(content.decode("utf-8").splitlines())
    except UnicodeDecodeError:
        return 0


def change_in(task: Task, given: Tree, original: Tree | None) -> tuple[int, int]:
    """Files and lines (added and removed) of the reference solution: the mutations undone, or the patch."""
    if original is None:
        patch = task.reference_patch.read_text(encoding="utf-8", errors="replace").splitlines()
        heads = sum(line.startswith("diff --git ") for line in patch)
        return heads, sum(line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"} for line in patch)
    touched = sorted({mutation.mutation.file for mutation in task.mutations})
    pairs = [(given.read(file.encode()), original.read(file.encode())) for file in touched]
    return len(touched), sum(_changed_lines(before, after) for before, after in pairs)


def _changed_lines(before: bytes, after: bytes) -> int:
    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(i2 - i1 + j2 - j1 for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal")
