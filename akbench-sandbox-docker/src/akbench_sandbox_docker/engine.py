"""The Docker engine: finding it, its images, and one container from its creation to its removal."""

from __future__ import annotations

import select
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import docker
import docker.errors
import requests

from akbench.ownership import Owner
from akbench.sandbox.process import START_SECONDS
from akbench.spec import HostError
from akbench_sandbox_docker.image import own_image, stamp
from akbench_sandbox_docker.where import lack

__all__ = [
    "IMAGE",
    "LABEL",
    "OWNER",
    "Container",
    "MissingImageError",
    "connected",
    "ensure_own_image",
    "image_id",
    "inspected",
    "labels",
]

LABEL = "akbench"
"""What every container of ours is labelled with, value 1."""
OWNER = "akbench.owner"
"""The label that holds the `Owner`."""
IMAGE = "akbench.image"
"""What every image of ours is labelled with. Not `LABEL`: a container has the labels of its image as well."""
_STAMP = "akbench.stamp"
_REPOSITORY = "akbench-sandbox"
_REMOVAL_SECONDS = 60.0
_POLL_SECONDS = 0.05
_DIAGNOSTIC_BYTES = 1 << 14
_TAG_DIGITS = 16

_building = threading.Lock()


class MissingImageError(HostError):
    """The engine has not the image that was asked for."""

    def __init__(self, name: str) -> None:
        self.mend = f"Images are never fetched on the quiet; fetch it: docker pull {name}"
        super().__init__(f"the engine has no image {name!r}")


def labels() -> dict[str, str]:
    """The labels for something that this process makes."""
    return {LABEL: "1", OWNER: str(Owner.this())}


@contextmanager
def connected() -> Iterator[docker.APIClient]:
    """A connection to the engine that DOCKER_HOST names, or the local one. Its faults become `HostError`."""
    if (reason := lack()) is not None:
        raise HostError(reason)
    try:
        client = docker.DockerClient.from_env(timeout=int(_REMOVAL_SECONDS))
    except docker.errors.DockerException as error:
        raise HostError(f"no Docker engine answers: {error}") from error
    try:
        yield client.api
    except (docker.errors.DockerException, requests.RequestException) as error:
        raise HostError(f"the Docker engine refuses or is gone: {_said(error)}") from error
    finally:
        client.close()


def _said(error: Exception) -> str:
    explanation = getattr(error, "explanation", None)
    return str(explanation or error)


def image_id(api: docker.APIClient, name: str) -> str:
    """The id of the image `name`. Nothing is fetched: raises `MissingImageError` if it is not there."""
    try:
        return str(inspected(api, name)["Id"])
    except docker.errors.ImageNotFound:
        raise MissingImageError(name) from None


def inspected(api: docker.APIClient, name: str) -> Any:
    """What the engine says of the image `name`."""
    return api.inspect_image(name)  # type: ignore[no-untyped-call]


def ensure_own_image(api: docker.APIClient, uid: int) -> str:
    """The id of AK-Bench's own image for the user `uid`, made of this machine's files if it is not there yet."""
    with _building:
        mark = f"{_STAMP}={stamp(uid)}"
        found = api.images(name=_REPOSITORY, filters={"label": mark})
        return str(found[0]["Id"]) if found else _made(api, uid, mark)


def _made(api: docker.APIClient, uid: int, mark: str) -> str:
    image = own_image(uid)
    tag = image.digest()[:_TAG_DIGITS]
    with tempfile.TemporaryFile() as archive:
        image.write(archive)
        archive.seek(0)
        said = api.import_image_from_data(
            archive,
            repository=_REPOSITORY,
            tag=tag,
            changes=[f"LABEL {IMAGE}=1", f"LABEL {mark}", "ENV PATH=/usr/bin:/bin"],
        )
    if "error" in str(said):
        raise HostError(f"the engine did not take AK-Bench's own image: {said}")
    return image_id(api, f"{_REPOSITORY}:{tag}")


class Container:
    """A container from its start on; an `Enclosure`. It is removed by the engine when its first process ends."""

    def __init__(self, api: docker.APIClient, options: Mapping[str, Any]) -> None:
        self._api = api
        self._id = str(api.create_container(**options)["Id"])
        self._gone = threading.Event()
        self._code = -1
        self._broken: str | None = None
        self._connection: socket.socket | None = None
        try:
            self._output = api.attach_socket(self._id, {"stdout": 1, "stderr": 1, "stream": 1})
        except BaseException:
            self.kill()
            raise
        threading.Thread(target=self._await_removal, name="container", daemon=True).start()

    def start(self, listener: socket.socket) -> socket.socket:
        """Start it and wait until its warden has connected. Raises `HostError` with the reason if it does not."""
        self._api.start(self._id)
        self._connection = self._accepted(listener)
        return self._connection

    def close(self) -> None:
        """Give back what is held for it here."""
        self._output._response.close()  # noqa: SLF001 (the engine's connection, which nothing else closes)
        self._output.close()
        if self._connection is not None:
            self._connection.close()

    def _accepted(self, listener: socket.socket) -> socket.socket:
        until = time.monotonic() + START_SECONDS
        while not select.select([listener], [], [], _POLL_SECONDS)[0]:
            if self.poll() is not None:
                raise HostError(f"the container ended at its start: {self._diagnostic() or f'exit code {self._code}'}")
            if time.monotonic() > until:
                raise HostError(f"the container did not start within {START_SECONDS:g} s")
        return listener.accept()[0]

    def _diagnostic(self) -> str:
        """What its first process said: frames of 8 bytes of header, which ends in the length, and text."""
        said = bytearray()
        with suppress(OSError):  # the engine may cut the stream; what came before is all there is
            while len(said) < _DIAGNOSTIC_BYTES and len(header := self._output.read(8)) == 8:
                said += self._output.read(struct.unpack(">4xI", header)[0])
        return said.decode(errors="replace").strip()

    def _await_removal(self) -> None:
        try:
            self._code = int(self._api.wait(self._id, timeout=None, condition="removed")["StatusCode"])
        except docker.errors.NotFound:  # gone before this thread asked
            pass
        except (docker.errors.DockerException, requests.RequestException) as error:
            self._broken = f"the Docker engine is gone, and the run with it: {_said(error)}"
        finally:
            self._gone.set()

    def poll(self) -> int | None:
        """Its exit code once it is removed, -1 if not known. Raises `HostError` if the engine is gone."""
        if not self._gone.is_set():
            return None
        if self._broken is not None:
            raise HostError(self._broken)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it is removed; if the engine is gone, until its processes are, and raise `HostError`."""
        if not self._gone.wait(_REMOVAL_SECONDS if timeout is None else timeout):
            if timeout is None:
                raise HostError(f"container {self._id[:12]} is not removed after {_REMOVAL_SECONDS:g} s")
            raise subprocess.TimeoutExpired("the container", timeout)
        if self._broken is not None and self._connection is not None:
            # The warden holds the other end for as long as it lives; it lives without the engine.
            select.select([self._connection], [], [], _REMOVAL_SECONDS)
        code = self.poll()
        assert code is not None, "it is gone"
        return code

    def kill(self) -> None:
        """Remove it with everything in it, or see that it is being removed."""
        try:
            self._api.remove_container(self._id, force=True)
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as error:
            if error.status_code != requests.codes.conflict:  # its removal is under way
                raise
