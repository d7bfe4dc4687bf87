"""YAML text read as a stream of events: nothing is constructed, so nothing can be made to explode.

A run config stays opaque to this tool. All that is wanted is whether it parses, whether its top
level is a mapping, and where it holds credentials; all three fold over the parser's events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import yaml

from akbench_abv3.completed import MAX_EXPANDED_NODES, MAX_NESTING
from akbench_abv3.reading.bounded import UnreadableError
from akbench_abv3.reading.credential_shape import looks_like_credential

__all__ = ["YamlFacts", "scan_yaml"]

_PLAIN_TAG = "tag:yaml.org,2002:"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Mark(Protocol):
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlFacts:
    """Whether a YAML document's top is a mapping, and the key paths of what looks like credentials."""

    is_mapping: bool
    credentials: tuple[str, ...]


@dataclass(slots=True)
class _Collection:
    is_mapping: bool
    anchor: str | None
    size: int = 1
    children: int = 0
    key: str | None = None
    keys: set[str] = field(default_factory=set)

    @property
    def awaits_key(self) -> bool:
        return self.is_mapping and self.children % 2 == 0


def scan_yaml(text: str) -> YamlFacts:
    """Return the facts of one YAML document; UnreadableError carries line:column."""
    scan = _Scan()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            scan.take(event)
    except yaml.MarkedYAMLError as error:
        raise UnreadableError(_placed(error.problem_mark, error.problem or error.context or "not YAML")) from error
    except yaml.YAMLError as error:  # characters that YAML does not allow have no mark
        raise UnreadableError(" ".join(str(error).split())) from error
    return YamlFacts(is_mapping=scan.top_is_mapping, credentials=tuple(scan.credentials))


class _Scan:
    def __init__(self) -> None:
        self.top_is_mapping = False
        self.credentials: list[str] = []
        self._open: list[_Collection] = []
        self._sizes: dict[str, int] = {}
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._start_document(event)
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.CollectionStartEvent():
                self._start(event)
            case yaml.CollectionEndEvent():
                self._end(event)
            case _:
                pass  # stream and document ends hold nothing

    def _start_document(self, event: yaml.Event) -> None:
        self._documents += 1
        if self._documents > 1:
            raise UnreadableError(_placed(event.start_mark, "more than one document"))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._refuse_foreign_tag(event)
        if self._open and self._open[-1].awaits_key:
            self._key(event)
        elif looks_like_credential(event.value):
            self.credentials.append(self._path())
        self._grow(1, event)
        self._remember(event.anchor, 1)

    def _key(self, event: yaml.ScalarEvent) -> None:
        mapping = self._open[-1]
        if event.value in mapping.keys and event.value != "<<":
            raise UnreadableError(_placed(event.start_mark, f'key "{event.value}" occurs twice'))
        mapping.keys.add(event.value)
        mapping.key = event.value

    def _alias(self, event: yaml.AliasEvent) -> None:
        size = self._sizes.get(event.anchor or "")
        if size is None:
            raise UnreadableError(_placed(event.start_mark, f"undefined or recursive alias {event.anchor}"))
        if self._open and self._open[-1].awaits_key:
            self._open[-1].key = f"*{event.anchor}"
        self._grow(size, event)

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        self._refuse_foreign_tag(event)
        if len(self._open) >= MAX_NESTING:
            raise UnreadableError(_placed(event.start_mark, f"nested more than {MAX_NESTING} levels deep"))
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        if not self._open:
            self.top_is_mapping = is_mapping
        elif self._open[-1].awaits_key:
            self._open[-1].key = "?"
        self._sizes.pop(event.anchor or "", None)
        self._open.append(_Collection(is_mapping=is_mapping, anchor=event.anchor))

    def _end(self, event: yaml.Event) -> None:
        ended = self._open.pop()
        self._remember(ended.anchor, ended.size)
        self._grow(ended.size, event)

    def _grow(self, size: int, event: yaml.Event) -> None:
        if not self._open:
            return
        top = self._open[-1]
        top.size += size
        top.children += 1
        if top.size > MAX_EXPANDED_NODES:
            raise UnreadableError(_placed(event.start_mark, f"stands for more than {MAX_EXPANDED_NODES} values"))

    def _remember(self, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self._sizes[anchor] = size

    def _path(self) -> str:
        return "".join(f".{one.key}" if one.is_mapping else f"[{one.children}]" for one in self._open).removeprefix(".")

    def _refuse_foreign_tag(self, event: yaml.NodeEvent) -> None:
        tag = getattr(event, "tag", None)
        if tag not in (None, "!") and not str(tag).startswith(_PLAIN_TAG):
            raise UnreadableError(_placed(event.start_mark, f"tag {tag} is not plain YAML"))
        if tag is not None and "python/" in str(tag):
            raise UnreadableError(_placed(event.start_mark, f"tag {tag} is not plain YAML"))


def _placed(mark: _Mark | None, message: str) -> str:
    return f"{mark.line + 1}:{mark.column + 1} {message}" if mark is not None else message
