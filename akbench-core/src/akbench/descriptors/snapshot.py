"""A descriptor as it was read: validated model, canonical hash, and the text to keep with an experiment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from akbench.descriptors.document import Document, parse, read
from akbench.descriptors.header import Descriptor
from akbench.descriptors.kinds import KINDS
from akbench.descriptors.migration import migrated
from akbench.spec import InputError, JsonValue

__all__ = ["Snapshot", "canonical_hash", "faults_of", "kind_of", "load", "load_document", "restored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot[D: Descriptor]:
    """A descriptor with what identifies it. `origin` is the distribution or the file it came from."""

    kind: str
    model: D
    document: Document
    origin: str

    @property
    def hash(self) -> str:
        """Canonical hash of the content: comments, key order and formatting do not count."""
        return canonical_hash(self.document.data)

    def record(self) -> dict[str, JsonValue]:
        """What an experiment keeps of it."""
        return {
            "kind": self.kind,
            "id": self.model.id,
            "version": self.model.version,
            "hash": self.hash,
            "origin": self.origin,
            "text": self.document.text,
        }


def canonical_hash(data: object) -> str:
    """SHA-256 over the value as JSON with sorted keys and no spaces."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def load[D: Descriptor](path: Path, model: type[D], *, origin: str | None = None) -> Snapshot[D]:
    """Read the descriptor file at `path` as `model`. Raises `InputError` with the place of each fault."""
    return load_document(read(path), model, origin=origin or str(path))


def load_document[D: Descriptor](document: Document, model: type[D], *, origin: str) -> Snapshot[D]:
    """A parsed document as `model`, after the migrations of its kind. The document itself stays as it was written."""
    kind = next(name for name, each in KINDS.items() if each is model)
    validated = _present(document, kind).validate(model)
    return Snapshot(kind=kind, model=validated, document=document, origin=origin)


def faults_of(document: Document) -> list[tuple[str, str]]:
    """What is wrong with a descriptor of any kind: (place, sentence) for each fault."""
    try:
        kind = kind_of(document)
    except InputError as error:
        return [(str(error.place), error.message)]
    return _present(document, kind).faults(KINDS[kind])


def restored(record: Mapping[str, JsonValue], name: str) -> Snapshot[Descriptor]:
    """The snapshot that an experiment kept as `record`, read with the present models.

    Raises `InputError` naming `name` if the text is not the one that the hash was taken of, or cannot be read.
    """
    document = parse(str(record["text"]), name)
    snapshot = load_document(document, KINDS[kind_of(document)], origin=str(record["origin"]))
    if snapshot.hash != record["hash"]:
        raise InputError("the text is not the one that the recorded hash was taken of", place=name)
    return snapshot


def kind_of(document: Document) -> str:
    """The kind of a descriptor: the name of its section. Raises `InputError` if there is none or more than one."""
    found = [name for name in KINDS if name in document.data]
    if len(found) == 1:
        return found[0]
    for key in document.data if not found else ():
        close = get_close_matches(str(key), KINDS, n=1)
        if close and key not in Descriptor.model_fields:
            raise InputError(f"no kind {key!r}; did you mean {close[0]!r}?", place=document.key_place((key,)))
    raise InputError(f"expected exactly one section of: {', '.join(KINDS)}", place=document.place(()))


def _present(document: Document, kind: str) -> Document:
    return replace(document, data=migrated(kind, document.data))
