"""A real run of an agent for its contract tests: the core's own session driver, sandbox, workspace and endpoint."""

from __future__ import annotations

import copy
import functools
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from akbench.dataset.environment import PreparedEnvironment, prepare_environment
from akbench.dataset.tree import FILE, Tree
from akbench.descriptors.agent import AgentPart
from akbench.descriptors.trial import AgentTrial, TrialTask
from akbench.experiment.configuration import complete_configuration
from akbench.experiment.plan import AgentChoice, ModelSource, PlannedTask, Variant
from akbench.project import cache_folder
from akbench.run.adapter_call import bounded
from akbench.run.agent_host import AgentHost
from akbench.run.agent_work import AgentWork, agent_request, make_rooms
from akbench.run.journal import RunFolder
from akbench.run.record import Event, RunSpec, dump_json
from akbench.run.session import Patience, SessionEnd, carry_out
from akbench.sandbox.bubblewrap import BubblewrapSandbox
from akbench.sandbox.endpoint import ModelEndpoint
from akbench.sandbox.local import LocalSandbox
from akbench.spec import (
    AgentOutcome,
    AgentRequest,
    Host,
    Invocation,
    JsonValue,
    Probe,
    ProbeContext,
    ProcessAgent,
    Sandbox,
    SessionAgent,
    SessionStatus,
)
from akbench.testing.contract.world import Residue, World, belongings, differences
from akbench.testing.script import Action, Script, parse_scripts
from akbench.testing.scripted_model import ScriptedModel
from akbench.workspace.snapshot import take_snapshot
from akbench.workspace.worktree import lay_worktree

__all__ = ["AgentLimits", "AgentStage", "Performance", "Result", "environment_with", "sandbox_named"]

_GIVEN = Tree.of({b"README.md": (FILE, b"A folder for contract tests.\n")})
_READ_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """The times of contract tests (seconds).

    - `task`: bound of the quick task. `slow`: the time limit under which the slow task is stopped.
    - `begin`: from the submission to the cancellation. `stop`: the longest an agent may take to stop.
    - `call`: bound of any call of the adapter. `after`: how long the workspace is watched after the session.
    """

    task: float = 60.0
    slow: float = 2.0
    begin: float = 1.0
    stop: float = 10.0
    call: float = 20.0
    after: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSide:
    """What the model's side saw of a run: the requests let through, and the tokens that were answered with."""

    requests: int
    input_tokens: int
    output_tokens: int
    asked: bool


class Result(Enum):
    """What was found of a task's result."""

    ABSENT = "absent"
    DIFFERENT = "different"
    AS_TOLD = "as told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """One run of an agent, as seen from outside.

    - `said`: what `collect_observations` returned; None if it came to no such call. `end`: the corrected account.
    - `error`: what the adapter raised, or how its account is unusable. `faults`: what the run's story says against it.
    - `result`: what was there of the task's result when the agent was said to be done; None for a task without one.
    - `changed`: what was written outside the agent's folders; `tampered`: what of the run's own sources changed.
    - `left`: processes that outlived the session; `later`: what changed in the workspace after it.
    - `waited`: the longest that one wait took beyond what it was told. `submitting`: seconds of the submission.
    - `marks`: everything that the session wrote or said, as bytes.
    """

    word: str
    said: object
    end: SessionEnd | None
    error: Exception | None
    faults: tuple[str, ...]
    result: Result | None
    changed: tuple[str, ...]
    tampered: tuple[str, ...]
    left: tuple[str, ...]
    later: tuple[str, ...]
    waited: float
    submitting: float | None
    status_at_end: object
    grace_seconds: float
    model: ModelSide | None
    marks: bytes = field(repr=False)

    @property
    def outcome(self) -> AgentOutcome | None:
        """The adapter's own account, if it is one."""
        return self.said if isinstance(self.said, AgentOutcome) else None


@functools.cache
def environment_with(requirements: tuple[str, ...] = ()) -> PreparedEnvironment:
    """The prepared environment for contract tests, in the user's cache."""
    release = f"{sys.version_info.major}.{sys.version_info.minor}"
    return prepare_environment(python=release, requirements=requirements, cache=cache_folder())


@functools.cache
def sandbox_named(name: str) -> Sandbox:
    """``local``, ``bubblewrap``, or ``auto`` for the stronger of them that works here."""
    if name == "local":
        return LocalSandbox()
    confined = BubblewrapSandbox()
    return LocalSandbox() if name == "auto" and confined.probe().problems else confined


