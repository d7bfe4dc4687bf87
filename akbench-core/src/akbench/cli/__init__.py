"""The ``akbench`` command. Only names and one-line helps live here; each command is imported when it is used."""

from __future__ import annotations

import faulthandler
import os
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper

import click

from akbench.cli.extension_commands import extension_commands, load_extension_command

__all__ = ["cli", "main"]

COMMANDS = {
    "agent": ("akbench.cli.agent:agent", "List and inspect the agents that can be tested."),
    "clean": ("akbench.cli.clean:clean", "Remove what AK-Bench left when it was killed."),
    "category": ("akbench.cli.category:category", "List the categories of tasks."),
    "dataset": ("akbench.cli.dataset:dataset", "List, validate and make datasets."),
    "descriptor": ("akbench.cli.descriptor:descriptor", "List, show and validate descriptors; write their schemas."),
    "doctor": ("akbench.cli.doctor:doctor", "Say what this machine has and lacks, and how to mend it."),
    "evaluate": ("akbench.cli.evaluate:evaluate", "Judge stored runs again, without running the agent."),
    "experiment": ("akbench.cli.experiment:experiment", "Validate, plan, run, list and show experiments."),
    "export": ("akbench.cli.export:export", "Write a stored experiment in another format."),
    "extension": ("akbench.cli.extension:extension", "List, show and check the installed extensions."),
    "import": ("akbench.cli.importing:import_results", "Read results of another format as an experiment."),
    "init": ("akbench.cli.init:init", "Write a new project with a first dataset and experiment."),
    "new": ("akbench.cli.new:new", "Write a distribution for an adapter of your own."),
    "store": ("akbench.cli.store:store", "Rebuild the index of results and verify stored files."),
}
"""Built-in command -> where it is and what it does."""


class LazyGroup(click.Group):
    """A group whose commands are imported on use; extensions add commands by the entry-point group akbench.commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Built-in commands and those of extensions, by name."""
        del ctx
        return sorted({*COMMANDS, *extension_commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command, or None if there is none of that name."""
        del ctx
        if cmd_name in COMMANDS:
            module, _, name = COMMANDS[cmd_name][0].partition(":")
            command = getattr(import_module(module), name)
            return command if isinstance(command, click.Command) else None
        return load_extension_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List commands without importing any of them: of an extension's it is known which distribution brings it."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])
        added = {name: what for name, what in extension_commands().items() if name not in COMMANDS}
        if added:
            with formatter.section("Commands of installed extensions"):
                formatter.write_dl(list(added.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Like click's, with a suggestion for a mistyped command."""
        from difflib import get_close_matches

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], self.list_commands(ctx), n=1)
            if close and "mean" not in error.message:
                raise click.UsageError(f"{error.message} Did you mean {close[0]!r}?", ctx) from error
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="akbench-core", prog_name="akbench")
def cli() -> None:
    """AK-Bench: evaluate coding agents on real repositories, repeatably."""


def main() -> None:
    """Run the command line. Exit codes: 0 ok, 1 runs failed, 2 bad input, 3 environment missing, 130 interrupted."""
    _hold_standard_streams()
    faulthandler.enable(
        all_threads=False
    )  # where an extension's native code crashes the process, it says in which file
    # Pydantic's own plugins are no part of AK-Bench; its search for them ends with the first damaged distribution.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        _tell_programs(error.format_message(), None, error.exit_code)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        click.echo(f"interrupted {error.__cause__ or error}".strip(), err=True)
        sys.exit(130)
    except BrokenPipeError:
        _drop_output()
        sys.exit(0)
    except Exception as error:
        if os.environ.get("AKBENCH_STRICT") == "1":
            raise
        sys.exit(_tell(error))
    sys.exit(code if isinstance(code, int) else 0)


def _tell(error: Exception) -> int:
    """One message for whatever ended the command; returns the exit code."""
    from akbench.cli.output import plain
    from akbench.spec.errors import AkbenchError, HostError

    if isinstance(error, AkbenchError):
        message, code = str(error), error.exit_code
    elif isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        message, code = f"{place}{error.strerror or error}", HostError.exit_code
    else:
        message, code = f"AK-Bench has a fault: {_fault(error)}", AkbenchError.exit_code
    with suppress(OSError):
        click.echo(f"error: {plain(message)}", err=True)
        _tell_programs(getattr(error, "message", message), getattr(error, "place", None), code)
    if isinstance(error, OSError):
        _drop_output()
    return code


def _tell_programs(message: str, place: str | None, code: int) -> None:
    """Where ``--json`` was asked for, the error as an object on standard output."""
    if "--json" in sys.argv[1:]:
        from akbench.cli.output import print_json

        print_json({"error": {"message": message, "place": place, "exit_code": code}})


def _fault(error: Exception) -> str:
    import traceback

    where = traceback.extract_tb(error.__traceback__)[-1]
    name = os.path.basename(where.filename)  # noqa: PTH119 - pathlib costs every command's start
    return f"{type(error).__name__}: {error} ({name}, line {where.lineno}); AKBENCH_STRICT=1 shows the way there"


def _hold_standard_streams() -> None:
    """Put nothing in the place of a standard stream that is closed: its number would go to the next opened file."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """What is still buffered for an output that takes nothing more must not fail once more at the very end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
