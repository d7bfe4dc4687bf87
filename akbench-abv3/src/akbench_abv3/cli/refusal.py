"""A command that cannot go on: one message and an exit code of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from akbench_abv3.check import check_repository
from akbench_abv3.cli.check import print_check
from akbench_abv3.completed import ExitCode
from akbench_abv3.terminal import visible

if TYPE_CHECKING:
    from pathlib import Path

    from akbench_abv3.repository import Repository

__all__ = ["Refusal", "accepted_repository"]


class Refusal(click.ClickException):
    """Ends the command with a message on standard error."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(visible(message) if "\n" not in message else "\n".join(map(visible, message.split("\n"))))
        self.exit_code = int(code)  # type: ignore[misc]


def accepted_repository(root: Path, *, allow_unknown: bool, apart_from: tuple[str, ...] = ()) -> Repository:
    """Check the repository and return it; refuse with the report when it is not in order."""
    checked = check_repository(root, allow_unknown_dependencies=allow_unknown, apart_from=apart_from)
    if checked.repository is None:
        print_check(checked, err=True)
        raise Refusal("the repository does not pass its check (above)", ExitCode.BAD_DESCRIPTION)
    return checked.repository
