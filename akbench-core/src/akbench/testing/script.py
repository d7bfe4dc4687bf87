"""What a scripted model answers, and the YAML it is written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import cast

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

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
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the model script: {error}", place=str(path)) from error
    return parse_scripts(text, source=str(path))


def parse_scripts(text: str, *, source: str) -> tuple[Script, ...]:
    """The scripts in `text`; `source` is the file name that messages give."""
    try:
        document = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        raise InputError(str(error.problem or error.context), place=place) from error
    except YAMLError as error:
        raise InputError(str(error), place=source) from error
    return _Reader(source).document(document)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns a loaded YAML document into scripts, knowing the place of each node. Positions count from one."""

    source: str

    def document(self, node: object) -> tuple[Script, ...]:
        top = self._mapping(node, self.source, "the document", required=("schema_version", "scripts"))
        if str(top["schema_version"]) != SCHEMA_VERSION:
            raise InputError(f'schema_version must be "{SCHEMA_VERSION}"', place=self._of(top, "schema_version"))
        return tuple(self._script(item, place) for item, place in self._items(top, "scripts"))

    def _script(self, node: object, place: str) -> Script:
        fields = self._mapping(node, place, "a script", required=("match", "steps"), optional=("when",))
        steps = tuple(self._step(item, where) for item, where in self._items(fields, "steps"))
        self._check_order(fields, steps)
        return Script(match=self._text(fields, "match"), steps=steps, when=self._when(fields))

    def _check_order(self, fields: CommentedMap, steps: tuple[Step, ...]) -> None:
        """A conversation goes on after run and patch and ends with say or fail."""
        places = [place for _, place in self._items(fields, "steps")]
        for number, (step, place) in enumerate(zip(steps, places, strict=True), start=1):
            ends = step.action in {Action.SAY, Action.FAIL}
            if ends and number < len(steps):
                raise InputError(f"no step can follow {step.action.value!r}, which ends the turn", place=place)
            if not ends and number == len(steps):
                raise InputError(f"the last step must be 'say' or 'fail', not {step.action.value!r}", place=place)

    def _when(self, fields: CommentedMap) -> dict[str, str]:
        if "when" not in fields:
            return {}
        place = self._of(fields, "when")
        conditions = self._mapping(fields["when"], place, "when", optional=("model", "reasoning_effort"))
        return {key: self._text(conditions, key) for key in conditions}

    def _step(self, node: object, place: str) -> Step:
        step = self._mapping(node, place, "a step", optional=(*Action, "usage"))
        actions = [action for action in Action if action.value in step]
        if len(actions) != 1:
            raise InputError("a step has exactly one of run, patch, say, fail", place=place)
        action = actions[0]
        text = self._text(step, action.value)
        if action is Action.FAIL:
            self._check_fault(step, text)
        return Step(action=action, text=text, usage=self._usage(step))

    def _check_fault(self, step: CommentedMap, text: str) -> None:
        if text not in set(Fault):
            known = ", ".join(Fault)
            raise InputError(f"unknown fault {text!r}; known are {known}", place=self._of(step, "fail"))
        if "usage" in step:
            raise InputError("a failed answer reports no usage", place=self._of(step, "usage"))

    def _usage(self, step: CommentedMap) -> TokenUsage:
        if "usage" not in step:
            return TokenUsage()
        names = tuple(TokenUsage.__dataclass_fields__)
        counts = self._mapping(step["usage"], self._of(step, "usage"), "usage", optional=names)
        return TokenUsage(**{name: self._count(counts, name) for name in counts})

    def _count(self, fields: CommentedMap, key: str) -> int:
        value = fields[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{key} must be a number of tokens, 0 or more", place=self._of(fields, key))
        return int(value)

    def _text(self, fields: CommentedMap, key: str) -> str:
        value = fields[key]
        if not isinstance(value, str) or not value:
            raise InputError(f"{key} must be a text that is not empty", place=self._of(fields, key))
        return str(value)

    def _items(self, fields: CommentedMap, key: str) -> list[tuple[object, str]]:
        value = fields[key]
        if not isinstance(value, CommentedSeq) or not value:
            raise InputError(f"{key} must be a list that is not empty", place=self._of(fields, key))
        return [(item, self._at(*value.lc.item(index))) for index, item in enumerate(value)]

    def _mapping(
        self,
        node: object,
        place: str,
        what: str,
        *,
        required: tuple[str, ...] = (),
        optional: tuple[str, ...] = (),
    ) -> CommentedMap:
        if not isinstance(node, CommentedMap):
            raise InputError(f"{what} must be a mapping", place=place)
        known = (*required, *optional)
        for key in node:
            if key not in known:
                message = f"unknown key {key!r} in {what}; known are {', '.join(known)}"
                raise InputError(message, place=self._at(*node.lc.key(key)))
        for key in required:
            if key not in node:
                raise InputError(f"{what} lacks {key!r}", place=place)
        return node

    def _of(self, fields: CommentedMap, key: str) -> str:
        return self._at(*cast("tuple[int, int]", fields.lc.value(key)))

    def _at(self, line: int, column: int) -> str:
        return f"{self.source}:{line + 1}:{column + 1}"
