"""Measured values, and what it means that one is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = [
    "CAPABILITIES",
    "Capability",
    "ConfigState",
    "JsonValue",
    "Reading",
    "Support",
    "Usage",
    "VerificationStatus",
    "unavailable",
]

type JsonValue = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None

type Capability = str
"""The name of something an agent can do; see `CAPABILITIES` for the known ones."""

CAPABILITIES: tuple[Capability, ...] = (
    "workspace_binding",
    "fresh_session",
    "session_reset",
    "task_submission",
    "completion_detection",
    "cancellation",
    "token_usage",
    "cost_usage",
    "tool_trace",
    "model_observation",
    "streaming_output",
    "network_control",
    "filesystem_control",
    "session_export",
)


class Support(StrEnum):
    """Whether a capability is there. `UNKNOWN` means: nobody has confirmed either."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One measured value, or the reason why there is none.

    Exactly one of `value` and `unavailable` is set. `source` names where the value was read.
    """

    value: int | float | str | bool | None = None
    source: str | None = None
    unavailable: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.unavailable is None):
            raise ValueError("a reading has either a value or the reason for its absence")
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError("a reading that is no finite number is unavailable; say why")


def unavailable(reason: str) -> Reading:
    """A reading that could not be taken, with the reason why."""
    return Reading(unavailable=reason)


_NOT_REPORTED = unavailable("the adapter reports none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run consumed: tokens, requests to models and tool calls (counts), cost (USD)."""

    input_tokens: Reading = field(default=_NOT_REPORTED)
    cached_input_tokens: Reading = field(default=_NOT_REPORTED)
    output_tokens: Reading = field(default=_NOT_REPORTED)
    reasoning_output_tokens: Reading = field(default=_NOT_REPORTED)
    model_requests: Reading = field(default=_NOT_REPORTED)
    tool_calls: Reading = field(default=_NOT_REPORTED)
    cost_usd: Reading = field(default=_NOT_REPORTED)


class VerificationStatus(StrEnum):
    """Whether a requested configuration value was confirmed by a source other than the request itself."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    MISMATCH = "mismatch"
    UNSUPPORTED = "unsupported"
    NOT_CONFIGURED = "not_configured"
    RUNTIME_ERROR = "runtime_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigState:
    """One configuration value along its way: asked for, handed over, in effect, seen.

    `component` says whose it is: ``agent``, or ``runtime`` or ``plugin`` with its id. The core sets it.
    """

    key: str
    requested: JsonValue = None
    configured: JsonValue = None
    effective: JsonValue = None
    observed: JsonValue = None
    status: VerificationStatus = VerificationStatus.UNVERIFIED
    source: str | None = None
    component: str = "agent"