class AgentStage:
    """Tries one agent. Each kind of run happens once and is remembered."""

    def __init__(
        self,
        agent: SessionAgent[Any],
        part: AgentPart,
        trial: AgentTrial,
        config: Mapping[str, JsonValue],
        world: World,
        sandbox: Sandbox,
        limits: AgentLimits,
    ) -> None:
        self.agent, self.part, self.trial, self.limits = agent, part, trial, limits
        self.config = complete_configuration(part.configuration_schema, {**trial.config, **config})
        self._world = world
        self._sandbox = sandbox if part.execution_type == "process" else LocalSandbox()
        self._count = 0
        self._snapshot = take_snapshot(_GIVEN, world.cache)
        self._given, self._elsewhere = belongings(world.given), belongings(world.elsewhere)

    def declared(self) -> dict[str, str]:
        """The variables of this environment that the descriptor names."""
        return {each.name: os.environ[each.name] for each in self.part.environment if each.name in os.environ}

    @functools.cached_property
    def probe(self) -> Probe:
        """What the adapter finds on this machine."""
        context = ProbeContext(config=self.config, environ=self.declared(), bounded=self._sandbox.bounded)
        return self.agent.probe(context)

    @functools.cached_property
    def quick(self) -> Performance:
        """The task, done."""
        return self._perform(self.trial.task, self.limits.task, look_again_after=self.limits.after)

    @functools.cached_property
    def second(self) -> Performance:
        """The task again, after the first session."""
        _ = self.quick
        return self._perform(self.trial.task, self.limits.task)

    @property
    def can_be_slow(self) -> bool:
        """Whether there is a slow task, or a program that AK-Bench starts and another can stand in for."""
        return self.trial.slow_task is not None or isinstance(self.agent, ProcessAgent)

    @functools.cached_property
    def late(self) -> Performance:
        """The slow task, stopped by its time limit."""
        return self._perform_slowly(self.limits.slow)

    @functools.cached_property
    def cancelled(self) -> Performance:
        """The slow task, cancelled."""
        return self._perform_slowly(self.limits.task, cancel_after=self.limits.begin)

    def _perform_slowly(self, seconds: float, *, cancel_after: float | None = None) -> Performance:
        if self.trial.slow_task is not None:
            return self._perform(self.trial.slow_task, seconds, cancel_after=cancel_after)
        slow = _instead("exec sleep 300")
        return self._perform(self.trial.task, seconds, launch=slow, cancel_after=cancel_after)

    @functools.cached_property
    def broken(self) -> Performance:
        """The task with a program in place of the agent's that breaks at once."""
        return self._perform(self.trial.task, self.limits.task, launch=_instead("echo broken >&2; exit 70"))

    @functools.cached_property
    def crashed(self) -> Performance:
        """The task with a program in place of the agent's that dies by a signal."""
        return self._perform(self.trial.task, self.limits.task, launch=_instead("kill -SEGV $$"))

    @functools.cached_property
    def failed(self) -> Performance:
        """A task that the agent cannot do."""
        assert self.trial.failing_task is not None
        return self._perform(self.trial.failing_task, self.limits.task)

    @contextmanager
    def opened(self) -> Iterator[Callable[[Mapping[str, JsonValue]], None]]:
        """A call that opens a session with a configuration and closes it; it raises what opening does."""
        with self._prepared(self.trial.task, self.config, self.limits.task, "word") as (work, request, folder):
            host = AgentHost(work, request, folder.path, threading.Event(), lambda invocation: invocation)

            def open_and_close(config: Mapping[str, JsonValue]) -> None:
                asked = replace(request, config=copy.deepcopy(dict(config)))
                session = bounded(lambda: self.agent.start_session(asked, host), self.limits.call, "start_session")
                with suppress(Exception):  # closing is another test's question
                    bounded(lambda: self.agent.close_session(session), self.limits.call, "close_session")

            with Residue(), self._world.inhabited():
                try:
                    yield open_and_close
                finally:
                    host.end()

    @contextmanager
    def _prepared(
        self,
        task: TrialTask,
        config: Mapping[str, JsonValue],
        seconds: float,
        word: str,
        on_event: Callable[[Event], None] = lambda _: None,
    ) -> Iterator[tuple[AgentWork, AgentRequest, RunFolder]]:
        self._count += 1
        scratch = self._world.workspaces / f"run-{self._count}"
        scratch.mkdir()
        folder = RunFolder(self._world.runs / f"run-{self._count}", on_event)
        with _endpoint(task, word) as endpoint:
            work = self._work(task, config, seconds, word, scratch, endpoint)
            folder.begin(work.spec)
            yield work, agent_request(work), folder

    def _work(
        self,
        task: TrialTask,
        config: Mapping[str, JsonValue],
        seconds: float,
        word: str,
        scratch: Path,
        endpoint: ModelEndpoint | None,
    ) -> AgentWork:
        sandbox, environment = self._sandbox, environment_with()
        worktree = lay_worktree(
            self._snapshot,
            scratch,
            inside_workspace=sandbox.inside("workspace", scratch / "workspace"),
            inside_repository=sandbox.inside("repository", scratch / "repo.git"),
        )
        capabilities = {name: str(support) for name, support in self.part.capabilities.items()}
        return AgentWork(
            spec=_run_spec(self.part, config, task.prompt.replace("{word}", word), seconds, capabilities, endpoint),
            agent=self.agent,
            config=config,
            sandbox=sandbox,
            environment=environment,
            worktree=worktree,
            rooms=make_rooms(scratch),
            endpoint=endpoint,
            python_path=(".",),
            declared=self.declared(),
            reference_patch=_REFERENCE if self.part.receives_reference_solution else None,
        )

    def _perform(
        self,
        task: TrialTask,
        seconds: float,
        *,
        launch: Callable[[Invocation], Invocation] = lambda invocation: invocation,
        cancel_after: float | None = None,
        look_again_after: float = 0.0,
    ) -> Performance:
        word = f"w{secrets.token_hex(6)}"
        events: list[Event] = []
        cancelled = threading.Event()
        config = copy.deepcopy({**self.config, **task.config})
        with self._prepared(task, config, seconds, word, events.append) as (prepared, request, folder):
            spy = _Spy(
                self.agent, cancelled, cancel_after, functools.partial(_result, task, prepared.worktree.workspace, word)
            )
            work = replace(prepared, agent=spy)
            host = AgentHost(work, request, folder.path, cancelled, launch)
            end, error = None, None
            with Residue() as residue, self._world.inhabited():
                try:
                    patience = Patience(call=self.limits.call, cancel=self.limits.stop)
                    end = carry_out(work, request, host, cancelled, folder, patience)
                except Exception as fault:  # noqa: BLE001 - whatever an adapter raises is what a test asks about
                    error = fault
                at_close = belongings((work.worktree.workspace,))
                marks = _marks(work, folder.path, spy.said)
            time.sleep(look_again_after)
            return Performance(
                word=word,
                said=spy.said,
                end=end,
                error=error,
                faults=tuple(event.text for event in events if event.kind == "adapter_fault"),
                result=spy.result,
                changed=differences(self._elsewhere, belongings(self._world.elsewhere)),
                tampered=(
                    *differences(self._given, belongings(self._world.given)),
                    *_config_changes(config, self, task),
                ),
                left=residue.processes,
                later=differences(at_close, belongings((work.worktree.workspace,))),
                waited=spy.overrun,
                submitting=spy.submitting,
                status_at_end=spy.status_at_end,
                grace_seconds=host.grace_seconds,
                model=_model_side(work.endpoint),
                marks=marks,
            )


