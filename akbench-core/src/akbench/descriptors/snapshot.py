"""A descriptor as it was read: validated model, canonical hash, and the text to keep with an experiment."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from akbench.descriptors.document import Document, read
from akbench.descriptors.kinds import KINDS, Descriptor
from akbench.spec import InputError, JsonValue

__all__ = ["Snapshot", "canonical_hash", "load", "load_document"]


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
    """A parsed document as `model`."""
    kind = next(name for name, each in KINDS.items() if each is model)
    return Snapshot(kind=kind, model=document.validate(model), document=document, origin=origin)


def kind_of(document: Document) -> str:
    """The kind of a descriptor: the name of its section. Raises `InputError` if there is none or more than one."""
    found = [name for name in KINDS if name in document.data]
    if len(found) != 1:
        raise InputError(f"expected exactly one section of: {', '.join(KINDS)}", place=document.place(()))
    return found[0]
