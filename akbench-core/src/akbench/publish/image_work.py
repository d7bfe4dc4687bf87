"""Work in the image of a task that is being made: taking the repository out of it, and running its solution."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from akbench.dataset.directory import read_directory
from akbench.dataset.source import without_losses
from akbench.dataset.tree import LINK, Tree
from akbench.descriptors.task import TaskEnvironment
from akbench.sandbox.task_image import TaskSandbox
from akbench.spec import (
    Bind,
    HostError,
    ImportedImage,
    InputError,
    Limits,
    ProcessEvidence,
    Sandbox,
    SandboxImage,
    SandboxRequest,
    SolutionScript,
)

__all__ = ["ImageWork"]

_COPY_SECONDS = 300.0
_LAST_LINES = 3
_COPY = """
import shutil, sys
source, target = sys.argv[1:]
def left_out(folder, names):
    return [".git"] if folder == source else []
shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=left_out)
"""


class ImageWork:
    """The image of one task in a sandbox; `scratch` is a new folder for what is built, copied and run.

    Raises `HostError` if it cannot be had here, `InputError` if no task can run in it.
    """

    def __init__(self, wanted: ImportedImage, sandbox: Callable[[], Sandbox], scratch: Path) -> None:
        self._scratch = scratch
        scratch.mkdir(parents=True)
        try:
            self._sandbox = sandbox()
            self._image = self._found(wanted)
        except HostError as error:
            raise HostError(f"it needs its image: {error}") from error
        try:  # the descriptor's own rule, met before anything is written by it
            TaskEnvironment.model_validate({"image": self._image.id, "workspace": self.workspace})
        except ValidationError as error:
            raise InputError(f"its image begins in {self.workspace}, which cannot be the repository's place") from error

    @property
    def workspace(self) -> str:
        """The folder in which processes begin in it."""
        return self._image.workdir.rstrip("/") or "/"

    def _found(self, wanted: ImportedImage) -> SandboxImage:
        if wanted.reference is not None:
            return self._sandbox.find_image(wanted.reference)
        context = self._scratch / "environment"
        _lay(context, wanted.files)
        return self._sandbox.build_image(context, wanted.dockerfile)

    def repository(self) -> Tree:
        """What lies in its folder. Raises `InputError` if that is no tree that a task can have."""
        target = self._scratch / "tree"
        target.mkdir(parents=True)
        sandbox = TaskSandbox(self._sandbox, self._image.id, None)
        sandbox.own(target)
        inside = sandbox.inside("tree", target)
        argv = (*self._image.interpreter, "-I", "-S", "-c", _COPY, self.workspace, inside)
        evidence = self._run(
            sandbox, argv, (Bind(host=target, inside=inside, writable=True),), {}, "/", seconds=_COPY_SECONDS
        )
        _require(evidence, f"{self.workspace} cannot be taken out of the image")
        return _plain(target)

    def solved(self, given: Tree, script: SolutionScript) -> Tree:
        """What the solution makes of `given`. Raises `InputError` if it fails here."""
        workspace, place = self._scratch / "workspace", self._scratch / "solution"
        given.materialise(workspace)
        _lay(place, script.files)
        sandbox = TaskSandbox(self._sandbox, self._image.id, self.workspace)
        for path in (workspace, place):
            sandbox.own(path)
        binds = (
            Bind(host=workspace, inside=self.workspace, writable=True),
            Bind(host=place, inside=script.place, writable=True),
        )
        evidence = self._run(
            sandbox, script.argv, binds, script.environ, self.workspace, seconds=script.timeout_seconds
        )
        _require(evidence, "its solution fails here, without network, as a user that is not root")
        return _plain(workspace)

    def _run(
        self,
        sandbox: Sandbox,
        argv: tuple[str, ...],
        binds: tuple[Bind, ...],
        environ: Mapping[str, str],
        cwd: str,
        *,
        seconds: float,
    ) -> ProcessEvidence:
        home = self._scratch / "home"
        home.mkdir(exist_ok=True)
        sandbox.own(home)
        inside = sandbox.inside("home", home)
        return sandbox.run(
            SandboxRequest(
                argv=argv,
                environ={"LANG": "C.UTF-8", **self._image.environ, "HOME": inside, **environ},
                cwd=cwd,
                binds=(*binds, Bind(host=home, inside=inside, writable=True)),
                stdin=b"",
                stdout=self._scratch / "stdout",
                stderr=self._scratch / "stderr",
                limits=Limits(timeout_seconds=seconds),
                cancelled=threading.Event(),
            )
        )


def _lay(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if content.startswith(b"#!") else 0o644)


def _require(evidence: ProcessEvidence, what: str) -> None:
    if evidence.exit_code == 0:
        return
    said = evidence.stderr.read_text(errors="replace").strip().splitlines()[-_LAST_LINES:]
    ending = "out of time" if evidence.timed_out else evidence.exceeded or f"exit code {evidence.exit_code}"
    raise InputError(f"{what} ({evidence.start_error or ending}): {'; '.join(said) or 'nothing on standard error'}")


def _plain(folder: Path) -> Tree:
    tree = without_losses(read_directory(folder), folder.name)
    link = next((path for path, entry in tree.entries.items() if entry.mode == LINK), None)
    if link is not None:
        raise InputError(f"{link.decode(errors='replace')} is a symbolic link, which no dataset may hold")
    return tree
