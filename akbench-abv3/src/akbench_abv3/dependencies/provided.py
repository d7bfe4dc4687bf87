"""What of the declared dependencies is at hand, from the environment, the store or the machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from akbench_abv3.completed import DOCKER_VARIABLE, RECOGNISED, Kind
from akbench_abv3.dependencies.docker import DockerAnswer, ask_docker
from akbench_abv3.dependencies.store import home_folder
from akbench_abv3.reading.bounded import is_file, is_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from akbench_abv3.dependencies.declared import Dependency

__all__ = [
    "Provision",
    "Source",
    "credential_variables",
    "provide",
    "provide_all",
    "run_environment",
    "secret_variables",
]


class Source(StrEnum):
    """Where a dependency was found."""

    ENVIRONMENT = "environment"
    STORE = "store"
    MACHINE = "machine"
    DONE = "done"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """One dependency and what was found for it; `reason` says why it is missing."""

    dependency: Dependency
    source: Source
    values: dict[str, str] = field(default_factory=dict, repr=False)
    reason: str = ""
    lacking: tuple[str, ...] = ()

    @property
    def is_there(self) -> bool:
        """Whether the dependency can be given to a run."""
        return self.source is not Source.MISSING

    @property
    def blocks(self) -> bool:
        """Whether the assessment cannot run for the want of it."""
        return not self.is_there and self.dependency.required

    @property
    def secrets(self) -> dict[str, str]:
        """The secret values among those found, by variable."""
        return {name: self.values[name] for name in self.dependency.secret if name in self.values}


def provide_all(
    dependencies: Iterable[Dependency],
    environment: Mapping[str, str],
    stored: Callable[[str], str | None],
    steps_done: frozenset[str] = frozenset(),
) -> tuple[Provision, ...]:
    """Look for every dependency. `stored` answers for the credential store."""
    return tuple(provide(one, environment, stored, steps_done) for one in dependencies)


def provide(
    dependency: Dependency,
    environment: Mapping[str, str],
    stored: Callable[[str], str | None],
    steps_done: frozenset[str] = frozenset(),
) -> Provision:
    """Look for one dependency: environment first, then the store, then the machine itself."""
    match dependency.kind:
        case Kind.DOCKER:
            return _docker(dependency, ask_docker(environment))
        case Kind.STEP:
            return _step(dependency, steps_done)
        case Kind.LOGIN:
            return _login(dependency, environment, stored)
        case Kind.ENV | Kind.FILE | Kind.DIR:
            return _paths_checked(_variables(dependency, environment, stored))


def _docker(dependency: Dependency, answer: DockerAnswer) -> Provision:
    if answer.host is None:
        return Provision(dependency=dependency, source=Source.MISSING, reason=answer.reason)
    return Provision(dependency=dependency, source=Source.MACHINE, values={DOCKER_VARIABLE: answer.host})


def _step(dependency: Dependency, steps_done: frozenset[str]) -> Provision:
    if dependency.name in steps_done:
        return Provision(dependency=dependency, source=Source.DONE)
    return Provision(dependency=dependency, source=Source.MISSING, reason="the step has not been carried out")


def _variables(
    dependency: Dependency, environment: Mapping[str, str], stored: Callable[[str], str | None]
) -> Provision:
    values: dict[str, str] = {}
    source = Source.ENVIRONMENT
    for variable in (*dependency.variables, *dependency.optional_variables):
        value = environment.get(variable)
        if not value:
            value = stored(variable)
            source = Source.STORE if value and variable in dependency.variables else source
        if value:
            values[variable] = value
    lacking = tuple(variable for variable in dependency.variables if variable not in values)
    if lacking:
        reason = f"{', '.join(lacking)} not set"
        return Provision(dependency=dependency, source=Source.MISSING, values=values, reason=reason, lacking=lacking)
    return Provision(dependency=dependency, source=source, values=values)


def _paths_checked(provision: Provision) -> Provision:
    kind = provision.dependency.kind
    if not provision.is_there or kind is Kind.ENV:
        return provision
    for variable in provision.dependency.variables:
        path = Path(provision.values[variable])
        if not (is_folder(path) if kind is Kind.DIR else is_file(path)):
            noun = "directory" if kind is Kind.DIR else "file"
            return Provision(
                dependency=provision.dependency,
                source=Source.MISSING,
                reason=f"{variable} names no {noun}: {path}",
                lacking=(variable,),
            )
    return provision


def _login(dependency: Dependency, environment: Mapping[str, str], stored: Callable[[str], str | None]) -> Provision:
    known = dependency.recognised or RECOGNISED[dependency.name]
    token = _variables(dependency, environment, stored)
    if dependency.variables and token.is_there:
        return token
    named = environment.get(known.login_home_variable)
    home = Path(named) if named else home_folder() / known.login_home
    if is_file(home / known.login_file):
        return Provision(dependency=dependency, source=Source.MACHINE, values={known.login_home_variable: str(home)})
    reason = f"no {known.login_file} in {home}; {known.advice}"
    return Provision(dependency=dependency, source=Source.MISSING, reason=reason, lacking=dependency.variables)


def credential_variables() -> frozenset[str]:
    """Return every variable that a recognised dependency may give to a run."""
    return frozenset(
        variable
        for known in RECOGNISED.values()
        for variable in (*known.variables, *known.optional_variables, known.login_home_variable)
        if variable
    ) | {DOCKER_VARIABLE}


def secret_variables(dependencies: Iterable[Dependency]) -> frozenset[str]:
    """Return the variables whose values must never be shown: recognised ones and declared ones."""
    recognised = (variable for known in RECOGNISED.values() for variable in known.secret)
    return frozenset(recognised) | {variable for one in dependencies for variable in one.secret}


def run_environment(
    inherited: Mapping[str, str], provisions: Iterable[Provision], *, inherit_credentials: bool = False
) -> dict[str, str]:
    """Return the environment of a command of the repository.

    Credentials of recognised names that the repository did not declare are left out, unless
    `inherit_credentials`. This is hygiene, not a sandbox.
    """
    hidden = frozenset() if inherit_credentials else credential_variables()
    environment = {name: value for name, value in inherited.items() if name not in hidden}
    for provision in provisions:
        if provision.is_there:
            environment.update(provision.values)
    return environment
