"""Kept mutations as tasks of a dataset, each with the choice that led to it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.candidates import Candidate
from akbench.dataset.format import MutationFile, RepositoryFile
from akbench.descriptors.document import Document, read
from akbench.publish.mutation_search import Bounds, MeasuredCandidate
from akbench.publish.task_writing import NewTask, TaskTerms, files_of, free_id, protecting, write_task
from akbench.publish.test_runs import Baseline
from akbench.spec import JsonValue

__all__ = ["MutationChoice", "MutationTasks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationChoice:
    """What a person chose: globs of files and symbols, operators (all if none), the tests that tell, and the seed."""

    files: tuple[str, ...]
    symbols: tuple[str, ...]
    operators: tuple[str, ...]
    tests: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationTasks:
    """Writes kept candidates as tasks of the dataset in `folder`.

    `repository` is the descriptor of the mutated repository, `tree` git's id of its tree, `candidates` how many there
    were in all.
    """

    folder: Path
    repository: Document
    tree: str
    choice: MutationChoice
    bounds: Bounds
    baseline: Baseline
    candidates: int
    terms: TaskTerms
    prefix: str

    def write(self, found: MeasuredCandidate) -> str:
        """The id of the task with that mutation, written now unless the dataset has it already."""
        assert found.content is not None, "only what changes something is kept"
        result = hashlib.sha256(found.content).hexdigest()
        there = self._there(found.candidate.file, result)
        return there or write_task(self.folder, self._task(found, result)).name

    def _there(self, file: str, result: str) -> str | None:
        for path in sorted(self.folder.glob("*/*/mutations/*.yaml")):
            part = read(path).validate(MutationFile).mutation
            if (part.file, part.result_sha256) == (file, result):
                return path.parents[1].name
        return None

    def _task(self, found: MeasuredCandidate, result: str) -> NewTask:
        model = self.repository.validate(RepositoryFile)
        withhold = sorted({*model.repository.withhold, *files_of(found.failing)})
        return NewTask(
            id=free_id(self.folder, self.prefix),
            terms=self.terms,
            hint="What was changed and which tests notice it: see origin.yaml and mutations/.",
            protected=protecting(self.choice.tests),
            repository={**self.repository.data["repository"], "withhold": [*withhold]},
            repository_id=model.id,
            repository_version=model.version,
            target=tuple(sorted(found.failing)),
            regression=self.choice.tests,
            deselect=tuple(sorted(self.baseline.others)),
            origin=self._origin(found),
            mutations=((_title(found.candidate), _mutation(found.candidate, result)),),
        )

    def _origin(self, found: MeasuredCandidate) -> dict[str, JsonValue]:
        bounds = self.bounds
        return {
            "by": "akbench dataset mutate",
            "tree": self.tree,
            "files": [*self.choice.files],
            "symbols": [*self.choice.symbols],
            "operators": [*self.choice.operators],
            "tests": [*self.choice.tests],
            "seed": self.choice.seed,
            "candidates": self.candidates,
            "place_in_order": found.place,
            "failing_bounds": [bounds.failing_min, bounds.failing_max],
            "repetitions": bounds.repetitions,
            "failing": [*sorted(found.failing)],
        }


def _title(candidate: Candidate) -> str:
    return f"{candidate.symbol}, line {candidate.line}: {candidate.before} becomes {candidate.after}"


def _mutation(candidate: Candidate, result: str) -> dict[str, JsonValue]:
    return {
        "file": candidate.file,
        "file_sha256": candidate.file_sha256,
        "result_sha256": result,
        "symbol": candidate.symbol,
        "operator": {
            "id": candidate.operator,
            "version": candidate.operator_version,
            "occurrence": candidate.occurrence,
        },
    }
