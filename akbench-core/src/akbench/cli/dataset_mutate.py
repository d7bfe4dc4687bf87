"""``akbench dataset mutate``: bug-fix tasks by controlled mutations of one repository."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from akbench.cli.making import GivenEnvironment, Making, Surroundings, making_options, opened_bench
from akbench.cli.output import json_option, print_json, print_table, project_option, say
from akbench.dataset.candidates import Candidate, propose
from akbench.dataset.dataset import find_dataset, load_dataset
from akbench.dataset.format import RepositoryFile
from akbench.dataset.source import RepositorySource, read_source
from akbench.descriptors.document import Document, parse, read
from akbench.project import Project, cache_faults, cache_folder
from akbench.publish.measured import Measured
from akbench.publish.mutation_search import Bounds, Fate, MeasuredCandidate, search
from akbench.publish.mutation_tasks import MutationChoice, MutationTasks
from akbench.publish.test_runs import Baseline, TestBench, baseline_of
from akbench.spec import JsonValue

__all__ = ["mutate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repository:
    """The repository to mutate, as its descriptor has it and as a tree."""

    document: Document
    model: RepositoryFile
    source: RepositorySource


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
@making_options
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
    given: GivenEnvironment,
    making: Making,
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
    """
    project = Project.at(project_dir)
    folder = find_dataset(project.root, dataset_id)
    repository = _repository(folder, like, repository_file, release, license_)
    surroundings = _surroundings(folder, like, given)
    choice = MutationChoice(files=files, symbols=symbols, operators=operators, tests=tests, seed=seed)
    candidates = propose(repository.source.tree, files=files, symbols=symbols, operators=operators, seed=seed)
    if dry_run:
        _list(candidates, as_json=as_json)
        return
    bounds = Bounds(
        failing_min=failing_min,
        failing_max=failing_max,
        repetitions=making.repetitions,
        per_symbol=per_symbol,
        keep=making.keep,
        limit=making.limit,
    )
    _Mutating(
        project=project,
        folder=folder,
        repository=repository,
        surroundings=surroundings,
        choice=choice,
        candidates=candidates,
        bounds=bounds,
        making=making,
    ).run(as_json=as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mutating:
    """One use of the command."""

    project: Project
    folder: Path
    repository: _Repository
    surroundings: Surroundings
    choice: MutationChoice
    candidates: tuple[Candidate, ...]
    bounds: Bounds
    making: Making

    def run(self, *, as_json: bool) -> None:
        """Search, write what is kept, and say what was found."""
        name = self.repository.model.repository.name
        found: list[tuple[MeasuredCandidate, str | None]] = []
        self.making.prefix_or(self.repository.model.id)
        with opened_bench(self.project, self.surroundings, self.making, forbidden=name) as bench:
            tasks = self._tasks(self._baseline(bench))
            for each in self._search(bench, tasks.baseline):
                found.append((each, tasks.write(each) if each.fate is Fate.KEPT else None))
                _tell(*found[-1], number=len(found))
        _report(found, len(self.candidates), as_json=as_json)

    def _baseline(self, bench: TestBench) -> Baseline:
        baseline = baseline_of(
            bench,
            self.repository.source.tree,
            self.choice.tests,
            seconds=self.making.timeout,
            repetitions=self.making.repetitions,
        )
        counts = f"{len(baseline.passing)} tests pass every time, {len(baseline.others)} are left out"
        say(f"{len(self.candidates)} candidates; {counts} ({baseline.seconds:.1f} s)", err=True)
        return baseline

    def _search(self, bench: TestBench, baseline: Baseline) -> Iterator[MeasuredCandidate]:
        # What a measurement depends on, but for the mutation itself.
        parts = [self.repository.source.tree.id, self.choice.tests, bench.environment.key, bench.python_path]
        key = hashlib.sha256(json.dumps([*parts, bench.test_seconds]).encode()).hexdigest()[:16]
        return search(
            self.candidates,
            self.repository.source.tree,
            self.choice.tests,
            bench=bench,
            baseline=baseline,
            bounds=self.bounds,
            measured=Measured(self.project.data / "mutations" / f"{key}.jsonl"),
            jobs=self.making.jobs,
        )

    def _tasks(self, baseline: Baseline) -> MutationTasks:
        return MutationTasks(
            folder=self.folder,
            repository=self.repository.document,
            tree=self.repository.source.tree.id,
            choice=self.choice,
            bounds=self.bounds,
            baseline=baseline,
            candidates=len(self.candidates),
            terms=self.making.terms(self.surroundings),
            prefix=self.making.prefix_or(self.repository.model.id),
        )


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
        f'schema_version: "1.0"\nid: {name}\nversion: "1.0.0"\nrepository:\n  source: sdist\n  name: {name}\n'
        f'  release: {json.dumps(version)}\n  sha256: "{sdist_sha256(name, version)}"\n'
        f'  license: {json.dumps(license_)}\n  remove: ["**/*.egg-info/**"]\n'
    )
    return parse(text, f"--release {release}")


def _surroundings(folder: Path, like: str | None, given: GivenEnvironment) -> Surroundings:
    if like is None:
        return given.with_pytest()
    if given.python or given.requirements or given.python_path:
        raise click.UsageError("--like brings the task's environment; leave out --python, --requirement, --python-path")
    wanted = load_dataset(folder).task(like).descriptor.task.environment
    if wanted.has_image:
        raise click.UsageError(f"--like: task {like} runs in an image; tests are tried in a Python environment only")
    return Surroundings(python=wanted.python, requirements=wanted.requirements, python_path=wanted.python_path)


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
