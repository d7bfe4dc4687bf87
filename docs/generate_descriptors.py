"""Writes the tables of the descriptor pages from the models and YAML files. With --check: fails if one is out of date.

A table stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeAliasType, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from akbench.dataset.operators import OPERATORS
from akbench.descriptors.configuration import DeclaredSupport
from akbench.descriptors.dimension import DIMENSION_TYPES, TARGETS
from akbench.descriptors.document import read
from akbench.descriptors.header import Descriptor
from akbench.descriptors.kinds import KINDS
from akbench.descriptors.scalars import (
    BaseUrl,
    Count,
    Flag,
    Folder,
    Glob,
    Identifier,
    Number,
    Pinned,
    RelativePath,
    Seconds,
    VariableName,
    Version,
)
from akbench.descriptors.schema import meanings
from akbench.descriptors.snapshot import kind_of
from akbench.spec import CAPABILITIES, JsonValue

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PAGES = ("DESCRIPTOR_SYSTEM.md", "DIMENSION_DESCRIPTORS.md", "CATEGORY_SYSTEM.md", "TASK_FORMAT.md")
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
WORDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    JsonValue: "any value",
    DeclaredSupport: "`true`, `false` or `unknown`",
    BaseUrl: "URL",
    Count: "whole number from 1",
    Flag: "true or false",
    Folder: "relative path",
    Glob: "glob",
    Identifier: "identifier",
    Number: "number",
    Pinned: "name==version",
    RelativePath: "relative path",
    Seconds: "seconds",
    VariableName: "variable name",
    Version: "version",
}


def pages() -> dict[Path, str]:
    """Page -> its text with all tables made anew."""
    return {DOCS / name: BLOCK.sub(_filled, (DOCS / name).read_text()) for name in PAGES}


def _filled(block: re.Match[str]) -> str:
    return f"{block[1]}\n{TABLES[block[2]]().strip()}\n\n{block[4]}"


def table(headings: tuple[str, ...], rows: Iterator[tuple[str, ...]] | list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    cells = [headings, tuple("---" for _ in headings), *rows]
    return "\n".join(
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |" for row in cells
    )


def kinds() -> str:
    """Each kind with its section and what it is."""
    rows = [(f"[{kind}](#{kind})", f"`{kind}:`", _summary(model)) for kind, model in KINDS.items()]
    return table(("kind", "section", "what it describes"), rows)


def header() -> str:
    """The fields that all kinds share."""
    return fields(Descriptor)


def capabilities() -> str:
    """The capabilities every agent says something about."""
    return ", ".join(f"`{name}`" for name in CAPABILITIES)


def sections() -> str:
    """All fields of all kinds, section by section."""
    found = []
    seen: dict[type[BaseModel], str] = {}
    for kind, model in KINDS.items():
        found.append(f"### {kind}\n\n{_summary(model)}")
        for path, part in _sections(model, ""):
            before = seen.setdefault(part, path)
            text = f"{_summary(part)}\n\n{fields(part)}" if before == path else f"the fields of `{before}`."
            found.append(f"**`{path}`**: {text}")
    return "\n\n".join(found)


def dimension_fields() -> str:
    """The fields of the dimension kind."""
    return "\n\n".join(f"**`{path}`**\n\n{fields(part)}" for path, part in _sections(KINDS["dimension"], ""))


def dimension_types() -> str:
    """The nine types, their values and where these can be put."""
    rows = [(f"`{name}`", what, ", ".join(f"`{each}`" for each in to)) for name, (what, to) in DIMENSION_TYPES.items()]
    return table(("type", "a value is", "put into"), rows)


def targets() -> str:
    """Where a value can be put."""
    return table(("target", "what it does"), [(f"`{name}`", what) for name, what in TARGETS.items()])


def dimensions() -> str:
    """The dimensions that ship with this repository."""
    rows = [
        (f"`{data['id']}`", f"`{data['dimension']['type']}`", data["description"].strip(), owner)
        for owner, data in _shipped("dimension")
    ]
    return table(("dimension", "type", "what it varies", "from"), rows)


def categories() -> str:
    """The categories that ship, and how many tasks of the examples are of each."""
    rows = []
    for _, data in _shipped("category"):
        count = len(list(ROOT.glob(f"examples/src/akbench_examples/project/datasets/*/{data['id']}/*/task.yaml")))
        rows.append((f"`{data['id']}`", data["description"].strip(), data["category"]["judged_by"], str(count)))
    return table(("category", "what the agent is asked", "judged by", "tasks in the examples"), rows)


def operators() -> str:
    """The mutation operators."""
    rows = [(f"`{each.id}`", str(each.version), each.summary, each.example) for each in OPERATORS.values()]
    return table(("operator", "version", "what changes", "for example"), rows)


def fields(model: type[BaseModel]) -> str:
    """The fields of one section."""
    known = meanings(model)
    rows = [(f"`{name}`", shown(field.annotation), _default(field), known[name]) for name, field in _own(model).items()]
    return table(("key", "value", "default", "meaning"), rows)


def shown(annotation: Any) -> str:
    """A type in words."""
    if annotation in WORDS:
        return WORDS[annotation]
    if isinstance(annotation, TypeAliasType):
        return shown(annotation.__value__)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    return _generic(annotation)


def _generic(annotation: Any) -> str:
    arguments = [each for each in get_args(annotation) if each not in {type(None), Ellipsis}]
    origin = get_origin(annotation)
    if origin is Literal:
        return ", ".join(f"`{str(each).lower() if isinstance(each, bool) else each}`" for each in arguments)
    if origin is tuple:
        return f"list of {shown(arguments[0])}"
    if origin is dict:
        return f"{shown(arguments[0])} -> {shown(arguments[1])}"
    assert origin in {Annotated, Union, UnionType}, annotation
    return shown(arguments[0])


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "its defaults"
    return "" if value in (None, "", (), {}) else f"`{json.dumps(value)}`"


def _own(model: type[BaseModel]) -> dict[str, FieldInfo]:
    inherited = Descriptor.model_fields if issubclass(model, Descriptor) and model is not Descriptor else {}
    return {name: field for name, field in model.model_fields.items() if name not in inherited}


def _summary(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split()).replace("``", "`")


def _sections(model: type[BaseModel], path: str) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        for step, inner in _inner(field.annotation):
            here = f"{path}{name}{step}"
            yield here, inner
            yield from _sections(inner, f"{here}.")


def _inner(annotation: Any, step: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield step, annotation
    elif annotation is not JsonValue:
        if isinstance(annotation, TypeAliasType):
            annotation = annotation.__value__
        step += {tuple: "[]", dict: ".KEY"}.get(get_origin(annotation), "")
        for each in get_args(annotation):
            yield from _inner(each, step)


def _shipped(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    found = [read(path) for path in sorted(ROOT.glob("akbench-*/src/**/descriptors/*.yaml"))]
    for document in sorted(found, key=lambda each: str(each.data["id"])):
        if kind_of(document) == kind:
            yield Path(document.source).relative_to(ROOT).parts[0], document.data


TABLES: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (
        kinds,
        header,
        capabilities,
        sections,
        dimension_fields,
        dimension_types,
        targets,
        dimensions,
        categories,
        operators,
    )
}


if __name__ == "__main__":
    stale = [path for path, text in pages().items() if path.read_text() != text]
    if "--check" in sys.argv:
        names = ", ".join(path.name for path in stale)
        sys.exit(f"not up to date: {names}; run python docs/generate_descriptors.py" if stale else 0)
    for path, text in pages().items():
        path.write_text(text)
