"""``akbench dataset new``: a small commented dataset that works as it is."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

import click
from pydantic import TypeAdapter, ValidationError

from akbench.cli.output import project_option, say
from akbench.dataset.dataset import list_datasets, load_dataset
from akbench.descriptors.document import read
from akbench.descriptors.scalars import Identifier
from akbench.plain_yaml import read_text
from akbench.project import Project
from akbench.spec import HostError, InputError

__all__ = ["check_dataset_id", "new", "write_new_dataset"]


@click.command()
@click.argument("dataset_id")
@project_option
def new(dataset_id: str, project_dir: Path) -> None:
    """Write the dataset DATASET_ID with one task and its repository, commented, ready to be validated."""
    project = Project.at(project_dir)
    check_dataset_id(dataset_id)
    folder = project.root / "datasets" / dataset_id
    if folder.exists():
        raise InputError("already there; choose another name", place=str(folder))
    known = {read(each / "dataset.yaml").data["id"]: each for each in list_datasets(project.root)}
    if dataset_id in known:
        raise InputError(f"dataset id {dataset_id!r} is already used", place=str(known[dataset_id]))
    write_new_dataset(dataset_id, folder)
    say(f"wrote {folder}")
    say(f"next: akbench dataset validate {dataset_id}")


def check_dataset_id(dataset_id: str) -> None:
    """Raise `InputError` for what cannot be the id of a dataset, and so the name of its folder."""
    try:
        TypeAdapter(Identifier).validate_python(dataset_id)
    except ValidationError as error:
        raise InputError(error.errors()[0]["msg"].removeprefix("Value error, ")) from error


def write_new_dataset(dataset_id: str, folder: Path) -> None:
    """Write it into the new folder `folder`. Raises `InputError` for an id that cannot be one."""
    with as_file(files("akbench.cli").joinpath("new_dataset")) as template:
        sources = [path for path in sorted(template.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
        try:
            for source in sources:
                target = folder / source.relative_to(template)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = read_text(source)
                target.write_text(text.replace("{id}", dataset_id) if source.name == "dataset.yaml" else text)
        except OSError as error:
            raise HostError(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    load_dataset(folder)
