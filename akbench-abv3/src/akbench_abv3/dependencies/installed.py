"""Whether a repository's install command and steps have been carried out on this machine."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from akbench_abv3.completed import CONFIG_FOLDER, MIB, Kind
from akbench_abv3.dependencies.store import user_folder
from akbench_abv3.reading.bounded import UnreadableError, is_there, read_text
from akbench_abv3.reading.json_text import parse_json
from akbench_abv3.writing import json_document, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from akbench_abv3.dependencies.declared import Dependency

__all__ = ["Installed", "fingerprint", "read_installed", "write_installed"]


class Installed(BaseModel):
    """What was carried out: hashes of commands, so that a changed command counts as new."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    root: str = ""
    install_sha256: str | None = None
    steps: dict[str, str] = {}
    updated_at: str = ""

    def has_installed(self, command: str | None) -> bool:
        """Tell whether `command` needs no more installing."""
        return command is None or self.install_sha256 == fingerprint(command)

    def steps_done(self, dependencies: Iterable[Dependency]) -> frozenset[str]:
        """Return the names of the steps that were carried out as they are declared now."""
        steps = (one for one in dependencies if one.kind is Kind.STEP)
        return frozenset(one.name for one in steps if self.steps.get(one.name) == fingerprint(one.command or ""))


def fingerprint(command: str) -> str:
    """Return the SHA-256 of a command's text."""
    return hashlib.sha256(command.encode()).hexdigest()


def read_installed(root: Path) -> Installed:
    """Return what is known of `root`; nothing known reads as nothing installed."""
    path = _state_file(root)
    if not is_there(path):
        return Installed()
    try:
        return Installed.model_validate(parse_json(read_text(path, MIB)))
    except (UnreadableError, ValidationError):
        return Installed()  # installing again is safe; trusting a broken record is not


def write_installed(root: Path, installed: Installed) -> None:
    """Record what was carried out in `root`."""
    path = _state_file(root)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = installed.model_copy(update={"root": os.fspath(root), "updated_at": now})
    write_atomically(path, json_document(record.model_dump()), mode=0o600)


def _state_file(root: Path) -> Path:
    return user_folder("XDG_STATE_HOME", ".local/state") / CONFIG_FOLDER / f"{fingerprint(os.path.realpath(root))}.json"
