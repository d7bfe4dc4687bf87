"""YAML as plain data: mappings with text keys, lists, texts, numbers, true, false and null; each with its place.

Whatever else YAML can say (types by tag, dates, not-a-number, values that hold themselves or grow as they are
written out) has no meaning in the files of a project and is refused where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from akbench.spec import InputError

__all__ = ["DEPTH_LIMIT", "SIZE_LIMIT", "VALUE_LIMIT", "Location", "PlainYaml", "compose", "decoded", "read_text"]

SIZE_LIMIT = 1 << 20
"""Largest file (bytes); anything larger is a mistake or an attack."""
DEPTH_LIMIT = 64
"""Most collections within one another."""
VALUE_LIMIT = 100_000
"""Most values of one file, each counted as often as aliases repeat it: a small file can say a huge value."""
INTEGER_LIMIT = 1 << 63
"""Integers are smaller than this: the index and readers of JSON hold no larger ones."""

type Location = Sequence[int | str]

_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_SHORT = 60


@dataclass(frozen=True, slots=True)
class PlainYaml:
    """A parsed YAML mapping, its source text and where each value stands."""

    source: str
    text: str
    data: dict[str, Any]
    root: Node

    def place(self, location: Location) -> str:
        """``source:line:column`` of the value at `location`, or of its nearest enclosing value.

        A value that is not written stands where its key does: the parser knows only where the next thing begins.
        """
        node = self._nearest(location)
        if location and _is_unwritten(node) and (key := self._key(location)) is not None:
            return _place(self.source, key)
        return _place(self.source, node)

    def written(self, location: Location) -> str:
        """The value at `location` as it is written, which for a number may be more than the number tells."""
        return _shown(str(self._nearest(location).value))

    def _nearest(self, location: Location) -> Node:
        node = self.root
        for step in location:
            child = _child(node, step)
            if child is None:
                break
            node = child
        return node

    def key_place(self, location: Location) -> str:
        """Like `place`, for the key of a mapping entry rather than its value."""
        key = self._key(location)
        return self.place(location) if key is None else _place(self.source, key)

    def _key(self, location: Location) -> Node | None:
        parent = self.root
        for step in location[:-1]:
            parent = _child(parent, step) or parent
        keys = (key for key, _ in parent.value) if isinstance(parent, MappingNode) else ()
        return next((key for key in keys if key.value == location[-1]), None)

    def error(self, message: str, location: Location = ()) -> InputError:
        """An input error that names the place of `location`."""
        return InputError(message, place=self.place(location))


def read_text(path: Path) -> str:
    """The text of a short UTF-8 file. Raises `InputError` naming it when there is none, or it is something else."""
    try:
        if not path.is_file() and path.exists():
            raise InputError("is no file; put a file there", place=str(path))
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
        return decoded(content, str(path))
    except FileNotFoundError as error:
        raise InputError("no such file", place=str(path)) from error
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {cause}", place=str(path)) from error


def decoded(content: bytes, source: str) -> str:
    """The text of a short UTF-8 file with this content. Raises `InputError` with the place if it is something else."""
    if len(content) > SIZE_LIMIT:
        raise InputError(f"larger than {SIZE_LIMIT} bytes; it must be a short file", place=source)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        raise InputError("not UTF-8; save it as UTF-8", place=_position(before, len(before), source)) from error


def compose(text: str, source: str) -> tuple[dict[str, Any], Node]:
    """The mapping that `text` says, and its node. Raises `InputError` with the place of the first fault."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _BoundedComposer
    try:
        constructor, _ = yaml.get_constructor_parser(text)
        root = constructor.composer.get_single_node()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else f"{source}:1:1"
        problem = str(error.problem or error.context).splitlines()[0]
        raise InputError(f"not valid YAML: {problem}", place=place) from error
    except ReaderError as error:
        message = f"not valid YAML: character U+{ord(text[error.position]):04X} cannot stand in a file"
        raise InputError(message, place=_position(text, error.position, source)) from error
    except Exception as error:
        # The scanner raises whatever int(), chr() and its own assertions do; the text is what is wrong.
        mark = yaml.reader.get_mark()
        place = f"{source}:{mark.line + 1}:{mark.column + 1}"
        raise InputError(f"not valid YAML: {error}", place=place) from error
    if not isinstance(root, MappingNode):
        raise InputError("expected a mapping of keys to values", place=f"{source}:1:1")
    return _Values(source, constructor).value(root), root


