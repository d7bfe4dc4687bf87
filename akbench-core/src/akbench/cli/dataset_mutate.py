"""``akbench dataset mutate``: bug-fix tasks by controlled mutations of one repository."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from akbench.cli.making import PYTEST, Surroundings, environment_options, opened_bench, task_options
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.dataset.candidates import Candidate, propose
from akbench.dataset.dataset import find_dataset, load_dataset
from akbench.dataset.format import MutationFile, RepositoryFile
from akbench.dataset.source import RepositorySource, read_source
from akbench.descriptors.document import Document, parse, read
from akbench.project import Project, cache_faults, cache_folder
from akbench.publish.measured import Measured
from akbench.publish.mutation_search import Bounds, Fate, MeasuredCandidate, search
from akbench.publish.task_writing import NewTask, files_of, free_id, protecting, write_task
from akbench.publish.test_runs import Baseline, TestBench, baseline_of
from akbench.spec import JsonValue

__all__ = ["mutate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repository:
    """The repository to mutate, as its descriptor has it and as a tree."""

    document: Document
    model: RepositoryFile
    source: RepositorySource


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """What the person chose: recorded with every task."""

    files: tuple[str, ...]
    symbols: tuple[str, ...]
    operators: tuple[str, ...]
    tests: tuple[str, ...]
    seed: int


@click.command()
@click.argument("dataset_id")
@click.option("--like", metavar="TASK_ID", help="Repository and environment of this task of the dataset.")
@click.option(
    "--repository",
    "repository_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A repository.yaml.",
)
@click.option("--release", metavar="NAME==VERSION", help="A release on the package index.")
@click.option("--license", "license_", help="The licence of --release.")
@click.option("--file", "files", multiple=True, required=True, help="Glob of files to mutate (repeatable).")
@click.option("--symbol", "symbols", multiple=True, help="Glob of functions and classes, such as 'Cache.*'.")
@click.option("--operator", "operators", multiple=True, help="Only this operator (repeatable).")
@click.option("--tests", multiple=True, required=True, help="Tests that tell: a file, folder or node id (repeatable).")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the order of the candidates.")
@click.option("--failing-min", type=click.IntRange(1), default=1, show_default=True, help="Fewest tests that fail.")
@click.option("--failing-max", type=click.IntRange(1), default=10, show_default=True, help="Most tests that fail.")
@click.option("--per-symbol", type=click.IntRange(1), default=1, show_default=True, help="Most tasks of one symbol.")
@click.option("--dry-run", is_flag=True, help="List the candidates; run and write nothing.")
@environment_options
@task_options
@project_option
@json_option
def mutate(
    dataset_id: str,
    like: str | None,
    repository_file: Path | None,
    release: str | None,
    license_: str | None,
    files: tuple[str, ...],
    symbols: tuple[str, ...],
    operators: tuple[str, ...],
    tests: tuple[str, ...],
    seed: int,
    failing_min: int,
    failing_max: int,
    per_symbol: int,
    python: str | None,
    requirements: tuple[str, ...],
    python_path: tuple[str, ...],
    limit: int,
    keep: int,
    prefix: str | None,
    category: str,
    difficulty: str,
    repetitions: int,
    timeout: float,
    test_timeout: float,
    jobs: int,
    project_dir: Path,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write tasks into DATASET_ID whose code was changed in one place that a few of the repository's tests notice.

    Every change that the operators can make is a candidate; their order follows from --seed alone. Each is tried in
    the sandbox; kept is what fails the same few tests every time. A task's description is left to be written by a
    person, and until then the task is refused. What was measured is kept in the project's data/mutations, so a search
    that was stopped goes on where it was.
    """  # fmt: skip
    project = Project.at(project_dir)
    folder = find_dataset(project.root, dataset_id)
    repository = _repository(folder, like, repository_file, release, license_)
    surroundings = _surroundings(folder, like, python, requirements, python_path)
    choice = _Choice(files=files, symbols=symbols, operators=operators, tests=tests, seed=seed)
    candidates = propose(repository.source.tree, files=files, symbols=symbols, operators=operators, seed=seed)
    if dry_run:
        _list(candidates, as_json=as_json)
        return
    bounds = Bounds(
        failing_min=failing_min,
        failing_max=failing_max,
        repetitions=repetitions,
        per_symbol=per_symbol,
        keep=keep,
        limit=limit,
    )
    forbidden = repository.model.repository.name
    with opened_bench(project, surroundings, forbidden=forbidden, test_seconds=test_timeout) as bench:
        baseline = baseline_of(bench, repository.source.tree, tests, seconds=timeout, repetitions=repetitions)
        say(f"{len(candidates)} candidates; {len(baseline.passing)} tests pass every time, {len(baseline.others)} are "
            f"left out ({baseline.seconds:.1f} s)", err=True)  # fmt: skip
        maker = _Maker(
            folder=folder,
            repository=repository,
            surroundings=surroundings,
            choice=choice,
            bounds=bounds,
            baseline=baseline,
            prefix=prefix or repository.model.id,
            category=category,
            difficulty=difficulty,
            timeout=timeout,
            test_timeout=test_timeout,
            candidates=len(candidates),
        )
        measured = Measured(project.data / "mutations" / f"{_key(repository, choice, bench, test_timeout)}.jsonl")
        found = []
        for each in search(
            candidates, repository.source.tree, tests,
            bench=bench, baseline=baseline, bounds=bounds, measured=measured, jobs=jobs,
        ):  # fmt: skip
            found.append((each, maker.write(each) if each.fate is Fate.KEPT else None))
            _tell(*found[-1], number=len(found))
    _report(found, len(candidates), as_json=as_json)


