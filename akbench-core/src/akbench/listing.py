"""The list of agents, remembered until anything that it was made from changes.

To read and validate the descriptors of thirty extensions takes several times as long as all else that a listing does.
What is remembered is found again by the content of everything that had a say: the records of the installed
extensions, every byte of their descriptors and of the project's, and the code that reads them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from akbench.discovery import Extension, Installed, discover
from akbench.foreign import foreign_code
from akbench.project import cache_folder, descriptor_files
from akbench.spec import AkbenchError
from akbench.spec.hooks import Record

__all__ = ["AgentListing", "listed_agents"]

_CORE = Path(__file__).parent
_READERS = ("listing.py", "catalogue.py", "discovery.py", "plain_yaml.py", "descriptors")
"""The code that decides what a listing says."""
_LONGEST = 2 << 20
_LIBRARIES = ("pydantic", "ruamel.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentListing:
    """The agents (id, version, title, role, origin of each) and the extensions that cannot be used, in sentences."""

    agents: tuple[dict[str, str], ...]
    failures: tuple[str, ...]


def listed_agents(project: Path) -> AgentListing:
    """The agents of the installed extensions and of `project`, as `Catalogue` has them."""
    installed = discover()
    content = _digest(_sources(installed, project))
    slot = cache_folder() / "listings" / f"{_digest([str(project.resolve()).encode(), sys.prefix.encode()])[:2]}.json"
    found = _remembered(slot, content)
    if found is None:
        found = _read(installed, project)
        _remember(slot, content, found)
    return found


def _read(installed: Installed, project: Path) -> AgentListing:
    from akbench.catalogue import Catalogue
    from akbench.descriptors.kinds import AgentDescriptor

    catalogue = Catalogue.load(project, installed)
    found = [(snapshot.model, snapshot.origin) for snapshot in catalogue.descriptors("agent")]
    return AgentListing(
        agents=tuple(
            {"id": model.id, "version": model.version, "title": model.title, "role": model.agent.role, "origin": origin}
            for model, origin in found
            if isinstance(model, AgentDescriptor)
        ),
        failures=tuple(str(failure) for failure in catalogue.failures),
    )


def _sources(installed: Installed, project: Path) -> Iterator[bytes]:
    yield f"{sys.version} {[version(name) for name in _LIBRARIES]}".encode()
    for name in _READERS:
        path = _CORE / name
        for source in [path] if path.is_file() else sorted(path.glob("*.py")):
            yield source.read_bytes()
    for failure in installed.failures:
        yield str(failure).encode()
    for extension in installed.extensions:
        yield repr(extension).encode(errors="backslashreplace")
        yield from (_packaged(resource) for resource in _resources(extension))
    yield f"{project} {project.is_dir()}".encode(errors="backslashreplace")
    for path in descriptor_files(project):
        yield str(path).encode(errors="backslashreplace")
        with suppress(OSError):  # the catalogue reads it again, and says what is wrong
            yield _beginning(path)


def _beginning(path: Path) -> bytes:
    """More than the largest descriptor; of a device or a pipe nothing, as it might never end."""
    if not path.is_file():
        return b"no file"
    with path.open("rb") as file:
        return file.read(_LONGEST)


def _resources(extension: Extension) -> Iterator[str]:
    for record in extension.records:
        yield from record.descriptors if isinstance(record, Record) else (record.descriptor,)


def _packaged(resource: str) -> bytes:
    package, _, path = resource.partition(":")
    try:
        with foreign_code(resource):
            return files(package).joinpath(path).read_bytes()
    except AkbenchError as error:
        return str(error).encode(errors="backslashreplace")


def _digest(parts: Iterator[bytes] | list[bytes]) -> str:
    """Over the parts and their lengths, so that what moves from one part to the next counts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode())
        digest.update(part)
    return digest.hexdigest()


def _remembered(slot: Path, content: str) -> AgentListing | None:
    try:
        kept = json.loads(slot.read_bytes())
        if kept["content"] != content:
            return None
        return AgentListing(agents=tuple(kept["agents"]), failures=tuple(kept["failures"]))
    except (OSError, ValueError, TypeError, KeyError):
        # Nothing is lost with it: everything is read once more.
        return None


def _remember(slot: Path, content: str, listing: AgentListing) -> None:
    from akbench.run.journal import write_atomically

    kept = {"content": content, "agents": listing.agents, "failures": listing.failures}
    with suppress(OSError):  # a cache that cannot be written makes listings slower, not wrong; the doctor names it
        slot.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(slot, json.dumps(kept).encode())
