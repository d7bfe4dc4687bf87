"""Writes docs/CLI.md from the command line itself. With --check: fails if the file is not up to date."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from akbench.cli import cli

TARGET = Path(__file__).with_name("CLI.md")
HEAD = """\
# The command line

Generated from the commands themselves by `docs/generate_cli.py`.

Exit codes: 0 done; 1 runs ended for infrastructure or evaluation reasons, or a validation failed (an agent that did
not solve its task is a result, not an error); 2 bad input or a plan that cannot be run as asked; 3 something is
missing on this machine; 130 interrupted.
"""


def sections(command: click.Command, path: str, parent: click.Context | None = None) -> Iterator[str]:
    """A section for each command below `command`."""
    context = click.Context(command, info_name=path.rsplit(maxsplit=1)[-1], parent=parent, **command.context_settings)
    if not isinstance(command, click.Group):
        yield f"## {path}\n\n```\n{command.get_help(context).replace(str(Path.cwd()), '.')}\n```\n"
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from sections(inner, f"{path} {name}", context)


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *sections(cli, "akbench")])


if __name__ == "__main__":
    text = page()
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text() == text else "docs/CLI.md is not up to date; run python docs/generate_cli.py")
    TARGET.write_text(text)
