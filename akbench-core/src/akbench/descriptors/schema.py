"""JSON Schemas of the descriptor kinds, for editors; the meanings are the docstrings below the models' fields."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeAliasType, get_args

from pydantic import BaseModel

from akbench.descriptors.kinds import KINDS
from akbench.spec import JsonValue

__all__ = ["meanings", "parts", "schema_of"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON Schema of descriptors of `kind`: what single values may be. Checks across values are not in it."""
    schema = KINDS[kind].model_json_schema()
    definitions = {KINDS[kind].__name__: schema} | schema.get("$defs", {})
    for part in parts(KINDS[kind]):
        for name, meaning in meanings(part).items():
            definitions[part.__name__]["properties"][name]["description"] = meaning
    return {"$schema": DIALECT} | schema


def parts(model: type[BaseModel]) -> tuple[type[BaseModel], ...]:
    """`model` and every section inside it, each once, in the order of the fields."""
    found = {model: None}
    for field in model.model_fields.values():
        for inner in _models_in(field.annotation):
            found |= dict.fromkeys(parts(inner))
    return tuple(found)


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Field -> what it means, those of the model's bases first."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            found |= dict(_documented(each))
    return {name: found[name] for name in model.model_fields if name in found}


def _documented(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    body = ast.parse(inspect.getsource(model)).body[0]
    assert isinstance(body, ast.ClassDef)
    for field, text in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            yield field.target.id, inspect.cleandoc(ast.literal_eval(text.value))


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if annotation is JsonValue:
        return
    if isinstance(annotation, TypeAliasType):
        yield from _models_in(annotation.__value__)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