def _repository(
    folder: Path, like: str | None, file: Path | None, release: str | None, license_: str | None
) -> _Repository:
    given = [each for each in (like, file, release) if each is not None]
    if len(given) != 1:
        raise click.UsageError("say which repository: exactly one of --like, --repository and --release")
    if like is not None:
        document = load_dataset(folder).task(like).repository_document
    elif file is not None:
        document = read(file)
    else:
        document = _released(release or "", license_)
    model = document.validate(RepositoryFile)
    cache = cache_folder()
    with cache_faults(cache):
        source = read_source(document, model, folder, cache)
    for oddity in source.oddities:
        say(f"note: {oddity.path.decode('utf-8', 'backslashreplace')}: {oddity.detail}", err=True)
    return _Repository(document=document, model=model, source=source)


def _released(release: str, license_: str | None) -> Document:
    from akbench.dataset.release import sdist_sha256

    name, pinned, version = release.partition("==")
    if not (name and pinned and version):
        raise click.UsageError("--release takes NAME==VERSION")
    if license_ is None:
        raise click.UsageError("--release needs --license, such as MIT: what the release says of itself")
    text = (
        f'schema_version: "1.0"\nid: {name}\nversion: "{version}"\nrepository:\n  source: sdist\n'
        f'  name: {name}\n  sha256: "{sdist_sha256(name, version)}"\n  license: {json.dumps(license_)}\n'
    )
    return parse(text, f"--release {release}")


def _surroundings(
    folder: Path, like: str | None, python: str | None, requirements: Sequence[str], python_path: Sequence[str]
) -> Surroundings:
    if like is None:
        return Surroundings(
            python=python or "3.12",
            requirements=(*PYTEST, *requirements),
            python_path=tuple(python_path) or (".",),
        )
    if python or requirements or python_path:
        raise click.UsageError("--like brings the task's environment; leave out --python, --requirement, --python-path")
    wanted = load_dataset(folder).task(like).descriptor.task.environment
    return Surroundings(python=wanted.python, requirements=wanted.requirements, python_path=wanted.python_path)


