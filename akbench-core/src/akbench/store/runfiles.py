"""What the folder of a run says, read without believing that it is whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from akbench.run.lifecycle import TERMINAL, RunState
from akbench.run.record import Event, RunResult, RunSpec, load_json
from akbench.spec import InputError
from akbench.store.folder import read_value, size_of, stored_bytes

__all__ = ["RunFiles", "read_lines", "read_run", "run_stamp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """The story of a run so far. `unreadable` names what is damaged, one sentence each."""

    manifest: RunSpec | None
    events: tuple[Event, ...]
    result: RunResult | None
    unreadable: tuple[str, ...]

    @property
    def state(self) -> RunState:
        """The last durable state. Final only with a result: what died before writing it has not finished."""
        if self.result is not None:
            return self.result.state
        states = [event.state for event in self.events if event.state is not None]
        return next((state for state in reversed(states) if state not in TERMINAL), RunState.PENDING)


def run_stamp(folder: Path) -> str:
    """The sizes of the files that the index is made from. They only ever grow, so equal stamps mean equal content."""
    sizes = {name: size_of(folder / name) for name in ("manifest.json", "events.jsonl", "result.json")}
    return " ".join(f"{name}={'-' if size is None else size}" for name, size in sizes.items())


def read_run(folder: Path) -> RunFiles:
    """All of a run's folder that can be read."""
    unreadable: list[str] = []
    manifest = _value(RunSpec, folder / "manifest.json", unreadable)
    events = read_lines(Event, folder / "events.jsonl", unreadable)
    result = _value(RunResult, folder / "result.json", unreadable)
    return RunFiles(manifest=manifest, events=events, result=result, unreadable=tuple(unreadable))


def read_lines[T](kind: type[T], path: Path, unreadable: list[str]) -> tuple[T, ...]:
    """The values in a JSON Lines file; damaged lines are named in `unreadable`.

    A last line without its newline is one that is being written, or that a crash cut: it does not count yet.
    """
    try:
        content = stored_bytes(path)
    except InputError as error:
        unreadable.append(f"{path.name} {error.message}")
        return ()
    values = []
    for number, line in enumerate((content or b"").split(b"\n")[:-1], start=1):
        try:
            values.append(load_json(kind, line))
        except ValidationError as error:
            unreadable.append(f"{path.name} line {number} cannot be read: {error.errors()[0]['msg']}")
    return tuple(values)


def _value[T](kind: type[T], path: Path, unreadable: list[str]) -> T | None:
    try:
        return read_value(kind, path)
    except InputError as error:
        unreadable.append(f"{path.name} {error.message}")
        return None
