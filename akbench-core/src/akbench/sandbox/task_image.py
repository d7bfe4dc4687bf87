"""A task's own image as its prepared environment: found or built once, asked which Python it has, and run in."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from akbench.dataset.environment import PreparedEnvironment
from akbench.descriptors.task import TaskEnvironment
from akbench.sandbox.environment import EnvironmentSandbox
from akbench.spec import InputError, Limits, ProcessEvidence, Sandbox, SandboxImage, SandboxRequest
from akbench.workspace.scratch import scratch_folder

__all__ = ["TaskSandbox", "image_environment", "image_key"]

_NAMES = ("python3", "python")
_SECONDS = 60.0
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_QUESTION = """
import json, re, sys
try:
    from importlib.metadata import distributions
    found = {each.metadata["Name"]: each.version for each in distributions()}
except ImportError:
    found = {}
names = {re.sub(r"[-_.]+", "-", str(name)).lower(): version for name, version in found.items()}
print(json.dumps({"place": sys.executable, "packages": dict(sorted(names.items()))}))
"""


class TaskSandbox(EnvironmentSandbox):
    """The sandbox `within` as a task with an image of its own sees it: in `image`, its repository at `workspace`."""

    def __init__(self, within: Sandbox, image: str, workspace: str | None) -> None:
        super().__init__(within, image, {})
        self._workspace = workspace

    def inside(self, name: str, host: Path) -> str:
        """Where the sandbox shows it, but for the workspace."""
        return self._workspace if name == "workspace" and self._workspace else super().inside(name, host)

    def run(self, request: SandboxRequest) -> ProcessEvidence:
        """Run the process in the image, which keeps its own Python."""
        return super().run(replace(request, shows_python=False))


def image_environment(wanted: TaskEnvironment, folder: Path, sandbox: Sandbox, cache: Path) -> PreparedEnvironment:
    """The image that the task in `folder` wants as a prepared environment. What it holds is asked once, in it.

    Raises `InputError` if the task is at fault, `HostError` if `sandbox` cannot find, build or run it here.
    """
    image = _image(wanted, folder, sandbox)
    python = _known(image, sandbox, cache / "images" / f"{re.sub('[^a-z0-9]', '-', image.id)}.json")
    return PreparedEnvironment(
        key=_key(image, wanted),
        python=None if python.place is None else Path(python.place),
        packages=python.packages,
        image=image.id,
        variables={"PATH": _SYSTEM_PATH, **image.environ},
        runner=(*image.interpreter,),
    )


def image_key(wanted: TaskEnvironment, folder: Path, sandbox: Sandbox) -> str:
    """The key that `image_environment` would give. Raises as that does."""
    return _key(_image(wanted, folder, sandbox), wanted)


def _image(wanted: TaskEnvironment, folder: Path, sandbox: Sandbox) -> SandboxImage:
    if wanted.dockerfile is None:
        assert wanted.image is not None, "the environment has an image"
        return sandbox.find_image(wanted.image)
    path = folder / wanted.dockerfile
    return sandbox.build_image(path.parent, path.name)


def _key(image: SandboxImage, wanted: TaskEnvironment) -> str:
    return hashlib.sha256(json.dumps(["image", image.id, wanted.workspace]).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Python:
    """The image's own Python: where it lies, None if there is none, and its packages: canonical name -> version."""

    place: str | None = None
    packages: dict[str, str] = field(default_factory=dict)


def _known(image: SandboxImage, sandbox: Sandbox, record: Path) -> _Python:
    """What the image holds: an id stands for one content, so it is asked once on this machine."""
    if record.is_file():
        return _Python(**json.loads(record.read_text(encoding="utf-8")))
    found = _asked(image, sandbox)
    record.parent.mkdir(parents=True, exist_ok=True)
    draft = record.with_suffix(f".{threading.get_ident()}")
    draft.write_text(json.dumps(asdict(found)), encoding="utf-8")
    draft.replace(record)
    return found


def _asked(image: SandboxImage, sandbox: Sandbox) -> _Python:
    """The first Python on the image's PATH, and its packages."""
    for name in _NAMES:
        with scratch_folder() as folder:
            evidence = TaskSandbox(sandbox, image.id, None).run(_request(name, image, folder))
            if evidence.start_error is not None:
                continue
            if evidence.exit_code != 0:
                said = evidence.stderr.read_text(errors="replace").strip().splitlines()
                raise InputError(f"the image's {name} does not work: {said[-1] if said else 'it says nothing'}")
            return _Python(**json.loads(evidence.stdout.read_bytes()))
    return _Python()


def _request(name: str, image: SandboxImage, folder: Path) -> SandboxRequest:
    return SandboxRequest(
        argv=(name, "-I", "-B", "-c", _QUESTION),
        environ={"PATH": _SYSTEM_PATH, **image.environ, "HOME": "/nonexistent"},
        cwd="/",
        binds=(),
        stdin=b"",
        stdout=folder / "stdout",
        stderr=folder / "stderr",
        limits=Limits(timeout_seconds=_SECONDS),
        cancelled=threading.Event(),
    )
