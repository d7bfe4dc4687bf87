"""``akbench init``: a new project that can be run at once."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import click

from akbench.cli.output import say
from akbench.spec import HostError, InputError

__all__ = ["init", "write_project"]

FOLDERS = (
    "configs/experiments",
    "datasets",
    "descriptors/agents",
    "descriptors/categories",
    "descriptors/dimensions",
    "descriptors/evaluators",
    "descriptors/metrics",
    "data",
    "reports",
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
def init(folder: Path) -> None:
    """Write a new project into FOLDER (default: the current one): a first dataset and a commented experiment.

    Files that are already there are never changed; one that differs is named, and then nothing is written.
    """
    with as_file(files("akbench.cli").joinpath("starter")) as starter:
        written = write_project(folder, starter)
    say(f"wrote {len(written)} new files into {folder.resolve()}")
    step = "" if folder.resolve() == Path.cwd() else f"cd {folder} && "
    say(f"next: {step}akbench experiment run configs/experiments/first.yaml")


def write_project(folder: Path, template: Path) -> tuple[Path, ...]:
    """Copy what is missing of the project `template` into `folder`, make the usual folders, return the new files.

    Raises `InputError` naming the first file that is already there and differs; then nothing is written.
    """
    sources = [path for path in sorted(template.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    pairs = [(path, folder / _target_name(path.relative_to(template))) for path in sources]
    for source, target in pairs:
        if target.exists() and target.read_bytes() != source.read_bytes():
            raise InputError("already there and different; choose another folder", place=str(target))
    try:
        for name in FOLDERS:
            (folder / name).mkdir(parents=True, exist_ok=True)
        missing = [(source, target) for source, target in pairs if not target.exists()]
        for source, target in missing:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    except OSError as error:
        raise HostError(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    return tuple(target for _, target in missing)


def _target_name(path: Path) -> Path:
    """Packaging tools drop dot files, so a template's ``dot-gitignore`` stands for ``.gitignore``."""
    return path.with_name(path.name.replace("dot-", ".", 1)) if path.name.startswith("dot-") else path
