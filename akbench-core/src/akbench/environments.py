"""Where runs take place on this machine: an environment descriptor and its sandbox, found to work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from akbench.catalogue import Adapter, Catalogue
from akbench.descriptors.kinds import EnvironmentDescriptor
from akbench.descriptors.snapshot import Snapshot
from akbench.sandbox.environment import EnvironmentSandbox
from akbench.spec import TASK_IMAGES, HostError, InputError, Problem

__all__ = ["AUTO", "ReadyEnvironment", "ready_environment", "strongest_environment"]

AUTO = "auto"
"""Stands for the default environment of the strongest sandbox that works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyEnvironment:
    """An environment that works here.

    - `facts`: what the sandbox's probe found, recorded with every run.
    - `unkept`: what the descriptor asks for and the sandbox does not carry out, a sentence each.
    - `passed_over`: with `AUTO`, the environments before it and why they do not work here.
    """

    snapshot: Snapshot[EnvironmentDescriptor]
    adapter: Adapter
    sandbox: EnvironmentSandbox
    facts: Mapping[str, str]
    unkept: tuple[str, ...]
    passed_over: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The descriptor's id."""
        return self.snapshot.model.id

    @property
    def sandbox_id(self) -> str:
        """The sandbox's id."""
        return self.snapshot.model.environment.sandbox


def ready_environment(name: str, catalogue: Catalogue) -> ReadyEnvironment:
    """The environment `name`.

    Raises `InputError` if there is none, or if its sandbox is not registered; `HostError` if it does not work here.
    """
    found = _tried(name, catalogue)
    if isinstance(found, str):
        raise HostError(f"environment {name!r} does not work here: {found}")
    return found


def strongest_environment(catalogue: Catalogue, *, task_images: bool = False) -> ReadyEnvironment:
    """The first default environment that works here: of confining sandboxes first, in the order of their registration.

    With `task_images` only of those that run tasks in images of their own. Raises `HostError` if none does.
    """
    problems: list[str] = []
    for name in sorted(catalogue.sandbox_names(), key=lambda each: not catalogue.sandbox(each)[1].bounded):
        if task_images and TASK_IMAGES not in catalogue.sandbox(name)[1].honours:
            problems.append(f"{name}: it runs no images of tasks")
            continue
        found = _tried(name, catalogue, passed_over=tuple(problems))
        if isinstance(found, ReadyEnvironment):
            return found
        problems.append(f"{name}: {found}")
    what = "no sandbox that runs images of tasks works here: " if task_images else "no sandbox works here: "
    raise HostError(what + "; ".join(problems))


def _tried(name: str, catalogue: Catalogue, passed_over: tuple[str, ...] = ()) -> ReadyEnvironment | str:
    """The environment, or why it does not work here."""
    snapshot = cast("Snapshot[EnvironmentDescriptor]", catalogue.find("environment", name))
    part = snapshot.model.environment
    try:
        adapter, within = catalogue.sandbox(part.sandbox)
    except InputError as error:
        raise snapshot.document.error(error.message, ("environment", "sandbox")) from error
    bounds = part.limits.model_dump(exclude_none=True)
    sandbox = EnvironmentSandbox(within, part.image if "image" in within.honours else None, bounds)
    with adapter.guard("cannot be probed"):
        probe = sandbox.probe()
    if probe.problems:
        return _problem_text(probe.problems)
    unkept = tuple(_unkept(snapshot, within.honours))
    return ReadyEnvironment(
        snapshot=snapshot,
        adapter=adapter,
        sandbox=sandbox,
        facts=probe.facts,
        unkept=unkept,
        passed_over=passed_over,
    )


def _unkept(snapshot: Snapshot[EnvironmentDescriptor], honours: frozenset[str]) -> Iterator[str]:
    part = snapshot.model.environment
    asked = {f"limits.{name}": name for name in part.limits.model_dump(exclude_none=True)}
    asked |= {"image": "image"} if part.image is not None else {}
    asked |= {"network.access": "allow_list"} if part.network.access == "allow_list" else {}
    for key, name in asked.items():
        if name not in honours:
            place = snapshot.document.place(("environment", *key.split(".")))
            what = f"environment {snapshot.model.id!r} asks for {key} ({place})"
            yield f"{what}, which sandbox {part.sandbox!r} cannot carry out"


def _problem_text(problems: tuple[Problem, ...]) -> str:
    return "; ".join(f"{problem.message} ({problem.mend})" for problem in problems)
