"""Commands that extensions bring, by the entry-point group ``akbench.commands``."""

from __future__ import annotations

import click

__all__ = ["GROUP", "extension_commands", "load_extension_command"]

GROUP = "akbench.commands"
"""An entry point ``report`` is ``akbench report``; ``dataset.report`` is ``akbench dataset report``."""


def extension_commands(of: str = "") -> dict[str, str]:
    """The commands that extensions add to the group `of` (none: to ``akbench``), by name, without importing any.

    What each is for is what its distribution says of itself; the command would have to be imported to tell.
    """
    from akbench.foreign import installed_entry_points, summary_of

    named = {entry.name.rpartition("."): entry for entry in installed_entry_points(GROUP)[0]}
    return {name: summary_of(entry) for (group, _, name), entry in sorted(named.items()) if group == of}


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
