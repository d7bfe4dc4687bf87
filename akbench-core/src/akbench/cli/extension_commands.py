"""Commands that extensions bring, by the entry-point group ``akbench.commands``.

What each is for is read from the source of its function, which is parsed and never run.
"""
# ruff: noqa: PTH118, PTH119, PTH123, PTH208
# Without pathlib and importlib.metadata, whose imports cost more than all else that ``akbench --help`` does.

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import click

__all__ = ["GROUP", "extension_commands", "load_extension_command"]

GROUP = "akbench.commands"
"""An entry point ``report`` is ``akbench report``; ``dataset.report`` is ``akbench dataset report``."""

_FOLDER_ENDING = ".dist-info"
_LONGEST_LINE = 100
_ONLY_PARSE = 0x400
"""``ast.PyCF_ONLY_AST``; the module ast would cost more than what it is for."""


def extension_commands(of: str = "") -> dict[str, str]:
    """The commands that extensions add to the group `of` (none: to ``akbench``), by name, without importing any.

    Each says what its own help begins with and which distribution brings it; what the distribution says of itself
    where the source of the command cannot be read.
    """
    named = {entry.rpartition("."): (target, folder) for entry, target, folder in _declared()}
    return {name: _help(*found) for (group, _, name), found in sorted(named.items()) if group == of}


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


def _declared() -> Iterator[tuple[str, str, str]]:
    """The entry points of the group: name, target, and the folder of the distribution's metadata.

    Read from the installed distributions' folders, whose files the core metadata and entry points specifications of
    packaging.python.org lay down.
    """
    seen: set[str] = set()
    for place in sys.path:
        for folder in _distribution_folders(place or os.curdir):
            name = os.path.basename(folder).partition("-")[0].replace("_", "-").replace(".", "-").lower()
            if name not in seen:  # the path may hold it twice, and Python imports the first
                seen.add(name)
                yield from ((entry, target, folder) for entry, target in _entries(folder))


def _distribution_folders(place: str) -> list[str]:
    try:
        return sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(_FOLDER_ENDING))
    except OSError:  # the path may name archives and folders that are not there
        return []


def _entries(folder: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in _lines(os.path.join(folder, "entry_points.txt")):
        text = line.strip()
        if text.startswith("["):
            section = text.strip("[]").strip()
        elif section == GROUP and "=" in text and not text.startswith("#"):
            name, _, target = text.partition("=")
            yield name.strip(), target.strip()


def _help(target: str, folder: str) -> str:
    summary, identity = _self_description(folder)
    told = _first_line(target) or summary
    return f"{told} ({identity})" if told else identity


def _first_line(target: str) -> str:
    """What the help of the command ``package.module:name`` begins with; empty where its source does not tell."""
    module, _, name = target.partition(":")
    try:
        text = "\n".join(_function(_source(module), name))
        tree: Any = compile(text, module, "exec", flags=_ONLY_PARSE, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the command says so when it is used
        return ""
    told = next((_told(node) for node in tree.body if getattr(node, "name", None) == name), "")
    return click.Command(None, help=told).get_short_help_str(limit=_LONGEST_LINE)


def _function(lines: list[str], name: str) -> list[str]:
    """The lines of the function `name` with its decorators: to parse the whole module would take ten times as long."""
    begin = next((number for number, line in enumerate(lines) if line.startswith(f"def {name}(")), len(lines))
    end = begin + 1
    while end < len(lines) and lines[end][:1] in ("", " ", "\t", ")", "#"):
        end += 1
    while 0 < begin < len(lines) and lines[begin - 1].strip():
        begin -= 1
    return lines[begin:end]


def _told(function: Any) -> str:
    """The text that click takes for the help of a function: what its decorator is given, or its docstring."""
    words = {
        word.arg: word.value
        for made in function.decorator_list
        if _called(made) in {"command", "group"}
        for word in getattr(made, "keywords", ())
    }
    given = (words.get("short_help"), words.get("help"), getattr(function.body[0], "value", None))
    texts = [value for each in given if isinstance(value := getattr(each, "value", None), str)]
    return texts[0] if texts else ""


def _called(decorator: Any) -> str:
    function = getattr(decorator, "func", decorator)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _source(module: str) -> list[str]:
    path = os.path.join(*module.split("."))
    for place in sys.path:
        for file in (f"{path}.py", os.path.join(path, "__init__.py")):
            if lines := _lines(os.path.join(place, file)):
                return lines
    return []


def _self_description(folder: str) -> tuple[str, str]:
    """Its summary, and its name and version, as far as its metadata tells."""
    name, _, version = os.path.basename(folder).removesuffix(_FOLDER_ENDING).partition("-")
    fields = {"Name": name, "Version": version}
    for line in _lines(os.path.join(folder, "METADATA")):
        key, found, value = line.partition(": ")
        if not found:
            break  # the header ends with an empty line
        if key in {"Name", "Version", "Summary"}:
            fields[key] = value.strip()
    return fields.get("Summary", ""), f"{fields['Name']} {fields['Version']}"


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read().splitlines()
    except OSError:  # a distribution need not have the file
        return []