def _key(repository: _Repository, choice: _Choice, bench: TestBench, test_timeout: float) -> str:
    """Names what measurements depend on, but for the mutation itself."""
    parts = [repository.source.tree.id, choice.tests, bench.environment.key, bench.python_path, test_timeout]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """Writes kept candidates as tasks."""

    folder: Path
    repository: _Repository
    surroundings: Surroundings
    choice: _Choice
    bounds: Bounds
    baseline: Baseline
    prefix: str
    category: str
    difficulty: str
    timeout: float
    test_timeout: float
    candidates: int

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
        candidate = found.candidate
        files = files_of(found.failing)
        said = self.repository.document.data["repository"]
        return NewTask(
            id=free_id(self.folder, self.prefix),
            category=self.category,
            difficulty=self.difficulty,
            hint=f"What was changed and which tests notice it: see origin.yaml and mutations/ ({candidate.symbol}).",
            python=self.surroundings.python,
            requirements=self.surroundings.requirements,
            python_path=self.surroundings.python_path,
            protected=protecting(self.choice.tests),
            repository={**said, "withhold": sorted({*said.get("withhold", ()), *files})},
            repository_id=self.repository.model.id,
            repository_version=self.repository.model.version,
            target=tuple(sorted(found.failing)),
            regression=self.choice.tests,
            deselect=tuple(sorted(self.baseline.others)),
            timeout_seconds=self.timeout,
            test_timeout_seconds=self.test_timeout,
            origin=self._origin(found),
            mutations=((_title(candidate), _mutation(candidate, result)),),
        )

    def _origin(self, found: MeasuredCandidate) -> dict[str, JsonValue]:
        bounds = self.bounds
        return {
            "by": "akbench dataset mutate",
            "tree": self.repository.source.tree.id,
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


def _list(candidates: Sequence[Candidate], *, as_json: bool) -> None:
    if as_json:
        print_json([{**_address(each), "before": each.before, "after": each.after} for each in candidates])
        return
    print_table(
        ("operator", "symbol", "line", "before", "after"),
        [(each.operator, each.symbol, f"{each.file}:{each.line}", each.before, each.after) for each in candidates],
    )
    say(f"{len(candidates)} candidates")


def _address(candidate: Candidate) -> dict[str, JsonValue]:
    return {
        "file": candidate.file,
        "symbol": candidate.symbol,
        "operator": candidate.operator,
        "occurrence": candidate.occurrence,
        "line": candidate.line,
    }


def _tell(found: MeasuredCandidate, task_id: str | None, *, number: int) -> None:
    candidate = found.candidate
    failing = f", {len(found.failing)} tests fail" if found.failing else ""
    said = f"{found.fate.value.replace('_', ' ')}{failing}" + (f" -> {task_id}" if task_id else "")
    place = f"{candidate.file}:{candidate.line} {candidate.symbol}"
    say(f"{number} {candidate.operator} {place}: {said} ({found.seconds:.1f} s)", err=True)


def _report(found: Iterable[tuple[MeasuredCandidate, str | None]], candidates: int, *, as_json: bool) -> None:
    rows = [*found]
    fates = Counter(each.fate for each, _ in rows)
    by_operator = {
        operator: Counter(each.fate for each, _ in rows if each.candidate.operator == operator)
        for operator in sorted({each.candidate.operator for each, _ in rows})
    }
    if as_json:
        print_json({
            "candidates": candidates,
            "tried": [
                {**_address(each.candidate), "fate": each.fate.value, "failing": sorted(each.failing), "task": task}
                for each, task in rows
            ],
        })  # fmt: skip
        return
    shown = [fate for fate in Fate if fates[fate]]
    headings = ("operator", *(fate.value.replace("_", " ") for fate in shown))
    lines: Mapping[str, Counter[Fate]] = {**by_operator, "all": fates}
    print_table(headings, [(name, *(str(counts[fate]) for fate in shown)) for name, counts in lines.items()])
    tasks = [task for _, task in rows if task]
    say(f"{candidates} candidates, {len(rows)} looked at, {len(tasks)} kept: {', '.join(tasks) or 'none'}")
    if tasks:
        say("next: write each description.md, then: akbench dataset validate")
