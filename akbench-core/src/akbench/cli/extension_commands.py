"""Commands that extensions bring, by the entry-point group ``akbench.commands``."""
# ruff: noqa: PTH118, PTH119, PTH123, PTH208
# Without pathlib and importlib.metadata, whose imports cost more than all else that ``akbench --help`` does.

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

__all__ = ["GROUP", "extension_commands", "load_extension_command"]

GROUP = "akbench.commands"
"""An entry point ``report`` is ``akbench report``; ``dataset.report`` is ``akbench dataset report``."""

_FOLDER_ENDING = ".dist-info"


def extension_commands(of: str = "") -> dict[str, str]:
    """The commands that extensions add to the group `of` (none: to ``akbench``), by name, without importing any.

    What each is for is what its distribution says of itself; the command would have to be imported to tell.
    """
    named = {entry.rpartition("."): summary for entry, summary in _declared()}
    return {name: summary for (group, _, name), summary in sorted(named.items()) if group == of}


def load_extension_command(name: str, of: str = "") -> click.Command | None:
    """Import a command, or None if no extension adds it. Raises `InputError` naming the extension when that fails."""
    from akbench.foreign import distribution_of, foreign_code, installed_entry_points

    wanted = f"{of}.{name}" if of else name
    for entry in installed_entry_points(GROUP)[0]:
        if entry.name != wanted:
            continue
        with foreign_code(f"command {name!r} of {' '.join(distribution_of(entry))} cannot be loaded"):
            command = entry.load()
            if not isinstance(command, click.Command):
                raise TypeError(f"{entry.value} is no click command")
        return command
    return None


def _declared() -> Iterator[tuple[str, str]]:
    """The entry points of the group and what their distributions say of themselves.

    Read from the installed distributions' folders, whose files the core metadata and entry points specifications of
    packaging.python.org lay down.
    """
    seen: set[str] = set()
    for place in sys.path:
        for folder in _distribution_folders(place or os.curdir):
            name = os.path.basename(folder).partition("-")[0].replace("_", "-").replace(".", "-").lower()
            if name not in seen:  # the path may hold it twice, and Python imports the first
                seen.add(name)
                yield from ((entry, _self_description(folder)) for entry in _entries(folder))


def _distribution_folders(place: str) -> list[str]:
    try:
        return sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(_FOLDER_ENDING))
    except OSError:  # the path may name archives and folders that are not there
        return []


def _entries(folder: str) -> Iterator[str]:
    section = ""
    for line in _lines(os.path.join(folder, "entry_points.txt")):
        text = line.strip()
        if text.startswith("["):
            section = text.strip("[]").strip()
        elif section == GROUP and "=" in text and not text.startswith("#"):
            yield text.partition("=")[0].strip()


def _self_description(folder: str) -> str:
    """Its summary, name and version, as far as its metadata tells."""
    name, _, version = os.path.basename(folder).removesuffix(_FOLDER_ENDING).partition("-")
    fields = {"Name": name, "Version": version}
    for line in _lines(os.path.join(folder, "METADATA")):
        key, found, value = line.partition(": ")
        if not found:
            break  # the header ends with an empty line
        if key in {"Name", "Version", "Summary"}:
            fields[key] = value.strip()
    identity = f"{fields['Name']} {fields['Version']}"
    return f"{fields['Summary']} ({identity})" if fields.get("Summary") else identity


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read().splitlines()
    except OSError:  # a distribution need not have the file
        return []
