"""Mined commits as tasks of a dataset, each with the choice that led to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.git_source import read_commit
from akbench.dataset.tree import Tree
from akbench.descriptors.document import read
from akbench.publish.mining import MinedCommit, trees_of
from akbench.publish.task_writing import NewTask, TaskTerms, free_id, write_task
from akbench.spec import JsonValue
from akbench.workspace.reference import patch_between
from akbench.workspace.snapshot import take_snapshot

__all__ = ["MinedTasks", "MiningChoice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningChoice:
    """What a person chose.

    - `checkout`: the repository here; `url`: where others get it; `name`: what the package index calls it.
    - `revision` back to (without) `stop`: the commits; `tests`: globs; `regression`: selectors that go on passing.
    """

    checkout: Path
    url: str
    license: str
    name: str | None
    revision: str
    stop: str | None
    tests: tuple[str, ...]
    regression: tuple[str, ...]
    repetitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedTasks:
    """Writes kept commits as tasks of the dataset in `folder`; `objects` is the checkout's object directory."""

    folder: Path
    objects: Path
    choice: MiningChoice
    terms: TaskTerms
    prefix: str
    cache: Path

    def write(self, found: MinedCommit, scratch: Path) -> str:
        """The id of the commit's task, written now unless the dataset has it already. `scratch` is a folder."""
        for path in sorted(self.folder.glob("*/*/origin.yaml")):
            origin = read(path).data.get("origin")
            if isinstance(origin, dict) and origin.get("commit") == found.past.commit:
                return path.parent.name
        return write_task(self.folder, self._task(found, scratch)).name

    def _task(self, found: MinedCommit, scratch: Path) -> NewTask:
        past = found.past
        trees = trees_of(past, self.objects)
        name: dict[str, JsonValue] = {"name": self.choice.name} if self.choice.name else {}
        return NewTask(
            id=free_id(self.folder, self.prefix),
            terms=self.terms,
            hint="What was changed, and what its author said of it: see origin.yaml and solution/.",
            protected=past.selectors,
            repository={
                "source": "git",
                "url": self.choice.url,
                "commit": past.parent,
                "license": self.choice.license,
                **name,
            },
            repository_id=self.prefix,
            repository_version="1.0.0",
            target=found.fail_to_pass,
            regression=tuple(dict.fromkeys((*past.selectors, *self.choice.regression))),
            deselect=found.others,
            hidden_tests=trees.tests,
            reference_patch=self._solution(found, trees.solved, scratch),
            origin=self._origin(found),
        )

    def _solution(self, found: MinedCommit, solved: Tree, scratch: Path) -> bytes:
        # Puts the parent into the cache while the checkout is there; whoever gets the dataset asks the URL.
        before = read_commit(self.choice.checkout.as_uri(), found.past.parent, self.cache).tree
        return patch_between(
            take_snapshot(before, self.cache), take_snapshot(solved, self.cache), scratch / f"{found.past.commit}.git"
        )

    def _origin(self, found: MinedCommit) -> dict[str, JsonValue]:
        choice = self.choice
        return {
            "by": "akbench dataset mine",
            "commit": found.past.commit,
            "message": found.past.message,
            "from": choice.revision,
            "to": choice.stop,
            "tests": [*choice.tests],
            "regression": [*choice.regression],
            "repetitions": choice.repetitions,
            "fail_to_pass": [*found.fail_to_pass],
            "pass_to_pass": len(found.pass_to_pass),
        }
