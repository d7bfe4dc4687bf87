"""A YAML file as data with places: every value can be traced back to its line and column."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from akbench.plain_yaml import Location, PlainYaml, compose, read_text
from akbench.spec import InputError

__all__ = ["Document", "parse", "read"]

FAULTS_SHOWN = 20
"""Faults of one file that are listed beside the first."""

_NO_MAPPING = ("model_type", "dict_type", "mapping_type")
"""Pydantic's types of the fault that something else stands where a mapping belongs."""


@dataclass(frozen=True, slots=True)
class Document(PlainYaml):
    """A parsed descriptor: plain data that can be held against a model."""

    @property
    def sha256(self) -> str:
        """Checksum of the text as read."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def validate[M: BaseModel](self, model: type[M]) -> M:
        """The document as `model`. Raises `InputError` listing every fault, each with its place."""
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            first, *others = self._faults(model, error)
        message = first[1] + "".join(f"\n{place}: {text}" for place, text in others[:FAULTS_SHOWN])
        if len(others) > FAULTS_SHOWN:
            message += f"\nand {len(others) - FAULTS_SHOWN} more faults"
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
        location = _without_union_tags(fault["loc"], self.data)
        name = ".".join(str(step) for step in location)
        if fault["type"] == "extra_forbidden":
            known = _field_names(model, location[:-1])
            return self.key_place(location), f"unknown key {str(location[-1])!r}" + _suggestion(
                str(location[-1]), known
            )
        if fault["type"] == "missing":
            return self.place(location[:-1]), f"missing key {name!r}"
        message = "expected keys with values" if fault["type"] in _NO_MAPPING else _message(fault)
        if fault["type"] == "string_type" and isinstance(fault["input"], int | float):
            message += f'; write it in quotes: "{self.written(location)}"'
        if fault["type"] == "value_error":
            steps, message = _named_steps(message)
            location = (*location, *steps)
            name = ".".join(str(step) for step in location)
        return self.place(location), f"{name}: {message[:1].lower() + message[1:]}"


def _message(fault: Any) -> str:
    return str(fault["msg"]).removeprefix("Value error, ")


def read(path: Path) -> Document:
    """Parse the YAML file at `path`. Raises `InputError` with line and column for anything but one plain mapping."""
    return parse(read_text(path), str(path))


def parse(text: str, source: str) -> Document:
    """Parse YAML `text`; `source` is the name used in messages."""
    data, root = compose(text, source)
    return Document(source=source, text=text, data=data, root=root)


def _without_union_tags(location: Location, data: Any) -> tuple[int | str, ...]:
    """Pydantic puts the tried member of a union into the location; such a step is no key of the data."""
    found: list[int | str] = []
    value = data
    for index, step in enumerate(location):
        if _is_union_tag(step, value, is_last=index == len(location) - 1):
            continue
        found.append(step)
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
    return tuple(found)


def _is_union_tag(step: int | str, value: Any, *, is_last: bool) -> bool:
    if not isinstance(step, str):
        return False
    if not isinstance(value, dict):
        return True
    names_a_member = bool(re.search(r"[A-Z\[\-]", step))
    is_discriminator = not is_last and any(step == each for each in value.values())
    return step not in value and (names_a_member or is_discriminator)


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
