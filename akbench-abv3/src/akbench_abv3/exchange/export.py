"""An AK-Bench experiment as an L1 repository: a variant is an experiment folder, a task run a run config."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from akbench.descriptors.document import parse
from akbench.descriptors.kinds import AgentDescriptor, ExperimentDescriptor
from akbench.experiment.plan import Variant
from akbench.spec import AkbenchError, InputError
from akbench_abv3.check import check_repository
from akbench_abv3.completed import NAME_PATTERN, TRANSCRIPT
from akbench_abv3.exchange.comparison import COMPARISON_FILE, comparison
from akbench_abv3.exchange.outcome import experiment_result, run_result
from akbench_abv3.exchange.repository_text import EXPERIMENT_FILE, description, readme, requirements
from akbench_abv3.exchange.source import StoredExperiment, StoredRun, run_config
from akbench_abv3.exchange.trajectory import transcript
from akbench_abv3.finding import errors_of
from akbench_abv3.stated import DESCRIPTION_FILE, EXPERIMENT_RESULT, RUN_RESULT
from akbench_abv3.writing import json_document

__all__ = ["run_name", "write_repository"]


def write_repository(data: Path, target: Path, experiments: tuple[str, ...] | None) -> Path:
    """Write one stored experiment as the repository `target`; returns its README.

    The repository passes its own check, at L1+t where every run has a result and a transcript, or nothing is left at
    `target`. Raises `InputError` for another number of experiments than one, or where `target` holds something.
    """
    if experiments is None or len(experiments) != 1:
        raise InputError("an ABV3-L1 repository holds one experiment; name exactly one")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError("something is there already; choose another --output or remove it", place=str(target))
    experiment = StoredExperiment.read(data, experiments[0])
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _write(_Repository(root=unfinished, experiment=experiment))
        unfinished.chmod(0o755)
        unfinished.replace(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target / "README.md"


def run_name(run: StoredRun) -> str:
    """The run config's name: task and repetition, in characters that a name may have."""
    text = f"{run.task.id}__r{run.planned.repetition:02d}"
    if re.match(NAME_PATTERN, text):
        return text
    digest = hashlib.sha256(run.task.id.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', run.task.id)[:80]}-{digest}__r{run.planned.repetition:02d}"


@dataclass(slots=True)
class _Repository:
    """What is being written, and what it will lack."""

    root: Path
    experiment: StoredExperiment
    missing: list[str] = field(default_factory=list)
    documents: dict[str, dict[tuple[str, int], dict[str, object]]] = field(default_factory=dict)

    def put(self, path: str, text: str) -> None:
        """Write a file of the repository."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def _write(repository: _Repository) -> None:
    record = repository.experiment.record
    model = parse(record.descriptor, EXPERIMENT_FILE).validate(ExperimentDescriptor)
    agents = _write_descriptors(repository)
    repository.put(EXPERIMENT_FILE, record.descriptor)
    repository.put(
        DESCRIPTION_FILE, description(repository.experiment, model, agents, _default(record.plan.variants).id)
    )
    repository.put("requirements.txt", requirements(repository.experiment))
    repository.put(".gitignore", "/results-rerun/\n/results/.old/\n.abv3.lock\n")
    whole = [_write_variant(repository, variant) for variant in record.plan.variants]
    if len(whole) > 1:
        compared = comparison(_default(record.plan.variants).id, repository.documents)
        repository.put(COMPARISON_FILE, json_document(compared))
    level = "1+t" if all(whole) else "1"
    repository.put("README.md", readme(repository.experiment, f"L{level}", repository.missing))
    _require_valid(repository.root, level)


def _default(variants: Sequence[Variant]) -> Variant:
    contestants = [variant for variant in variants if not variant.is_control]
    return next((variant for variant in variants if variant.is_baseline), (contestants or list(variants))[0])


def _write_descriptors(repository: _Repository) -> list[AgentDescriptor]:
    """Keep the descriptors that took part. What judges a task names hidden tests and stays out.

    A descriptor of the project's own, which no distribution brings, goes where a rerun registers it again.
    """
    agents = []
    record = repository.experiment.record
    for name, snapshot in record.snapshots.items():
        kind = name.partition("/")[0]
        text = str(snapshot["text"])
        if kind in {"experiment", "task"} or (kind == "evaluator" and _judges_a_task(text)):
            continue
        folder = "descriptors" if str(snapshot["origin"]).endswith(".yaml") else "packaged"
        repository.put(f"akbench/{folder}/{name.replace('/', '-')}.yaml", text)
        if kind == "agent":
            agents.append(parse(text, name).validate(AgentDescriptor))
    return agents


def _judges_a_task(text: str) -> bool:
    part = parse(text, "evaluator").data.get("evaluator")
    return isinstance(part, dict) and not part.keys().isdisjoint({"config", "combine"})


def _write_variant(repository: _Repository, variant: Variant) -> bool:
    """Write configs and results of one variant; returns whether every run has a result and a transcript."""
    runs = repository.experiment.of_variant(variant)
    documents: dict[str, dict[str, object]] = {}
    told = 0
    compared = repository.documents.setdefault(variant.id, {})
    for run in runs:
        name = run_name(run)
        config = json_document(run_config(run).model_dump(mode="json"))
        repository.put(f"run_configs/{variant.id}/{name}.json", config)
        document = run_result(run)
        if document is not None:
            documents[name] = document
            compared[run.task.id, run.planned.repetition] = document
            repository.put(f"results/{variant.id}/{name}/{RUN_RESULT}", json_document(document))
        told += _write_transcript(repository, run, f"{variant.id}/{name}", config)
    _note_missing(repository, variant, runs, told)
    whole = experiment_result(repository.experiment, runs, documents, f"results/{variant.id}/{EXPERIMENT_RESULT}")
    if whole is not None:
        repository.put(f"results/{variant.id}/{EXPERIMENT_RESULT}", json_document(whole))
    return len(documents) == len(runs) == told


def _write_transcript(repository: _Repository, run: StoredRun, session: str, config: str) -> bool:
    found = transcript(run, session, hashlib.sha256(config.encode()).hexdigest())
    if found is not None:
        repository.put(f"results/{session}/{TRANSCRIPT}", json_document(found))
    return found is not None


def _note_missing(repository: _Repository, variant: Variant, runs: Sequence[StoredRun], told: int) -> None:
    excluded = Counter(run.view.state.value for run in runs if run.view.solved is None)
    for state, count in sorted(excluded.items()):
        repository.missing.append(
            f"{variant.name}: {count} of {len(runs)} runs ended as {state} and say nothing about the agent; "
            "they have no result and are no data point"
        )
    if told < len(runs):
        repository.missing.append(
            f"{variant.name}: {len(runs) - told} of {len(runs)} runs have no transcript: no trace of them was recorded"
        )


def _require_valid(root: Path, level: str) -> None:
    checked = check_repository(root, level=level, results=True, environment=os.environ)
    if not checked.is_ok:
        faults = "\n".join(str(finding) for finding in errors_of(checked.findings))
        raise AkbenchError(f"the export does not pass abv3 check -l{level}, so it was not kept:\n{faults}")