class _BoundedComposer(Composer):
    """Stops at a bound on depth, long before Python's own."""

    _depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Any:
        if self._depth > DEPTH_LIMIT:
            mark = self.parser.peek_event().start_mark
            raise ComposerError(problem=f"more than {DEPTH_LIMIT} levels within one another", problem_mark=mark)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


class _Values:
    """Turns nodes into plain data."""

    def __init__(self, source: str, constructor: SafeConstructor) -> None:
        self._source = source
        self._left = VALUE_LIMIT
        self._open: set[int] = set()
        self._readers: dict[str, tuple[str, Callable[[Any], Any]]] = {
            f"{_TAG}null": ("null", lambda _: None),
            f"{_TAG}bool": ("true or false", constructor.construct_yaml_bool),
            f"{_TAG}int": ("integer", constructor.construct_yaml_int),
            f"{_TAG}float": ("number", constructor.construct_yaml_float),
        }

    def value(self, node: Node) -> Any:
        self._left -= 1
        if self._left < 0:
            raise self._error(node, f"more than {VALUE_LIMIT} values, aliases written out; make the file smaller")
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if id(node) in self._open:
            raise self._error(node, "a value cannot hold itself; write it out")
        self._open.add(id(node))
        found = self._collection(node)
        self._open.remove(id(node))
        return found

    def mapping(self, node: MappingNode) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                merged = self._merged(value) | merged
                continue
            name = self._key(key)
            if name in own:
                raise self._error(key, f"found duplicate key {name!r}; keep one of them")
            own[name] = self.value(value)
        return merged | own

    def _collection(self, node: Node) -> Any:
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return self.mapping(node)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item) for item in node.value]
        raise self._unknown_tag(node)

    def _merged(self, node: Node) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each in node.value if isinstance(node, SequenceNode) else [node]:
            if not isinstance(each, MappingNode):
                raise self._error(each, "<< takes a mapping or a list of mappings")
            found = self.value(each) | found
        return found

    def _key(self, node: Node) -> str:
        if not isinstance(node, ScalarNode):
            raise self._error(node, "a key must be one text")
        value = self._scalar(node)
        if not isinstance(value, str):
            raise self._error(node, f'a key must be text; write it in quotes: "{_shown(node.value)}"')
        return value

    def _scalar(self, node: ScalarNode) -> Any:
        if node.tag in self._readers:
            what, read = self._readers[node.tag]
            return self._number(node, what, read)
        # What YAML 1.1 takes for a date, or for the value key, is text in YAML 1.2.
        if node.tag not in {f"{_TAG}str", f"{_TAG}timestamp", f"{_TAG}value", _MERGE}:
            raise self._unknown_tag(node)
        if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in node.value):
            raise self._error(node, "holds a character that is no text (U+0000 or half of a pair)")
        return str(node.value)

    def _number(self, node: ScalarNode, what: str, read: Callable[[Any], Any]) -> Any:
        try:
            value = read(node)
        except Exception as error:
            # Python's number parsers see the user's text and raise as they please.
            raise self._error(node, f"{_shown(node.value)!r} cannot be read as {what}") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise self._error(node, f"{_shown(node.value)!r} is no finite number")
        if isinstance(value, int) and not -INTEGER_LIMIT < value < INTEGER_LIMIT:
            raise self._error(
                node, f"{_shown(node.value)!r} is too large a number; if it is a text, write it in quotes"
            )
        return value

    def _unknown_tag(self, node: Node) -> InputError:
        tag = _shown(str(node.tag).replace(_TAG, "!!"))
        return self._error(node, f"the tag {tag!r} has no meaning here; write a plain value")

    def _error(self, node: Node, message: str) -> InputError:
        return InputError(f"not valid YAML: {message}", place=_place(self._source, node))


def _is_unwritten(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.start_mark.index == node.end_mark.index


def _place(source: str, node: Node) -> str:
    return f"{source}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _position(text: str, index: int, source: str) -> str:
    before = text[:index]
    return f"{source}:{before.count('\n') + 1}:{index - before.rfind('\n')}"


def _shown(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def _child(node: Node, step: int | str) -> Node | None:
    if isinstance(node, MappingNode):
        return next((value for key, value in _entries(node) if key.value == str(step)), None)
    if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
        found = node.value[step]
        return found if isinstance(found, Node) else None
    return None


def _entries(node: MappingNode) -> Iterator[tuple[Node, Node]]:
    """The mapping's own entries, then those it takes over with ``<<``."""
    yield from ((key, value) for key, value in node.value if key.tag != _MERGE)
    for key, value in node.value:
        if key.tag == _MERGE:
            for each in value.value if isinstance(value, SequenceNode) else [value]:
                yield from _entries(each)
