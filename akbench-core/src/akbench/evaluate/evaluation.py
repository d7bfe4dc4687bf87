"""Running an evaluator on a tree: fresh folder, own sandbox, no network, report through an inherited descriptor."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from akbench.dataset.environment import PreparedEnvironment
from akbench.dataset.tree import Tree
from akbench.foreign import cause_of
from akbench.sandbox.prepared import environment_binds
from akbench.spec import (
    Bind,
    EvaluationEvidence,
    EvaluationInvocation,
    EvaluationRequest,
    Evaluator,
    InputError,
    JsonValue,
    Judgement,
    Limits,
    Outcome,
    ProcessEvidence,
    Sandbox,
    SandboxRequest,
)

__all__ = ["Evaluation", "evaluate"]

REPORT_LIMIT = 32 << 20
"""Most bytes of a report that are read; what comes after is dropped and the judgement is told so."""
REPORT_FD = 3
DEFAULT_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A judgement and what backs it."""

    judgement: Judgement
    request: EvaluationRequest
    process: ProcessEvidence
    report: bytes
    stdout: Path
    stderr: Path
    duration_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rooms:
    """The folders of one evaluation on the host."""

    workspace: Path
    given: Path | None
    tools: Path
    home: Path
    tmp: Path


def evaluate(
    *,
    tree: Tree,
    hidden_files: tuple[str, ...],
    evaluator: Evaluator,
    config: Mapping[str, JsonValue],
    environment: PreparedEnvironment,
    python_path: tuple[str, ...],
    sandbox: Sandbox,
    scratch: Path,
    cancelled: threading.Event,
    quarantined: tuple[str, ...] = (),
    given: Tree | None = None,
    checks: Mapping[str, bytes] | None = None,
) -> Evaluation:
    """Judge `tree` with `evaluator`, without the `quarantined` tests.

    `given` is what the agent was given, for an evaluator that compares with it; `checks` are the files of the task's
    checks folder. `scratch` is an empty folder; whoever made it removes it.
    """
    rooms = _rooms(scratch, with_given=evaluator.needs_given)
    tree.materialise(rooms.workspace)
    if rooms.given is not None:
        if given is None:
            raise InputError("the evaluator compares with the tree that the agent was given, and here is none")
        given.materialise(rooms.given)
    request = _request(rooms, sandbox, environment, hidden_files, python_path, config, quarantined, checks or {})
    invocation = evaluator.prepare(request)
    for name, content in invocation.files.items():
        (rooms.tools / name).write_bytes(content)
    folders = _folders(invocation.folders, sandbox, scratch / "folders")
    for path in (rooms.workspace, rooms.home, rooms.tmp, *(bind.host for bind in folders)):
        sandbox.own(path)
    binds = (*_binds(rooms, sandbox, environment), *folders)
    process, report = _run(sandbox, request, invocation, binds, scratch, cancelled)
    judgement = _judge(evaluator, request, process, report)
    return Evaluation(
        judgement=judgement,
        request=request,
        process=process,
        report=report[:REPORT_LIMIT],
        stdout=process.stdout,
        stderr=process.stderr,
        duration_seconds=process.duration_seconds,
    )


def _rooms(scratch: Path, *, with_given: bool) -> _Rooms:
    rooms = _Rooms(
        workspace=scratch / "workspace",
        given=scratch / "given" if with_given else None,
        tools=scratch / "tools",
        home=scratch / "home",
        tmp=scratch / "tmp",
    )
    for path in (rooms.workspace, rooms.given, rooms.tools, rooms.home, rooms.tmp):
        if path is not None:
            path.mkdir(parents=True)
    return rooms


def _request(
    rooms: _Rooms,
    sandbox: Sandbox,
    environment: PreparedEnvironment,
    hidden_files: tuple[str, ...],
    python_path: tuple[str, ...],
    config: Mapping[str, JsonValue],
    quarantined: tuple[str, ...],
    checks: Mapping[str, bytes],
) -> EvaluationRequest:
    workspace = sandbox.inside("workspace", rooms.workspace)
    timeout = config.get("timeout_seconds")
    environ = environment.environ(
        home=sandbox.inside("home", rooms.home),
        tmp=sandbox.inside("tmp", rooms.tmp),
        import_path=(os.path.normpath(f"{workspace}/{folder}") for folder in python_path),
    )
    return EvaluationRequest(
        workspace=workspace,
        tools=sandbox.inside("tools", rooms.tools),
        tmp=environ["TMPDIR"],
        python="" if environment.python is None else str(environment.python),
        runner=environment.runner,
        hidden_files=hidden_files,
        environ=environ,
        report_fd=REPORT_FD,
        timeout_seconds=float(timeout) if isinstance(timeout, int | float) else DEFAULT_TIMEOUT_SECONDS,
        config=config,
        quarantined=quarantined,
        given=sandbox.inside("given", rooms.given) if rooms.given else None,
        checks=checks,
    )


