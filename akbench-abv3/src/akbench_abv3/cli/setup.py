"""`abv3 setup`."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from akbench_abv3.cli.options import allow_unknown_option, directory_option, store_option
from akbench_abv3.cli.refusal import Refusal, accepted_repository
from akbench_abv3.completed import ExitCode, Kind
from akbench_abv3.dependencies.env_file import EnvFileError, write_env_file
from akbench_abv3.dependencies.from_file import HandOverError, values_from_files
from akbench_abv3.dependencies.installed import Installed, fingerprint, read_installed, write_installed
from akbench_abv3.dependencies.provided import Provision, Source, provide, run_environment
from akbench_abv3.dependencies.store import CredentialStore, StoreError, open_store
from akbench_abv3.execution.interrupts import Interrupts
from akbench_abv3.execution.output import MaskedOutput
from akbench_abv3.execution.supervise import Ended, Ending, supervise
from akbench_abv3.terminal import visible

if TYPE_CHECKING:
    from pathlib import Path

    from akbench_abv3.dependencies.declared import Dependency
    from akbench_abv3.repository import Repository


@click.command("setup")
@directory_option
@click.option("-y", "--yes", is_flag=True, help="Run the install command and steps without asking.")
@click.option("--non-interactive", is_flag=True, help="Never ask; say what is missing (so too without a terminal).")
@click.option("--from-file", multiple=True, metavar="NAME=PATH", help="Store the value of NAME read from a file.")
@click.option("--again", is_flag=True, help="Install and carry out steps again, though they are done.")
@click.option("--write-env", is_flag=True, help="Also write the values to .env, if Git ignores it.")
@click.option("--forget", multiple=True, metavar="NAME", help="Delete a stored value; do nothing else.")
@store_option
@allow_unknown_option
@click.pass_context
def command(
    context: click.Context,
    *,
    root: Path,
    yes: bool,
    non_interactive: bool,
    from_file: tuple[str, ...],
    again: bool,
    write_env: bool,
    forget: tuple[str, ...],
    store: str,
    allow_unknown: bool,
) -> None:
    """Provide what a repository needs, and install it.

    Looks for each declared dependency in the environment, then in the store, and asks only for what
    is missing; secrets are typed hidden and never shown. Commands of the repository are shown and
    run only after a yes. May be repeated at will.

    Exit code 0: ready; 3: the description is wrong; 4: something required is missing.
    """
    try:
        opened = open_store(store)
        if forget:
            _forget(opened, forget)
            return
        repository = accepted_repository(root, allow_unknown=allow_unknown)
        can_ask = not non_interactive and sys.stdin.isatty()
        setting_up = _SettingUp(repository, opened, can_ask=can_ask, yes=yes, again=again)
        setting_up.take_files(from_file)
        is_ready = setting_up.go_through()
        if write_env:
            setting_up.write_env()
    except (StoreError, HandOverError, EnvFileError) as error:
        raise Refusal(str(error), ExitCode.USAGE) from error
    except click.Abort:
        click.echo("\nstopped; what was given so far is kept", err=True)
        context.exit(ExitCode.INTERRUPTED)
    context.exit(ExitCode.OK if is_ready else ExitCode.DEPENDENCY_MISSING)


def _forget(store: CredentialStore, names: tuple[str, ...]) -> None:
    for name in names:
        said = "forgotten" if store.forget(name) else "was not stored"
        click.echo(visible(f"{name}: {said} ({store.describe()})"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    label: str
    text: str
    timeout_seconds: float | None = None


class _SettingUp:
    def __init__(
        self, repository: Repository, store: CredentialStore, *, can_ask: bool, yes: bool, again: bool
    ) -> None:
        self._repository, self._store = repository, store
        self._can_ask, self._yes = can_ask, yes
        self._installed = Installed() if again else read_installed(repository.root)
        self._provisions: list[Provision] = []
        self._missing: list[str] = []
        self._has_said_where = False

    def take_files(self, pairs: tuple[str, ...]) -> None:
        known = frozenset(
            variable for one in self._repository.dependencies for variable in (*one.variables, *one.optional_variables)
        )
        for name, value in values_from_files(pairs, known).items():
            self._store.put(name, value)
            self._say("stored", name, self._store.describe())

    def go_through(self) -> bool:
        """Settle every dependency, then install; tell whether the repository is ready."""
        steps = [one for one in self._repository.dependencies if one.kind is Kind.STEP]
        for dependency in self._repository.dependencies:
            if dependency.kind is not Kind.STEP:
                self._settle(dependency)
        self._install()
        for step in steps:
            self._step(step)
        if self._missing:
            click.echo(visible(f"Not ready: {', '.join(self._missing)}"))
        else:
            click.echo("Ready: abv3 run_exp")
        return not self._missing

    def write_env(self) -> None:
        values = {name: value for one in self._provisions if one.is_there for name, value in one.values.items()}
        self._say("wrote", str(write_env_file(self._repository.root, values)), "")

    def _settle(self, dependency: Dependency) -> None:
        found = self._look(dependency)
        if not found.is_there and found.lacking and self._can_ask:
            self._ask(dependency, found)
            found = self._look(dependency)
        self._provisions.append(found)
        if found.is_there:
            self._say("ok", dependency.name, found.source)
        elif dependency.required:
            self._lack(dependency.name, found.reason)
        else:
            self._say("skipped", dependency.name, f"optional; {found.reason}")

    def _look(self, dependency: Dependency) -> Provision:
        return provide(dependency, os.environ, self._store.get)

    def _ask(self, dependency: Dependency, found: Provision) -> None:
        need = "required" if dependency.required else "optional, Enter to skip"
        about = f": {dependency.description}" if dependency.description else ""
        click.echo(visible(f"{dependency.name} ({need}){about}"))
        if dependency.advice:
            click.echo(f"  {dependency.advice}")
        if not self._has_said_where:
            click.echo(visible(f"  what you give is kept in: {self._store.describe()}"))
            self._has_said_where = True
        may_skip = not dependency.required or dependency.kind is Kind.LOGIN
        for variable in found.lacking:
            value = _prompted(variable, is_secret=variable in dependency.secret, may_skip=may_skip)
            if not value:
                return
            self._store.put(variable, value)

    def _install(self) -> None:
        text = self._repository.install_command
        if text is None:
            return
        if self._installed.has_installed(text):
            self._say("ok", "install", Source.DONE)
            return
        wanted = _Command(label="install", text=text, timeout_seconds=self._repository.install_timeout_seconds)
        if not self._agreed(wanted):
            self._lack("install", "not run; agree to it, or give --yes")
        elif self._run(wanted):
            self._remember(self._installed.model_copy(update={"install_sha256": fingerprint(text)}))
            self._say("ok", "install", Source.DONE)
        else:
            self._lack("install", "the command failed")

    def _step(self, step: Dependency) -> None:
        if step.name in self._installed.steps_done((step,)):
            self._say("ok", step.name, Source.DONE)
            return
        wanted = _Command(label=step.name, text=step.command or "")
        if not self._agreed(wanted, step.check):
            self._lack_step(step, "not carried out; agree to it, or give --yes")
        elif self._carried_out(step, wanted):
            done = {**self._installed.steps, step.name: fingerprint(wanted.text)}
            self._remember(self._installed.model_copy(update={"steps": done}))
            self._say("ok", step.name, Source.DONE)
        else:
            self._lack_step(step, "the command failed")

    def _carried_out(self, step: Dependency, wanted: _Command) -> bool:
        if step.check is None:
            return self._run(wanted)
        check = _Command(label=f"{step.name} check", text=step.check)
        return self._run(check) or (self._run(wanted) and self._run(check))

    def _lack_step(self, step: Dependency, reason: str) -> None:
        if step.required:
            self._lack(step.name, reason)
        else:
            self._say("skipped", step.name, f"optional; {reason}")

    def _agreed(self, wanted: _Command, check: str | None = None) -> bool:
        click.echo(visible(f"{wanted.label} wants to run, in {self._repository.root}:"))
        click.echo(visible(f"  {wanted.text}"))
        if check is not None:
            click.echo(visible(f"  unless this succeeds: {check}"))
        return self._yes or (self._can_ask and click.confirm("run it?", default=False))

    def _run(self, wanted: _Command) -> bool:
        ended = self._ended(wanted)
        if ended.ending is Ending.INTERRUPTED:
            raise click.Abort
        return ended.ending is Ending.EXITED and ended.exit_code == 0

    def _ended(self, wanted: _Command) -> Ended:
        secrets = [value for one in self._provisions for value in one.secrets.values()]
        outputs = [
            MaskedOutput(io.BytesIO(), secrets, lambda line: click.echo(f"[{wanted.label}] {line}", err=True))
            for _ in range(2)
        ]
        with Interrupts() as interrupts:
            ended = supervise(
                wanted.text,
                cwd=self._repository.root,
                environment=run_environment(os.environ, self._provisions),
                stdout=outputs[0],
                stderr=outputs[1],
                timeout_seconds=wanted.timeout_seconds,
                interrupts=interrupts,
            )
        for output in outputs:
            output.finish()
        return ended

    def _remember(self, installed: Installed) -> None:
        self._installed = installed
        write_installed(self._repository.root, installed)

    def _lack(self, name: str, reason: str) -> None:
        self._missing.append(name)
        self._say("missing", name, reason)

    def _say(self, verdict: str, name: str, text: str) -> None:
        click.echo(visible(f"{verdict:8} {name:22} {text}".rstrip()))


def _prompted(variable: str, *, is_secret: bool, may_skip: bool) -> str:
    while True:
        value: str = click.prompt(
            f"  {variable}", hide_input=is_secret, default="" if may_skip else None, show_default=False
        )
        if "\0" not in value and value.isprintable():
            return value.strip()
        click.echo("  that has characters that no credential has; try again")
