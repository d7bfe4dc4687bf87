"""A group of commands, each imported only when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from akbench.cli.extension_commands import extension_commands, load_extension_command

__all__ = ["LazyCommands"]


class LazyCommands(click.Group):
    """A click group; `lazy` adds commands that are imported on use: name -> (``module:attribute``, one-line help).

    Extensions add commands under the group's name, see `akbench.cli.extension_commands`.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def _brought(self) -> dict[str, str]:
        return extension_commands(self.name) if self.name else {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, by name."""
        return sorted({*super().list_commands(ctx), *self._lazy, *self._brought()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported if need be; None if there is none of that name."""
        if cmd_name not in self._lazy:
            own = super().get_command(ctx, cmd_name)
            return own or (load_extension_command(cmd_name, self.name) if self.name else None)
        module, _, name = self._lazy[cmd_name][0].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command), "the table names commands"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands; the lazy ones are not imported for it."""
        rows = [(name, self._short_help(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _short_help(self, ctx: click.Context, name: str) -> str:
        if name in self._lazy:
            return self._lazy[name][1]
        if name in (brought := self._brought()):
            return brought[name]
        command = super().get_command(ctx, name)
        return command.get_short_help_str(limit=100) if command else ""
