"""Images of tasks: built from a folder with a Dockerfile, once, and found again by what the folder holds.

The engine has the network that it has: a build may fetch what it needs, a run never does. Whatever ends the connection
to the engine, a killed harness included, has the engine end the build and remove its container; layers that were
finished stay as the engine's own cache.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import docker
import docker.errors
import requests
from docker.utils.build import exclude_paths

from akbench.spec import HostError, InputError
from akbench_sandbox_docker.engine import IMAGE, image_id

__all__ = ["REPOSITORY", "built_image"]

REPOSITORY = "akbench-task"
"""What images of tasks are called; their tag is the beginning of their context's hash."""
_CONTEXT = "akbench.context"
"""The label that holds the hash of the folder it was built from."""
_TAG_DIGITS = 16
_LAST_LINES = 15
_FAULTS_OF_THE_FILE = ("dockerfile parse error", "COPY failed", "ADD failed", "unknown instruction", "no build stage")

_BOOKKEEPING = (" --->", "Removing intermediate container")
"""What the engine tells of its layers."""

_building = threading.Lock()


def built_image(api: docker.APIClient, context: Path, dockerfile: str) -> str:
    """The id of the image. Raises `InputError` if the folder is at fault, `HostError` if the engine cannot build it."""
    files = _files(context, dockerfile)
    digest = _digest(files, dockerfile)
    with _building:
        found = api.images(name=REPOSITORY, filters={"label": f"{_CONTEXT}={digest}"})
        return str(found[0]["Id"]) if found else _built(api, files, dockerfile, digest)


def _files(context: Path, dockerfile: str) -> dict[str, Path]:
    """What the engine is given, by name: without what a ``.dockerignore`` leaves out."""
    ignore = context / ".dockerignore"
    lines = ignore.read_text(encoding="utf-8", errors="replace").splitlines() if ignore.is_file() else []
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    names = sorted(str(name) for name in exclude_paths(str(context), patterns, dockerfile=dockerfile))
    return {name: context / name for name in names if (context / name).is_file()}


def _digest(files: Mapping[str, Path], dockerfile: str) -> str:
    whole = hashlib.sha256(f"{dockerfile}\n".encode())
    for name, path in files.items():
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{name}\0{_mode(path):o}\0{content}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _mode(path: Path) -> int:
    return 0o755 if path.stat().st_mode & 0o100 else 0o644


def _built(api: docker.APIClient, files: Mapping[str, Path], dockerfile: str, digest: str) -> str:
    name = f"{REPOSITORY}:{digest[:_TAG_DIGITS]}"
    with tempfile.TemporaryFile() as archive:
        _write(archive, files)
        archive.seek(0)
        try:
            said = api.build(
                fileobj=archive,
                custom_context=True,
                dockerfile=dockerfile,
                tag=name,
                labels={IMAGE: "1", _CONTEXT: digest},
                rm=True,
                forcerm=True,
                decode=True,
                timeout=None,
            )
            _follow(said)
        except docker.errors.APIError as error:
            if error.status_code == requests.codes.bad_request:
                raise InputError(f"{dockerfile}: {error.explanation}") from error
            raise
    return image_id(api, name)


def _write(target: IO[bytes], files: Mapping[str, Path]) -> None:
    """Write them as a tar archive: nothing in it tells when and by whom they were written here."""
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in files.items():
            content = path.read_bytes()
            item = tarfile.TarInfo(name)
            item.size, item.mode = len(content), _mode(path)
            archive.addfile(item, io.BytesIO(content))


def _follow(said: Iterable[dict[str, Any]]) -> None:
    lines: deque[str] = deque(maxlen=_LAST_LINES)
    error: str | None = None
    for each in said:  # to its end: the connection is given back then
        told = str(each.get("stream", "")).rstrip().splitlines()
        lines.extend(line for line in told if not line.startswith(_BOOKKEEPING))
        error = error or each.get("error")
    if error is not None:
        if error.startswith(_FAULTS_OF_THE_FILE):
            raise InputError(error)
        raise HostError("\n".join(("the image cannot be built:", *lines, error)))