def _folders(wanted: Mapping[str, Mapping[str, bytes]], sandbox: Sandbox, root: Path) -> tuple[Bind, ...]:
    """The evaluator's further folders, laid out below `root`."""
    if wanted and sandbox.program_root() is None:
        places = ", ".join(sorted(wanted))
        raise InputError(f"the evaluator needs folders at {places}, which this sandbox cannot show; use another one")
    binds = []
    for number, (inside, files) in enumerate(sorted(wanted.items())):
        folder = root / str(number)
        folder.mkdir(parents=True)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if content.startswith(b"#!") else 0o644)
        binds.append(Bind(host=folder, inside=inside, writable=True))
    return tuple(binds)


def _run(
    sandbox: Sandbox,
    request: EvaluationRequest,
    invocation: EvaluationInvocation,
    binds: tuple[Bind, ...],
    scratch: Path,
    cancelled: threading.Event,
) -> tuple[ProcessEvidence, bytes]:
    reader = _ReportReader()
    try:
        process = sandbox.run(
            SandboxRequest(
                argv=invocation.argv,
                environ=invocation.environ,
                cwd=request.workspace,
                binds=binds,
                stdin=invocation.stdin,
                stdout=scratch / "stdout.log",
                stderr=scratch / "stderr.log",
                limits=Limits(timeout_seconds=request.timeout_seconds),
                cancelled=cancelled,
                report=reader.write_end,
                report_fd=REPORT_FD,
            )
        )
    finally:
        report = reader.finish()
    return process, report


def _binds(rooms: _Rooms, sandbox: Sandbox, environment: PreparedEnvironment) -> tuple[Bind, ...]:
    def bind(name: str, path: Path, *, writable: bool) -> Bind:
        return Bind(host=path, inside=sandbox.inside(name, path), writable=writable)

    return (
        bind("workspace", rooms.workspace, writable=True),
        *((bind("given", rooms.given, writable=False),) if rooms.given else ()),
        bind("tools", rooms.tools, writable=False),
        bind("home", rooms.home, writable=True),
        *environment_binds(environment),
    )


def _judge(evaluator: Evaluator, request: EvaluationRequest, process: ProcessEvidence, report: bytes) -> Judgement:
    if process.start_error is not None:
        return Judgement(outcome=Outcome.INFRASTRUCTURE_ERROR, reason=f"could not start: {process.start_error}")
    if process.exceeded is not None:
        return Judgement(outcome=Outcome.FAILURE, reason=f"the tree's code broke a bound: {process.exceeded}")
    evidence = EvaluationEvidence(
        request=request,
        process=process,
        report=report[:REPORT_LIMIT],
        report_truncated=len(report) > REPORT_LIMIT,
    )
    try:
        return evaluator.judge(evidence)
    except Exception as error:  # noqa: BLE001 - the tested code may have had its hand in what it stumbles over
        reason = f"the evaluator failed on what its check reported: {cause_of(error)}"
        return Judgement(outcome=Outcome.EVALUATOR_ERROR, reason=reason)


class _ReportReader:
    """Drains the report while the check runs, so that a long one cannot block it.

    Sockets, as a pipe can be opened again through /proc and read back: with the key that its first line tells.
    """

    def __init__(self) -> None:
        self._near, self._far = socket.socketpair()
        self.write_end = self._far.fileno()
        self._chunks: list[bytes] = []
        self._size = 0
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while chunk := self._near.recv(1 << 16):
            if self._size <= REPORT_LIMIT:
                self._chunks.append(chunk)
                self._size += len(chunk)

    def finish(self) -> bytes:
        """Close the harness's own end and return what came; every process of the check is gone by now."""
        self._far.close()
        self._thread.join()
        self._near.close()
        return b"".join(self._chunks)
