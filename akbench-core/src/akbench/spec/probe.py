"""What is really installed on this machine: the question every adapter is asked first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from akbench.spec.measure import Capability, JsonValue, Support

__all__ = ["Probe", "ProbeContext", "Problem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that keeps a thing from running here, and the mend (a command or a sentence)."""

    message: str
    mend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeContext:
    """What `ProcessAgent.probe` is given.

    `config` is the agent's requested configuration; `environ` holds only the variables that the agent's descriptor
    names; `bounded` says whether the sandbox itself confines the agent.
    """

    config: Mapping[str, JsonValue]
    environ: Mapping[str, str]
    bounded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is really installed here. `capabilities` overrides the descriptor where something was found out.

    `facts` are further findings worth recording with each run, such as the path kind of the binary found.
    """

    version: str | None
    problems: tuple[Problem, ...] = ()
    capabilities: Mapping[Capability, Support] = field(default_factory=dict)
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
