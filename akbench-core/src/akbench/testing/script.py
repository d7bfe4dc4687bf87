"""What a scripted model answers, and the YAML it is written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from akbench.plain_yaml import Location, PlainYaml, compose, read_text
from akbench.spec import InputError

__all__ = ["Action", "Fault", "Script", "Step", "TokenUsage", "parse_scripts", "read_scripts"]

SCHEMA_VERSION = "1.0"


class Action(StrEnum):
    """What a step does: run a shell command, apply a patch, say the final message, fail."""

    RUN = "run"
    PATCH = "patch"
    SAY = "say"
    FAIL = "fail"


class Fault(StrEnum):
    """The ways to fail.

    `HANG` accepts the request and sends nothing; `CUT` ends the stream after its first event; `GARBAGE` sends
    a stream of no events. `CONTEXT_WINDOW` and `INCOMPLETE` are the API's own answers for a conversation that
    is too long and for an answer cut at its token limit.
    """

    HTTP_401 = "http_401"
    HTTP_429 = "http_429"
    HTTP_500 = "http_500"
    HANG = "hang"
    CUT = "cut"
    GARBAGE = "garbage"
    CONTEXT_WINDOW = "context_window"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """The tokens that a step claims to have used; the defaults hold where a script names none."""

    input_tokens: int = 1000
    cached_input_tokens: int = 400
    output_tokens: int = 50
    reasoning_output_tokens: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer. `text` is the command, the patch, the message or the fault's name, as `action` says."""

    action: Action
    text: str
    usage: TokenUsage = field(default_factory=TokenUsage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """The answers to the conversations whose prompt contains `match` and whose request fits `when`."""

    match: str
    steps: tuple[Step, ...]
    when: Mapping[str, str] = field(default_factory=dict)

    def fits(self, prompt: str, asked: Mapping[str, str | None]) -> bool:
        """Whether this script answers `prompt`; `asked` holds the request's model and reasoning effort."""
        return self.match in prompt and all(asked.get(key) == value for key, value in self.when.items())


def read_scripts(path: Path) -> tuple[Script, ...]:
    """The scripts of a YAML file. Raises `InputError` with file, line and column where it is wrong."""
    return parse_scripts(read_text(path), source=str(path))


def parse_scripts(text: str, *, source: str) -> tuple[Script, ...]:
    """The scripts in `text`; `source` is the file name that messages give."""
    data, root = compose(text, source)
    return _Reader(PlainYaml(source=source, text=text, data=data, root=root)).scripts()


@dataclass(frozen=True, slots=True)
class _Fields:
    """A mapping of the file and where it stands."""

    values: Mapping[str, object]
    location: tuple[int | str, ...]

    def at(self, key: str) -> tuple[int | str, ...]:
        return (*self.location, key)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns a document into scripts."""

    document: PlainYaml

    def scripts(self) -> tuple[Script, ...]:
        top = self._mapping(self.document.data, (), "the document", required=("schema_version", "scripts"))
        if str(top.values["schema_version"]) != SCHEMA_VERSION:
            raise self._error(f'schema_version must be "{SCHEMA_VERSION}"', top.at("schema_version"))
        return tuple(self._script(item, location) for item, location in self._items(top, "scripts"))

    def _script(self, value: object, location: Location) -> Script:
        fields = self._mapping(value, location, "a script", required=("match", "steps"), optional=("when",))
        steps = tuple(self._step(item, where) for item, where in self._items(fields, "steps"))
        self._check_order(fields, steps)
        return Script(match=self._text(fields, "match"), steps=steps, when=self._when(fields))

    def _check_order(self, fields: _Fields, steps: tuple[Step, ...]) -> None:
        """A conversation goes on after run and patch and ends with say or fail."""
        for index, step in enumerate(steps):
            location = (*fields.at("steps"), index)
            is_last = index == len(steps) - 1
            ends = step.action in {Action.SAY, Action.FAIL}
            if ends and not is_last:
                raise self._error(f"no step can follow {step.action.value!r}, which ends the turn", location)
            if not ends and is_last:
                raise self._error(f"the last step must be 'say' or 'fail', not {step.action.value!r}", location)

    def _when(self, fields: _Fields) -> dict[str, str]:
        if "when" not in fields.values:
            return {}
        conditions = self._part(fields, "when", ("model", "reasoning_effort"))
        return {key: self._text(conditions, key) for key in conditions.values}

    def _step(self, value: object, location: Location) -> Step:
        step = self._mapping(value, location, "a step", optional=(*Action, "usage"))
        actions = [action for action in Action if action.value in step.values]
        if len(actions) != 1:
            raise self._error("a step has exactly one of run, patch, say, fail", location)
        action = actions[0]
        text = self._text(step, action.value)
        if action is Action.FAIL:
            self._check_fault(step, text)
        return Step(action=action, text=text, usage=self._usage(step))

    def _check_fault(self, step: _Fields, text: str) -> None:
        if text not in set(Fault):
            known = ", ".join(Fault)
            raise self._error(f"unknown fault {text!r}; known are {known}", step.at("fail"))
        if "usage" in step.values:
            raise self._error("a failed answer reports no usage", step.at("usage"))

    def _usage(self, step: _Fields) -> TokenUsage:
        if "usage" not in step.values:
            return TokenUsage()
        counts = self._part(step, "usage", tuple(TokenUsage.__dataclass_fields__))
        return TokenUsage(**{name: self._count(counts, name) for name in counts.values})

    def _count(self, fields: _Fields, key: str) -> int:
        value = fields.values[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._error(f"{key} must be a number of tokens, 0 or more", fields.at(key))
        return value

    def _text(self, fields: _Fields, key: str) -> str:
        value = fields.values[key]
        if not isinstance(value, str) or not value:
            raise self._error(f"{key} must be a text that is not empty", fields.at(key))
        return value

    def _items(self, fields: _Fields, key: str) -> list[tuple[object, Location]]:
        value = fields.values[key]
        if not isinstance(value, list) or not value:
            raise self._error(f"{key} must be a list that is not empty", fields.at(key))
        return [(item, (*fields.at(key), index)) for index, item in enumerate(value)]

    def _part(self, fields: _Fields, key: str, optional: tuple[str, ...]) -> _Fields:
        return self._mapping(fields.values[key], fields.at(key), key, optional=optional)

    def _mapping(
        self,
        value: object,
        location: Location,
        what: str,
        *,
        required: tuple[str, ...] = (),
        optional: tuple[str, ...] = (),
    ) -> _Fields:
        if not isinstance(value, dict):
            raise self._error(f"{what} must be a mapping", location)
        known = (*required, *optional)
        for key in value:
            if key not in known:
                message = f"unknown key {key!r} in {what}; known are {', '.join(known)}"
                raise InputError(message, place=self.document.key_place((*location, key)))
        for key in required:
            if key not in value:
                raise self._error(f"{what} lacks {key!r}", location)
        return _Fields(value, tuple(location))

    def _error(self, message: str, location: Location) -> InputError:
        return self.document.error(message, location)
