"""One run config carried out by AK-Bench, with the machinery of every other run."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from akbench.catalogue import Catalogue
from akbench.experiment.plan import Plan, PlannedRun
from akbench.pipeline import Loaded, Observer, load_experiment, run_experiment
from akbench.project import Project
from akbench.run.record import Event, RunResult
from akbench.spec import HostError, InputError
from akbench_abv3.exchange.form import RunConfig, read_config
from akbench_abv3.exchange.repository_text import DATASET_VARIABLE, EXPERIMENT_FILE, SCRIPT_VARIABLE
from akbench_abv3.exchange.source import StoredExperiment, StoredRun

__all__ = ["KEPT", "Place", "Rerun", "rerun"]

KEPT = (
    "manifest.json",
    "metrics.json",
    "diff.patch",
    "agent_trace.jsonl",
    "tool_calls.jsonl",
    "stdout.log",
    "stderr.log",
)
"""Files of a run that may stay beside its result; those of the evaluation quote hidden tests and may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a rerun reads and writes: the repository, the run config and the variables with the resources.

    `keep` is a folder for the whole record of the run, None where it is dropped once the result is written.
    """

    root: Path
    config: Path
    environ: Mapping[str, str]
    keep: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """A run that was carried out again, and in what it departed from its run config."""

    run: StoredRun
    differences: tuple[str, ...]


@contextmanager
def rerun(place: Place, cancelled: threading.Event) -> Iterator[Rerun]:
    """Carry out the run of `place.config`; its files are there while the context lasts.

    Raises `InputError` where the dataset, the experiment or the variant here is not the one that the config names.
    """
    config = read_config(place.config)
    with _project_folder(place) as folder:
        loaded = _load(place, folder)
        planned = _planned(loaded, config, place.config)
        experiment_id = run_experiment(loaded.only({planned.id}), _Silent(), cancelled)
        (run,) = StoredExperiment.read(loaded.project.data, experiment_id).runs
        yield Rerun(run=run, differences=_differences(run, config))


@contextmanager
def _project_folder(place: Place) -> Iterator[Path]:
    if place.keep is not None:
        place.keep.mkdir(parents=True, exist_ok=True)
        yield Path(tempfile.mkdtemp(prefix=f"{place.config.parent.name}-{place.config.stem}-", dir=place.keep))
        return
    with tempfile.TemporaryDirectory(prefix="akbench-run-") as folder:
        yield Path(folder)


def _load(place: Place, folder: Path) -> Loaded:
    """The exported experiment in a project of its own, with the dataset that the environment names."""
    dataset = Path(_required(place, DATASET_VARIABLE, "the folder of the dataset"))
    if not (dataset / "dataset.yaml").is_file():
        raise InputError(f"{DATASET_VARIABLE}: no dataset.yaml in this folder", place=str(dataset))
    (folder / "datasets").mkdir()
    (folder / "datasets" / "dataset").symlink_to(dataset.resolve())
    descriptors = place.root / "akbench" / "descriptors"
    if descriptors.is_dir():
        shutil.copytree(descriptors, folder / "descriptors", symlinks=True)
    _lay_script(place, folder)
    catalogue = Catalogue.load(folder)
    return load_experiment(Project.at(folder), place.root / EXPERIMENT_FILE, catalogue)


def _required(place: Place, variable: str, what: str) -> str:
    value = place.environ.get(variable)
    if not value:
        raise HostError(f"{variable} is not set; it must name {what}")
    return value


def _lay_script(place: Place, folder: Path) -> None:
    """Put the scripted model's file where the experiment looks for it."""
    from akbench.descriptors.kinds import ExperimentDescriptor
    from akbench.descriptors.snapshot import load

    experiment = load(place.root / EXPERIMENT_FILE, ExperimentDescriptor)
    endpoint = experiment.model.experiment.execution.model_endpoint
    if endpoint is None or endpoint.scripted is None:
        return
    path = PurePosixPath(endpoint.scripted)
    if path.is_absolute() or ".." in path.parts:
        raise InputError("the scripted model's path leaves the project", place=EXPERIMENT_FILE)
    source = Path(_required(place, SCRIPT_VARIABLE, "the scripted model's file"))
    if not source.is_file():
        raise InputError(f"{SCRIPT_VARIABLE}: there is no such file", place=str(source))
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _planned(loaded: Loaded, config: RunConfig, path: Path) -> PlannedRun:
    """The run of the plan that the config means, if everything it was to measure is the same here."""
    digests = {
        "experiment": (config.experiment.hash, loaded.experiment.hash),
        "dataset": (config.dataset.hash, loaded.dataset.digest),
    }
    for name, (wanted, found) in digests.items():
        if wanted != found:
            raise InputError(f"the {name} here has hash {found}, the run config names {wanted}", place=str(path))
    hashes = {variant.config_hash: variant.id for variant in loaded.plan.variants}
    variant = hashes.get(config.variant.config_hash)
    if variant is None:
        message = f"the experiment here has no variant with configuration hash {config.variant.config_hash}"
        raise InputError(f"{message}; was an agent's descriptor changed by another version?", place=str(path))
    wanted_run = (variant, config.task.id, config.repetition)
    for run in loaded.plan.runs:
        if (run.variant_id, run.task_id, run.repetition) == wanted_run:
            return run
    message = f"the experiment here plans no repetition {config.repetition} of task {config.task.id!r}"
    raise InputError(message, place=str(path))


def _differences(run: StoredRun, config: RunConfig) -> tuple[str, ...]:
    """What may explain another outcome: versions, sandbox, the tree that the agent was given."""
    found = []
    manifest = run.files.manifest
    for name, version in config.extensions.items():
        here = run.record.extensions.get(name)
        if here != version:
            found.append(f"{name} {version} was used, here it is {here or 'not used'}")
    if run.record.plan.sandbox != config.sandbox:
        found.append(f"the sandbox was {config.sandbox}, here it is {run.record.plan.sandbox}")
    if manifest is not None and config.tree is not None and manifest.tree != config.tree:
        found.append(f"the agent was given tree {config.tree}, here it is {manifest.tree}")
    return tuple(found)


class _Silent(Observer):
    """The events of the one run are in its files."""

    def preparing(self, text: str) -> None:
        """Nothing is shown."""

    def planned(self, experiment_id: str, plan: Plan) -> None:
        """Nothing is shown."""

    def event(self, run: PlannedRun, event: Event) -> None:
        """Nothing is shown."""

    def finished(self, run: PlannedRun, result: RunResult) -> None:
        """Nothing is shown."""
