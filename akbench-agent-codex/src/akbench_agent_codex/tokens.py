"""Counts of tokens."""

from __future__ import annotations

from dataclasses import dataclass, fields

from akbench_agent_codex.foreign_text import count, mapping

__all__ = ["TokenCounts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of one request or of several; cached ones are part of the input, reasoning ones part of the output."""

    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_output_tokens: int

    @classmethod
    def read(cls, value: object) -> TokenCounts | None:
        """The counts in a usage object of Codex; None unless all four are there."""
        usage = mapping(value)
        counts = {field.name: count(usage.get(field.name)) for field in fields(cls)}
        known = {name: number for name, number in counts.items() if number is not None}
        return cls(**known) if len(known) == len(counts) else None

    def __add__(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_output_tokens=self.reasoning_output_tokens + other.reasoning_output_tokens,
        )
