"""ATIF, the Agent Trajectory Interchange Format, as the transcripts of L1+t are written in it.

The reader accepts ATIF v1.0 to v1.8; the field lists and rules are those of the format as its
reference implementation (Harbor 0.26) enforces them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from akbench_abv3.completed import ATIF_VERSIONS

__all__ = ["Trajectory", "atif_faults"]

type Extra = dict[str, object] | None
_AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
_MOST_ERRORS = 10_000
_MODEL_ONLY = ("metrics", "reasoning_content")


def _known_version(version: str) -> str:
    if version not in ATIF_VERSIONS:
        raise PydanticCustomError(
            "version", "must be {first} to {last}", {"first": ATIF_VERSIONS[0], "last": ATIF_VERSIONS[-1]}
        )
    return version


def _iso_time(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise PydanticCustomError("timestamp", "must be an ISO 8601 time") from None
    return text


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class MediaSource(_Part):
    """Where an image or a sound is."""

    media_type: str
    path: str
    duration_sec: Annotated[float, Field(ge=0)] | None = None


class ContentPart(_Part):
    """One part of a message that is not only text."""

    type: Literal["text", "image", "audio"]
    text: str | None = None
    source: MediaSource | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        has, lacks = ("text", "source") if self.type == "text" else ("source", "text")
        if getattr(self, has) is None or getattr(self, lacks) is not None:
            raise PydanticCustomError(
                "content",
                "a part of type {kind} has {has} and no {lacks}",
                {"kind": self.type, "has": has, "lacks": lacks},
            )
        if self.source is not None and not self.source.media_type.lower().startswith(f"{self.type}/"):
            raise PydanticCustomError(
                "content", "a part of type {kind} needs a media type of that kind", {"kind": self.type}
            )
        return self


class ToolCall(_Part):
    """A tool that the agent called."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, object]
    extra: Extra = None


class SubagentReference(_Part):
    """Where the transcript of a sub-agent is."""

    trajectory_id: str | None = None
    session_id: str | None = None
    trajectory_path: str | None = None
    extra: Extra = None

    @model_validator(mode="after")
    def _resolvable(self) -> Self:
        if self.trajectory_id is None and self.trajectory_path is None:
            raise PydanticCustomError("reference", "needs trajectory_id or trajectory_path")
        return self


class ObservationResult(_Part):
    """What came back."""

    source_call_id: str | None = None
    content: str | list[ContentPart] | None = None
    subagent_trajectory_ref: list[SubagentReference] | None = None
    extra: Extra = None


class Observation(_Part):
    """What the environment answered to a step."""

    results: list[ObservationResult]


class StepMetrics(_Part):
    """Tokens and cost of a step; an unknown one is left out."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: list[int] | None = None
    completion_token_ids: list[int] | None = None
    logprobs: list[float] | None = None
    extra: Extra = None


class Step(_Part):
    """One step of the conversation."""

    step_id: Annotated[int, Field(ge=1)]
    timestamp: Annotated[str, AfterValidator(_iso_time)] | None = None
    source: Literal["system", "user", "agent"]
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    message: str | list[ContentPart]
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    observation: Observation | None = None
    metrics: StepMetrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: Annotated[int, Field(ge=0)] | None = None
    extra: Extra = None

    @model_validator(mode="after")
    def _fields_fit_the_source(self) -> Self:
        if self.source != "agent":
            self._refuse(_AGENT_ONLY, "only an agent step has {field}")
        elif self.llm_call_count == 0:
            self._refuse(_MODEL_ONLY, "a step without a model call has no {field}")
        return self

    @model_validator(mode="after")
    def _answers_its_own_calls(self) -> Self:
        calls = {call.tool_call_id for call in self.tool_calls or ()}
        for result in self.observation.results if self.observation else ():
            if result.source_call_id is not None and result.source_call_id not in calls:
                raise PydanticCustomError(
                    "call",
                    'source_call_id "{call}" names no tool call of the step',
                    {"call": result.source_call_id},
                )
        return self

    def _refuse(self, fields: tuple[str, ...], message: str) -> None:
        for name in fields:
            if getattr(self, name) is not None:
                raise PydanticCustomError("field", message, {"field": name})


class Agent(_Part):
    """Who acted; `unknown` where the version cannot be observed."""

    name: str
    version: str
    model_name: str | None = None
    tool_definitions: list[dict[str, object]] | None = None
    extra: Extra = None


class FinalMetrics(_Part):
    """Totals of the whole transcript."""

    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: Annotated[int, Field(ge=0)] | None = None
    extra: Extra = None


class Trajectory(_Part):
    """A whole transcript."""

    schema_version: Annotated[str, AfterValidator(_known_version)]
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: Agent
    steps: Annotated[list[Step], Field(min_length=1)]
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    extra: Extra = None
    subagent_trajectories: list[Trajectory] | None = None

    @model_validator(mode="after")
    def _subagents_are_named(self) -> Self:
        names = [one.trajectory_id for one in self.subagent_trajectories or ()]
        if None in names or len(set(names)) < len(names):
            raise PydanticCustomError("subagents", "subagent_trajectories: each needs its own trajectory_id")
        return self


def atif_faults(document: object) -> tuple[Trajectory | None, tuple[tuple[str, str], ...]]:
    """Read a parsed transcript; return it, and each fault as (place, message)."""
    try:
        trajectory = Trajectory.model_validate(document)
    except ValidationError as error:
        if error.error_count() > _MOST_ERRORS:  # writing out each of millions would take the memory of this machine
            return None, (("", f"{error.error_count()} faults, too many to list"),)
        faults = [(_place(one["loc"]), one["msg"]) for one in error.errors(include_url=False, include_input=False)]
        return None, tuple(dict(reversed(faults)).items())[::-1]
    misnumbered = tuple(_numbering(trajectory, ""))
    return (None if misnumbered else trajectory), misnumbered


def _numbering(trajectory: Trajectory, prefix: str) -> list[tuple[str, str]]:
    faults = [
        (f"{prefix}steps[{index}].step_id", f"expected {index + 1}, got {step.step_id}")
        for index, step in enumerate(trajectory.steps)
        if step.step_id != index + 1
    ]
    for index, inner in enumerate(trajectory.subagent_trajectories or ()):
        faults.extend(_numbering(inner, f"{prefix}subagent_trajectories[{index}]."))
    return faults


def _place(steps: tuple[str | int, ...]) -> str:
    # Where a value may be of several types, pydantic puts the type's name into the place.
    named = (step for step in steps if step not in ("str", "float") and "[" not in str(step))
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in named).removeprefix(".")