def _config_changes(config: Mapping[str, JsonValue], stage: AgentStage, task: TrialTask) -> tuple[str, ...]:
    return () if config == {**stage.config, **task.config} else ("the configuration that it was given",)


_REFERENCE = (
    b"diff --git a/result.txt b/result.txt\nnew file mode 100644\nindex 0000000..19f86f4\n"
    b"--- /dev/null\n+++ b/result.txt\n@@ -0,0 +1 @@\n+done\n"
)
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _instead(script: str) -> Callable[[Invocation], Invocation]:
    return lambda invocation: replace(invocation, argv=("sh", "-c", script))


def _run_spec(
    part: AgentPart,
    config: Mapping[str, JsonValue],
    prompt: str,
    seconds: float,
    capabilities: Mapping[str, str],
    endpoint: ModelEndpoint | None,
) -> RunSpec:
    model = ModelSource(kind="scripted model") if endpoint else None
    choice = AgentChoice(
        id="contract",
        version="1.0.0",
        adapter=part.adapter,
        config=config,
        model=model,
        receives_reference_solution=part.receives_reference_solution,
        needs_model=part.needs_model,
        execution_type=part.execution_type,
    )
    task = PlannedTask(
        id="contract",
        version="1.0.0",
        title="contract test",
        category="contract",
        difficulty="easy",
        dataset="contract",
        folder="contract",
        digest="",
        description=prompt,
    )
    return RunSpec(
        experiment_id="contract",
        run_id="contract",
        repetition=1,
        variant=Variant(id="contract", name="contract", values={}, agent=choice, config_hash=""),
        task=task,
        dataset="contract",
        dataset_version="1.0.0",
        dataset_hash="",
        tree=_GIVEN.id,
        commit="",
        environment=environment_with().key,
        python_version="",
        evaluator="",
        evaluator_version="",
        sandbox="",
        sandbox_facts={},
        agent_version=None,
        agent_facts={},
        agent_capabilities=capabilities,
        descriptors={},
        extensions={},
        timeout_seconds=seconds,
        prompt=prompt,
        environment_variables={},
        host={},
        created_at=_NOW,
    )


