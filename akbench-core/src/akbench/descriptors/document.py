"""A YAML file as data with places: every value can be traced back to its line and column."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from akbench.spec import InputError

__all__ = ["Document", "parse", "read"]

SIZE_LIMIT = 1 << 20
"""Largest descriptor file (bytes); anything larger is a mistake or an attack."""
ALIAS_LIMIT = 100
"""Most aliases in one file, so that a small file cannot expand into a huge value."""

type Location = Sequence[int | str]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed YAML mapping, its source text and where each value stands."""

    source: str
    text: str
    data: dict[str, Any]
    root: Node

    @property
    def sha256(self) -> str:
        """Checksum of the text as read."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def place(self, location: Location) -> str:
        """``source:line:column`` of the value at `location`, or of its nearest enclosing value."""
        node = self.root
        for step in location:
            child = _child(node, step)
            if child is None:
                break
            node = child
        return f"{self.source}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def key_place(self, location: Location) -> str:
        """Like `place`, for the key of a mapping entry rather than its value."""
        parent = self.root
        for step in location[:-1]:
            parent = _child(parent, step) or parent
        if isinstance(parent, MappingNode):
            for key, _ in parent.value:
                if key.value == location[-1]:
                    return f"{self.source}:{key.start_mark.line + 1}:{key.start_mark.column + 1}"
        return self.place(location)

    def error(self, message: str, location: Location = ()) -> InputError:
        """An input error that names the place of `location`."""
        return InputError(message, place=self.place(location))

    def validate[M: BaseModel](self, model: type[M]) -> M:
        """The document as `model`. Raises `InputError` listing every fault, each with its place."""
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            first, *others = self._faults(model, error)
        message = first[1] + "".join(f"\n{place}: {text}" for place, text in others)
        raise InputError(message, place=first[0])

    def faults(self, model: type[BaseModel]) -> list[tuple[str, str]]:
        """What is wrong with the document as `model`: (place, sentence) for each fault."""
        try:
            model.model_validate(self.data)
        except ValidationError as error:
            return self._faults(model, error)
        return []

    def _faults(self, model: type[BaseModel], error: ValidationError) -> list[tuple[str, str]]:
        return [self._fault(model, fault) for fault in error.errors()]

    def _fault(self, model: type[BaseModel], fault: Any) -> tuple[str, str]:
        location = tuple(step for step in fault["loc"] if not _is_union_tag(step, fault["loc"], self.data))
        name = ".".join(str(step) for step in location)
        if fault["type"] == "extra_forbidden":
            known = _field_names(model, location[:-1])
            return self.key_place(location), f"unknown key {str(location[-1])!r}" + _suggestion(
                str(location[-1]), known
            )
        if fault["type"] == "missing":
            return self.place(location[:-1]), f"missing key {name!r}"
        message = str(fault["msg"]).removeprefix("Value error, ")
        if fault["type"] == "string_type" and isinstance(fault["input"], int | float):
            message += f'; write it in quotes: "{fault["input"]}"'
        if fault["type"] == "value_error":
            steps, message = _named_steps(message)
            location = (*location, *steps)
            name = ".".join(str(step) for step in location)
        return self.place(location), f"{name}: {message[:1].lower() + message[1:]}"


def read(path: Path) -> Document:
    """Parse the YAML file at `path`. Raises `InputError` with line and column for anything but one plain mapping."""
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise InputError(f"larger than {SIZE_LIMIT} bytes; a descriptor is a short file", place=str(path))
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 (byte {error.start}); save it as UTF-8", place=str(path)) from error
    except FileNotFoundError as error:
        raise InputError("no such file", place=str(path)) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", place=str(path)) from error
    return parse(text, str(path))


def parse(text: str, source: str) -> Document:
    """Parse YAML `text`; `source` is the name used in messages."""
    if len(re.findall(r"(?:^|[\s\[,{])\*[A-Za-z0-9_]", text)) > ALIAS_LIMIT:
        raise InputError(f"more than {ALIAS_LIMIT} aliases; write the values out", place=source)
    root = _yaml(lambda yaml: yaml.compose(text), source)
    if not isinstance(root, MappingNode):
        raise InputError("expected a mapping of keys to values", place=f"{source}:1:1")
    data = _yaml(lambda yaml: yaml.load(text), source)
    return Document(source=source, text=text, data=data, root=root)


def _yaml(action: Callable[[YAML], Any], source: str) -> Any:
    try:
        return action(YAML(typ="safe", pure=True))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        problem = str(error.problem or error.context).splitlines()[0]
        raise InputError(f"not valid YAML: {problem}", place=place) from error
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError) as error:
        raise InputError(
            f"not valid YAML: {str(error).splitlines()[0] if str(error) else error!r}", place=source
        ) from error


def _child(node: Node, step: int | str) -> Node | None:
    if isinstance(node, MappingNode):
        return next((value for key, value in node.value if key.value == str(step)), None)
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        found = node.value[step]
        return found if isinstance(found, Node) else None
    return None


def _is_union_tag(step: int | str, location: Location, data: Any) -> bool:
    """Pydantic puts the tried member of a union into the location; such a step is no key of the data."""
    value = data
    for each in location:
        if each is step:
            break
        if isinstance(value, dict):
            value = value.get(each, value)
        elif isinstance(value, list) and isinstance(each, int) and each < len(value):
            value = value[each]
    if isinstance(value, dict):
        return isinstance(step, str) and step not in value and bool(re.search(r"[A-Z\[\-]", step))
    return isinstance(step, str)


def _named_steps(message: str) -> tuple[tuple[int | str, ...], str]:
    """What a model's own check says about a value inside it begins with the way there: ``configure.key: ...``."""
    found = re.match(r"(\w+(?:\.\w+)*): ", message)
    if found is None:
        return (), message
    return tuple(int(step) if step.isdigit() else step for step in found[1].split(".")), message[found.end() :]


def _field_names(model: type[BaseModel], location: Location) -> list[str]:
    current: Any = model
    for step in location:
        if isinstance(step, str) and isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(step)
            current = _model_in(field.annotation) if field else None
    if isinstance(current, type) and issubclass(current, BaseModel):
        return [field.alias or name for name, field in current.model_fields.items()]
    return []


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None


def _suggestion(word: str, known: Sequence[str]) -> str:
    close = get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known here: {', '.join(sorted(known))}" if known else ""
