"""The command `abv3`. Commands are loaded when called, so that `abv3 --help` stays quick."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import Final

import click

from akbench_abv3 import __version__
from akbench_abv3.completed import ExitCode
from akbench_abv3.terminal import visible

__all__ = ["main"]

_COMMANDS: Final = {
    "check": "Check a repository against ABV3-L1; reads only.",
    "setup": "Provide credentials and resources, install.",
    "run_exp": "Run an experiment and save its results.",
    "init": "Write a new L1 repository from a few questions.",
    "index": "List many repositories and what they need.",
    "explain": "Say what a finding code means.",
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"akbench_abv3.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            click.echo("stopped", err=True)
            ctx.exit(ExitCode.INTERRUPTED)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read the output has left; click ends quietly
            raise _MachineRefusal(error) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(tuple(_COMMANDS.items()))


class _MachineRefusal(click.ClickException):
    """The machine refused something: a full disk, a closed folder. One line instead of a traceback."""

    exit_code = int(ExitCode.USAGE)

    def __init__(self, error: OSError) -> None:
        # Of a replacement the second name is the one that the user knows.
        name = error.filename2 if error.filename2 is not None else error.filename
        place = "" if name is None else f"{os.fsdecode(name)}: " if isinstance(name, str | bytes) else f"{name}: "
        super().__init__(visible(f"{place}{error.strerror or type(error).__name__}"))


@click.command(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start in the root of a repository: abv3 check, abv3 setup, abv3 run_exp.",
)
@click.version_option(__version__, prog_name="abv3")
def _abv3() -> None:
    """Work with self-describing agent assessment repositories (ABV3-L1)."""


def main() -> None:
    """Run the command and leave with its exit code."""
    # A name of a foreign repository may hold bytes that are no text; they are shown escaped.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    _abv3(prog_name="abv3")