class _Endpoint(ModelEndpoint):
    """The real relay, in front of a scripted model whose answers are known."""

    def __init__(self, model: ScriptedModel, script: Script, socket: Path) -> None:
        super().__init__(model.base_url, None, socket)
        self._model, self._script = model, script

    def side(self) -> ModelSide:
        """What went over it."""
        answered = [
            self._script.steps[record.step].usage
            for record in self._model.requests
            if record.step is not None and self._script.steps[record.step].action is not Action.FAIL
        ]
        return ModelSide(
            requests=self.requests,
            input_tokens=sum(usage.input_tokens for usage in answered),
            output_tokens=sum(usage.output_tokens for usage in answered),
            asked=any(record.step is not None for record in self._model.requests),
        )


@contextmanager
def _endpoint(task: TrialTask, word: str) -> Iterator[_Endpoint | None]:
    """The task's scripted model behind a relay; it answers only to a prompt that holds `word`."""
    if task.model is None:
        yield None
        return
    text = dump_json({"schema_version": "1.0", "scripts": [{"match": word, "steps": _filled(list(task.model), word)}]})
    (script,) = parse_scripts(text.decode(), source="trial")
    with ScriptedModel([script]) as model, tempfile.TemporaryDirectory(prefix="akbench-") as folder:
        Path(folder).chmod(0o755)
        with _Endpoint(model, script, Path(folder) / "model.sock") as endpoint:
            yield endpoint


def _filled(value: Any, word: str) -> Any:
    if isinstance(value, str):
        return value.replace("{word}", word)
    if isinstance(value, Mapping):
        return {key: _filled(each, word) for key, each in value.items()}
    return [_filled(each, word) for each in value] if isinstance(value, list | tuple) else value


def _model_side(endpoint: ModelEndpoint | None) -> ModelSide | None:
    return endpoint.side() if isinstance(endpoint, _Endpoint) else None


def _result(task: TrialTask, workspace: Path, word: str) -> Result | None:
    if task.result is None:
        return None
    path = workspace / task.result.path
    if path.is_symlink() or not path.is_file():
        return Result.ABSENT
    as_told = task.result.contains.replace("{word}", word) in path.read_text(errors="replace")
    return Result.AS_TOLD if as_told else Result.DIFFERENT


def _marks(work: AgentWork, folder: Path, said: object) -> bytes:
    """Everything a session left behind, to look for another session's word in it."""
    found = [repr(said).encode()]
    for root in (work.worktree.workspace, work.rooms.home, work.rooms.state, work.rooms.tmp, folder):
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.name != "manifest.json":
                with path.open("rb") as file:
                    found.append(file.read(_READ_BYTES))
    return b"\n".join(found)


class _Spy(SessionAgent[Any]):
    """Passes every call on to the adapter and remembers what came of it."""

    def __init__(
        self,
        agent: SessionAgent[Any],
        cancelled: threading.Event,
        cancel_after: float | None,
        look: Callable[[], Result | None],
    ) -> None:
        self._agent, self._cancelled, self._cancel_after, self._look = agent, cancelled, cancel_after, look
        self.result: Result | None = None
        self.said: object = None
        self.overrun = 0.0
        self.submitting: float | None = None
        self.status_at_end: object = None

    def probe(self, context: ProbeContext) -> Probe:
        return self._agent.probe(context)

    def start_session(self, request: AgentRequest, host: Host) -> Any:
        return self._agent.start_session(request, host)

    def submit_task(self, session: Any, prompt: str) -> None:
        begun = time.monotonic()
        self._agent.submit_task(session, prompt)
        self.submitting = time.monotonic() - begun
        if self._cancel_after is not None:
            timer = threading.Timer(self._cancel_after, self._cancelled.set)
            timer.daemon = True
            timer.start()

    def wait_for_completion(self, session: Any, seconds: float) -> bool:
        begun = time.monotonic()
        finished = self._agent.wait_for_completion(session, seconds)
        self.overrun = max(self.overrun, time.monotonic() - begun - seconds)
        return finished

    def get_status(self, session: Any) -> SessionStatus:
        return self._agent.get_status(session)

    def cancel(self, session: Any) -> None:
        self._agent.cancel(session)

    def collect_observations(self, session: Any) -> AgentOutcome:
        self.result = self._look()
        self.status_at_end = self._agent.get_status(session)
        self.said = said = self._agent.collect_observations(session)
        return said

    def close_session(self, session: Any) -> None:
        self._agent.close_session(session)
