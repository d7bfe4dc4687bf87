"""A project folder: where experiments, datasets, descriptors, data and reports of one user lie."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from akbench.spec import HostError, InputError

__all__ = ["Project", "cache_faults", "cache_folder", "descriptor_files", "state_folder"]


@dataclass(frozen=True, slots=True)
class Project:
    """The layout that ``akbench init`` writes. Folders are made when something is put into them."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> Project:
        """The project at `root`. Raises `InputError` if nothing there looks like one."""
        root = root.resolve()
        if not cls.is_at(root):
            raise InputError("no AK-Bench project here; make one with: akbench init", place=str(root))
        return cls(root)

    @classmethod
    def is_at(cls, root: Path) -> bool:
        """Whether something there looks like a project."""
        return any((root / name).is_dir() for name in ("configs", "datasets", "data"))

    @property
    def data(self) -> Path:
        """The store."""
        return self.root / "data"

    @property
    def artifacts(self) -> Path:
        """The runs' files, by experiment and run."""
        return self.data / "artifacts"

    @property
    def workspaces(self) -> Path:
        """Scratch space of runs in progress."""
        return self.data / "workspaces"

    @property
    def reports(self) -> Path:
        """Where reports are written."""
        return self.root / "reports"

    def require_writable(self) -> None:
        """Raises `HostError` naming the folder that cannot be written to."""
        for folder in (self.data, self.artifacts, self.workspaces):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder):
                    pass
            except OSError as error:
                raise HostError(
                    f"{folder} cannot be written to ({error.strerror}); make it writable or choose another --project"
                ) from error


@contextmanager
def cache_faults(cache: Path) -> Iterator[None]:
    """Turn the system's refusal to use the cache into a `HostError` that names it and the mend."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"cannot use the cache {cache}: {error.filename or cache}: {error.strerror or error}; make it a writable "
            "folder, free disk space there, or set AKBENCH_CACHE to another one"
        ) from error


def cache_folder() -> Path:
    """Where fetched releases, snapshots and prepared environments are kept; ``AKBENCH_CACHE`` overrides it."""
    chosen = os.environ.get("AKBENCH_CACHE")
    if chosen:
        return Path(chosen).resolve()
    from platformdirs import user_cache_path

    return user_cache_path("akbench")


def state_folder() -> Path:
    """Where findings about this machine's installation are kept; ``AKBENCH_STATE`` overrides it."""
    chosen = os.environ.get("AKBENCH_STATE")
    if chosen:
        return Path(chosen).resolve()
    from platformdirs import user_state_path

    return user_state_path("akbench")


def descriptor_files(project: Path) -> tuple[Path, ...]:
    """What lies below the project's ``descriptors/`` and ends in ``.yaml``, sorted; links to folders are not followed.

    Raises `InputError` for what would silently be left out: a file with another ending of YAML, something else in the
    place of the folder, and a folder that cannot be read.
    """
    root = project / "descriptors"
    if not os.path.lexists(root):
        return ()
    if not root.is_dir():
        raise InputError("is no folder; the project's descriptors lie in a folder of this name", place=str(root))
    found = [Path(folder, name) for folder, *inner in os.walk(root, onerror=_refuse) for name in (*inner[0], *inner[1])]
    for path in found:
        if path.suffix != ".yaml" and path.suffix.lower() in {".yaml", ".yml"} and not path.is_dir():
            raise InputError(f"is not read; name it {path.with_suffix('.yaml').name}", place=str(path))
    return tuple(sorted(path for path in found if path.suffix == ".yaml"))


def _refuse(error: OSError) -> None:
    raise InputError(f"cannot be read: {error.strerror}", place=str(error.filename)) from error
