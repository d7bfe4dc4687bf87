"""``akbench new``: a whole distribution for an adapter of one's own, whose tests pass before anything is changed."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote
from string import Template
from typing import Any

import click

from akbench.cli.output import say
from akbench.spec import HostError, InputError

__all__ = ["new", "write_distribution"]

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_NAME = 40
IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SUFFIX = ".tmpl"


def _arguments[F: Callable[..., Any]](function: F) -> F:
    option = click.option(
        "--directory",
        type=click.Path(path_type=Path, file_okay=False),
        show_default="akbench-KIND-NAME",
        help="The folder to make; it must not exist.",
    )
    return click.argument("name")(option(function))


@click.group()
def new() -> None:
    """Write a distribution for an adapter of your own."""


@new.command("agent")
@_arguments
def new_agent(name: str, directory: Path | None) -> None:
    """Write the distribution akbench-agent-NAME: the command line NAME as an agent, one process per task.

    NAME is what experiments will call it: small letters, digits and single hyphens, a letter first, at most 40.
    """
    _write("agent", name, directory)


@new.command("runtime")
@_arguments
def new_runtime(name: str, directory: Path | None) -> None:
    """Write the distribution akbench-runtime-NAME: a router that every run has an instance of.

    NAME is what experiments will call it: small letters, digits and single hyphens, a letter first, at most 40.
    """
    _write("runtime", name, directory)


@new.command("evaluator")
@_arguments
def new_evaluator(name: str, directory: Path | None) -> None:
    """Write the distribution akbench-evaluator-NAME: an evaluator that looks at a tree without running its code.

    NAME is what tasks will call it: small letters, digits and single hyphens, a letter first, at most 40.
    """
    _write("evaluator", name, directory)


@new.command("plugin")
@_arguments
@click.option("--provider", required=True, metavar="ID", help="The runtime or agent that it equips.")
def new_plugin(name: str, provider: str, directory: Path | None) -> None:
    """Write the distribution akbench-plugin-NAME: equipment of a runtime or an agent, whose effect is measured.

    NAME is what experiments will call it: small letters, digits and single hyphens, a letter first, at most 40.
    """
    _write("plugin", name, directory, provider=provider)


def _write(kind: str, name: str, directory: Path | None, **more: str) -> None:
    folder = directory or Path(f"akbench-{kind}-{name}")
    _refuse_taken(kind, name)
    written = write_distribution(kind, name, folder, **more)
    say(f"wrote {len(written)} files into {folder}")
    say(f"next: cd {quote(str(folder))} && pip install -e . 'akbench-core[testing]' && pytest")


def _refuse_taken(kind: str, name: str) -> None:
    """Two extensions that register the same name exclude each other."""
    from akbench.catalogue import Catalogue

    for snapshot in Catalogue.load().descriptors(kind):
        if snapshot.model.id == name:
            raise InputError(f"{kind} {name!r} is already registered by {snapshot.origin}; choose another name")


def write_distribution(kind: str, name: str, folder: Path, *, provider: str = "") -> tuple[Path, ...]:
    """Write a distribution for an adapter of `kind` into the new folder `folder`; returns its files.

    `provider` is the id of what a plugin equips.
    Raises `InputError` for a name that cannot be used and for a folder that exists. It is made beside its place and
    moved there when it is whole, so that nothing half written is left.
    """
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise InputError(
            f"{name!r} is no name: small letters, digits and single hyphens, a letter first, at most {LONGEST_NAME}"
        )
    if os.path.lexists(folder):
        raise InputError("already there; choose another folder with --directory", place=str(folder))
    if parent := next((each for each in folder.parents if os.path.lexists(each) and not each.is_dir()), None):
        raise InputError("is no folder; choose another one with --directory", place=str(parent))
    if kind == "plugin" and not IDENTIFIER.fullmatch(provider):
        raise InputError(f"{provider!r} is no id of a runtime or an agent: letters, digits, '.', '_' and '-'")
    names = _names(kind, name) | {"provider": provider}
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as making:
            whole = Path(making) / "whole"
            written = [_write_file(whole, path, text, names) for path, text in _templates(kind)]
            whole.rename(folder)
    except OSError as error:
        raise HostError(f"{folder} cannot be written: {error.strerror}") from error
    return tuple(folder / path for path in written)


def _names(kind: str, name: str) -> dict[str, str]:
    words = name.split("-")
    class_name = "".join(word.capitalize() for word in words)
    identifier = "_".join(words)
    return {
        "name": name,
        "title": " ".join(word.capitalize() for word in words),
        "identifier": identifier,
        "class_name": f"{class_name}{kind.capitalize()}",
        "distribution": f"akbench-{kind}-{name}",
        "package": f"akbench_{kind}_{identifier}",
        "core_version": ".".join(version("akbench-core").split(".")[:2]),
    }


def _templates(kind: str) -> Iterator[tuple[str, str]]:
    with as_file(files("akbench.cli").joinpath("scaffold", kind)) as root:
        for path in sorted(root.rglob(f"*{SUFFIX}")):
            yield path.relative_to(root).as_posix().removesuffix(SUFFIX), path.read_text(encoding="utf-8")


def _write_file(root: Path, path: str, text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        path = path.replace(f"__{name}__", value)
    path = path.replace("dot-", ".", 1) if path.startswith("dot-") else path
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(Template(text).substitute(names), encoding="utf-8")
    return path
