"""The folder of one run on disk: written so that a crash at any moment leaves a readable story."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from akbench.redaction import Redaction
from akbench.run.lifecycle import RunState
from akbench.run.record import ArtifactRecord, Event, RunResult, RunSpec, dump_json, dump_line, load_json
from akbench.spec import JsonValue

__all__ = ["RunFolder", "write_atomically"]


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` so that `path` holds either its old content or all of the new one, also after a power cut."""
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


class RunFolder:
    """``data/artifacts/<experiment>/<run>/``: manifest first, events as they happen, result last.

    `on_event` is told each event after it is durable. `secrets` are replaced wherever they would reach the disk: a
    provider may echo a key in an error message, and the agent may repeat it. `state` is the one entered last.
    """

    def __init__(
        self, path: Path, on_event: Callable[[Event], None] = lambda _: None, secrets: tuple[str, ...] = ()
    ) -> None:
        self.path = path
        self._on_event = on_event
        self._redaction = Redaction(secrets)
        self._artifacts: dict[str, ArtifactRecord] = {}
        self.state = RunState.PENDING

    def begin(self, spec: RunSpec) -> None:
        """Create the folder and make the manifest durable."""
        self.path.mkdir(parents=True, exist_ok=False)
        self.write("manifest.json", dump_json(spec), "application/json")

    def enter(self, state: RunState, text: str = "") -> None:
        """Record that the run is now in `state`."""
        self.state = state
        self.record("state", text or state.value, state=state)

    def record(self, kind: str, text: str, *, state: RunState | None = None, **data: JsonValue) -> None:
        """Append an event and make it durable."""
        event = Event(at=datetime.now(UTC), kind=kind, text=text, state=state, data=data)
        line = self._redaction.apply(dump_line(event))
        with (self.path / "events.jsonl").open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._on_event(load_json(Event, line))

    def redacted(self, text: str) -> str:
        """The text without secrets, for what will be cut: of half a secret nobody could tell that it is one."""
        return self._redaction.apply(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def write(self, name: str, content: bytes, media_type: str) -> None:
        """Keep `content` as an artifact."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = self._redaction.apply(content)
        write_atomically(path, content)
        self._register(name, hashlib.sha256(content).hexdigest(), len(content), media_type)

    def write_json(self, name: str, value: Any) -> None:
        """Keep `value` as a JSON artifact."""
        self.write(name, dump_json(value), "application/json")

    def write_lines(self, name: str, values: Iterable[Any]) -> None:
        """Keep `values` as a JSON Lines artifact."""
        self.write(name, b"".join(dump_line(value) for value in values), "application/jsonl")

    def adopt(self, name: str, media_type: str) -> None:
        """Keep a file that something else wrote into the folder."""
        self.write(name, (self.path / name).read_bytes(), media_type)

    def artifacts(self) -> tuple[ArtifactRecord, ...]:
        """What has been kept so far, by name."""
        return tuple(self._artifacts[name] for name in sorted(self._artifacts))

    def finish(self, result: RunResult) -> RunResult:
        """Record the final state, then make the result durable: after this the run counts as finished.

        `result.artifacts` is set here, to everything that was kept: events.jsonl is complete only now. result.json
        cannot hold its own checksum and is the one file not among them. Returns the result as it now stands on disk,
        free of secrets.
        """
        self.enter(result.state, result.reason or "")
        self.adopt("events.jsonl", "application/jsonl")
        whole = self._redaction.apply(dump_json(dataclasses.replace(result, artifacts=self.artifacts())))
        write_atomically(self.path / "result.json", whole)
        return load_json(RunResult, whole)

    def _register(self, name: str, sha256: str, size: int, media_type: str) -> None:
        self._artifacts[name] = ArtifactRecord(name=name, sha256=sha256, size=size, media_type=media_type)
