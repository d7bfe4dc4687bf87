"""``akbench descriptor``: what is described here, whether a file is right, and what an editor needs to know."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from akbench.catalogue import Catalogue
from akbench.cli.agent import report_failures
from akbench.cli.output import json_option, plain, print_json, print_table, project_option
from akbench.descriptors.document import Document, read
from akbench.descriptors.header import Descriptor
from akbench.descriptors.kinds import KINDS
from akbench.descriptors.schema import schema_of
from akbench.descriptors.snapshot import Snapshot, canonical_hash, faults_of, kind_of, restored
from akbench.spec import InputError, JsonValue

__all__ = ["descriptor"]

PLACE = re.compile(r".*:(\d+):(\d+)", re.DOTALL)
kind_choice = click.Choice(list(KINDS))


@click.group()
def descriptor() -> None:
    """List, show and validate descriptors; write their schemas for editors."""


@descriptor.command("list")
@click.option("--kind", type=kind_choice, metavar="KIND", help="Only this kind.")
@project_option
@json_option
def list_descriptors(kind: str | None, project_dir: Path, *, as_json: bool) -> None:
    """List the descriptors of the installed extensions and of the project."""
    catalogue = Catalogue.load(project_dir)
    found = [snapshot for name in ([kind] if kind else KINDS) for snapshot in catalogue.descriptors(name)]
    if as_json:
        failures = [str(failure) for failure in catalogue.failures]
        print_json({"descriptors": [_summary(snapshot) for snapshot in found], "failures": failures})
        return
    rows = [(each.kind, each.model.id, each.model.version, each.model.title, each.origin) for each in found]
    print_table(("kind", "id", "version", "title", "from"), rows)
    report_failures(catalogue)


@descriptor.command()
@click.argument("name", metavar="KIND/ID")
@click.option("--experiment", "experiment_id", help="As it was kept with this experiment, such as exp-0001.")
@project_option
@json_option
def show(name: str, experiment_id: str | None, project_dir: Path, *, as_json: bool) -> None:
    """Show the text and the hash of descriptor KIND/ID.

    The hash is that of the content: comments, key order and formatting do not count.
    """
    kind, separator, identifier = name.partition("/")
    if not separator:
        raise InputError(f"{name!r} names no descriptor; write KIND/ID, such as {_with_kind(name)}")
    if kind not in KINDS:
        raise InputError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")
    if experiment_id is None:
        snapshot = Catalogue.load(project_dir).find(kind, identifier)
    else:
        snapshot = _kept(project_dir, experiment_id, name)
    if as_json:
        print_json(_summary(snapshot) | {"text": snapshot.document.text})
        return
    click.echo(f"# {name} {snapshot.model.version}, from {plain(snapshot.origin)}")
    click.echo(f"# hash {snapshot.hash}")
    click.echo(plain(snapshot.document.text), nl=not snapshot.document.text.endswith("\n"))


@descriptor.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@json_option
@click.pass_context
def validate(ctx: click.Context, files: tuple[Path, ...], *, as_json: bool) -> None:
    """Validate FILES, descriptors of any kind, each by itself; every fault with its line and column.

    Whether the things that a descriptor names exist is not looked at. Exit code 2 if a file has a fault.
    """
    checked = [_checked(path) for path in files]
    is_valid = not any(each["faults"] for each in checked)
    if as_json:
        print_json({"valid": is_valid, "files": checked})
    else:
        for each in checked:
            _print_checked(each)
    ctx.exit(0 if is_valid else 2)


@descriptor.command()
@click.argument("kind", required=False, type=kind_choice, metavar="[KIND]")
@click.option(
    "--all",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write KIND.schema.json of all kinds here.",
)
def schema(kind: str | None, folder: Path | None) -> None:
    """Print the JSON Schema of descriptors of KIND, or write those of all kinds.

    KIND is one of agent, runtime, plugin, model, category, task, evaluator, experiment, dimension, metric,
    environment.

    An editor uses it to complete and check a file that begins with the comment
    `# yaml-language-server: $schema=PATH`.
    """
    if (kind is None) == (folder is None):
        raise click.UsageError("give either KIND or --all DIR")
    if kind is not None:
        print_json(schema_of(kind))
        return
    assert folder is not None
    folder.mkdir(parents=True, exist_ok=True)
    for each in KINDS:
        path = folder / f"{each}.schema.json"
        path.write_text(json.dumps(schema_of(each), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        click.echo(path)


def _with_kind(name: str) -> str:
    return f"{name}/ID" if name in KINDS else f"agent/{name}"


def _summary(snapshot: Snapshot[Descriptor]) -> dict[str, JsonValue]:
    model = snapshot.model
    return {
        "kind": snapshot.kind,
        "id": model.id,
        "version": model.version,
        "title": model.title,
        "origin": snapshot.origin,
        "hash": snapshot.hash,
    }


def _kept(project_dir: Path, experiment_id: str, name: str) -> Snapshot[Descriptor]:
    from akbench.project import Project
    from akbench.store.query import Store

    kept = Store(Project.at(project_dir).data).experiment(experiment_id).snapshots
    if name not in kept:
        raise InputError(f"{experiment_id} kept no {name}; it kept: {', '.join(sorted(kept))}")
    return restored(kept[name], f"{experiment_id}: {name}")


def _checked(path: Path) -> dict[str, Any]:
    try:
        document = read(path)
    except InputError as error:
        return {"file": str(path), "faults": [_fault(error.place or str(path), error.message)]}
    faults = [_fault(place, message) for place, message in faults_of(document)]
    return {"file": str(path), "faults": faults} | ({} if faults else _identity(document))


def _identity(document: Document) -> dict[str, JsonValue]:
    data = document.data
    return {
        "kind": kind_of(document),
        "id": data["id"],
        "version": data["version"],
        "hash": canonical_hash(data),
    }


def _fault(place: str, message: str) -> dict[str, JsonValue]:
    found = PLACE.fullmatch(place)
    return {
        "place": place,
        "line": int(found[1]) if found else None,
        "column": int(found[2]) if found else None,
        "message": message,
    }


def _print_checked(checked: dict[str, Any]) -> None:
    for fault in checked["faults"]:
        click.echo(plain(f"{fault['place']}: {fault['message']}"), err=True)
    if not checked["faults"]:
        click.echo(plain(f"{checked['file']}: ok, {checked['kind']} {checked['id']} {checked['version']}"))
