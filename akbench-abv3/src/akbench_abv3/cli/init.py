"""`abv3 init`."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import TYPE_CHECKING

import click

from akbench_abv3.check import check_repository
from akbench_abv3.cli.check import print_check
from akbench_abv3.cli.options import directory_option
from akbench_abv3.cli.refusal import Refusal
from akbench_abv3.completed import MAX_TAGS, NAME_PATTERN, RECOGNISED, ExitCode
from akbench_abv3.description.version import is_semver
from akbench_abv3.new_repository import SAMPLE_COMMAND, Answers, files_of, wrong_dependency
from akbench_abv3.reading.bounded import OutsideError, contained
from akbench_abv3.stated import ROLES
from akbench_abv3.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_DEPENDENCIES = (
    "Known dependencies:\n"
    + textwrap.fill(", ".join(RECOGNISED), width=90, initial_indent="  ", subsequent_indent="  ")
    + "\n  or any variable in capitals\ndependencies, with commas (Enter: none)"
)


@click.command("init")
@directory_option
@click.option("--name", help="Name of the repository (default: the folder's).")
@click.option("--role", type=click.Choice(ROLES), help="judge: assesses agents; subject: is assessed.")
@click.option("--author", help="Who maintains it.")
@click.option("--version", help="Semantic version (default: 0.1.0).")
@click.option("--command", "run_command", help="Command of one run (default: a small sample program).")
@click.option("--install", help="Command that installs it (default: none).")
@click.option("--tag", "tags", multiple=True, help="For search (may be repeated).")
@click.option("--dependency", "dependencies", multiple=True, metavar="NAME", help="Recognised name or VARIABLE.")
def command(
    *,
    root: Path,
    name: str | None,
    role: str | None,
    author: str | None,
    version: str | None,
    run_command: str | None,
    install: str | None,
    tags: tuple[str, ...],
    dependencies: tuple[str, ...],
) -> None:
    """Write a new L1 repository: agentbeats.toml, a run config, and a sample program.

    On a terminal it asks for what no option gives; elsewhere it takes the defaults (--author must be
    given). Existing files are never replaced.
    """
    ask = _Asking(is_open=sys.stdin.isatty())
    answers = Answers(
        name=ask.text("name", name, _folder_name(root), _wrong_name),
        role=ask.text("role (judge or subject)", role, "judge", _wrong_role),
        author=ask.text("author", author, None, _wrong_author),
        version=ask.text("version", version, "0.1.0", _wrong_version),
        command=ask.text("command of one run", run_command, SAMPLE_COMMAND, _wrong_command),
        install=ask.text("command that installs it (Enter: none)", install, "", _wrong_install),
        tags=ask.names("tags, with commas (Enter: none)", tags, _wrong_tag, MAX_TAGS),
        dependencies=ask.names(_DEPENDENCIES, dependencies, wrong_dependency),
    )
    _write(root, files_of(answers))
    checked = check_repository(root)
    print_check(checked)
    if not checked.is_ok:
        raise Refusal("what was there already does not pass the check (above)", ExitCode.FAILED)
    needs_setup = answers.dependencies or answers.install
    click.echo(f"Next: {'abv3 setup, then ' if needs_setup else ''}abv3 run_exp")


def _write(root: Path, files: dict[str, str]) -> None:
    for path in files:
        if os.path.lexists(root / path):
            raise Refusal(f"{path} exists already; nothing was written", ExitCode.USAGE)
    try:
        places = {path: contained(root, path) for path in files}
    except OutsideError as error:
        raise Refusal(f"{error}; nothing was written", ExitCode.USAGE) from error
    written: list[Path] = []
    try:
        for path, text in files.items():
            places[path].parent.mkdir(parents=True, exist_ok=True)
            write_atomically(places[path], text)
            written.append(places[path])
    except OSError:
        for place in written:
            place.unlink()
        raise
    for path in files:
        click.echo(f"wrote {path}")


class _Asking:
    """Asks for what was not given; without a terminal the default is the answer."""

    def __init__(self, *, is_open: bool) -> None:
        self._is_open = is_open

    def text(self, question: str, given: str | None, default: str | None, wrong: Callable[[str], str | None]) -> str:
        while True:
            answer = given if given is not None else self._answer(question, default)
            fault = wrong(answer)
            if fault is None:
                return answer
            if given is not None or not self._is_open:
                raise Refusal(fault, ExitCode.USAGE)
            click.echo(f"  {fault}")

    def names(
        self, question: str, given: tuple[str, ...], wrong: Callable[[str], str | None], most: int | None = None
    ) -> tuple[str, ...]:
        def first_fault(answer: str) -> str | None:
            if most is not None and len(_listed(answer)) > most:
                return f"at most {most}"
            return next((fault for fault in map(wrong, _listed(answer)) if fault), None)

        return _listed(self.text(question, ",".join(given) if given else None, "", first_fault))

    def _answer(self, question: str, default: str | None) -> str:
        if not self._is_open:
            if default is None:
                raise Refusal(f"--{question.split(maxsplit=1)[0]} is needed where nobody can be asked", ExitCode.USAGE)
            return default
        answer: str = click.prompt(question, default=default, show_default=bool(default))
        return answer.strip()


def _listed(answer: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in answer.split(",") if part.strip()))


def _folder_name(root: Path) -> str:
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(os.path.realpath(root))).strip("-._")  # noqa: PTH119
    return cleaned[:100] or "assessment"


def _wrong_name(name: str) -> str | None:
    return None if re.fullmatch(NAME_PATTERN.strip("^$"), name) else "only letters, digits, . _ - (max 100)"


def _wrong_role(role: str) -> str | None:
    return None if role in ROLES else "judge or subject"


def _wrong_author(author: str) -> str | None:
    return None if author.strip() and author.isprintable() else "give a name"


def _wrong_version(version: str) -> str | None:
    return None if is_semver(version) else "give a semantic version, as 0.1.0"


def _wrong_command(command: str) -> str | None:
    return None if command.strip() and _is_text(command) else "give a command"


def _wrong_install(command: str) -> str | None:
    return None if not command or (command.strip() and _is_text(command)) else "give a command, or leave it out"


def _is_text(command: str) -> bool:
    # An argument of the shell that is not UTF-8 comes as half a surrogate, which no file can hold.
    return "\0" not in command and not any("\ud800" <= character <= "\udfff" for character in command)


def _wrong_tag(tag: str) -> str | None:
    return None if tag.isprintable() else "printable characters only"
