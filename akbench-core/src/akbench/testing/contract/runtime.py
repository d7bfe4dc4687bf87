"""The contract of runtimes: an instance of its own for each run, configured as asked, and gone afterwards."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

import pytest

from akbench.descriptors.runtime import RuntimePart
from akbench.descriptors.trial import RuntimeTrial
from akbench.experiment.configuration import complete_configuration, configuration_faults
from akbench.experiment.plan import RuntimeChoice
from akbench.run.adapter_call import bounded
from akbench.run.journal import RunFolder
from akbench.run.runtime_work import ReadyRuntime, RuntimeHost, RuntimeWork, running_runtime
from akbench.spec import (
    ConfigState,
    Health,
    Host,
    Invocation,
    JsonValue,
    Probe,
    ProbeContext,
    ProviderAccess,
    RunningProcess,
    Runtime,
    RuntimeRecord,
    RuntimeRequest,
    RuntimeState,
    VerificationStatus,
)
from akbench.testing.contract.checks import Described, check_probe
from akbench.testing.contract.contract import raised_by, refused, skip_absent, skip_untold, worded, wrong_values
from akbench.testing.contract.world import Residue, World, belongings, differences

__all__ = ["RuntimeContract", "RuntimeLimits"]

_POLL_SECONDS = 0.05
_OTHER = "a value that nobody asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeLimits:
    """The times of contract tests (seconds): of any call, of a start, and until a stopped instance is gone."""

    call: float = 20.0
    start: float = 60.0
    stop: float = 10.0


class _SpyHost(Host):
    """Passes starts on and remembers the processes."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.workspace, self.home, self.state = host.workspace, host.home, host.state
        self.processes: list[RunningProcess] = []

    def start(self, invocation: Invocation) -> RunningProcess:
        self.processes.append(self._host.start(invocation))
        return self.processes[-1]

    def ended_within(self, seconds: float) -> bool:
        """Whether all processes are over in time."""
        give_up = time.monotonic() + seconds
        return all(process.wait(max(0.0, give_up - time.monotonic())) is not None for process in self.processes)


class _Spy(Runtime[Any]):
    """Passes every call on to the adapter, and looks whether `stop` stops."""

    def __init__(self, runtime: Runtime[Any], limits: RuntimeLimits) -> None:
        self.runtime, self._limits = runtime, limits
        self.host: _SpyHost | None = None
        self.ended: bool | None = None
        self.stop_error: BaseException | None = None

    def probe(self, context: ProbeContext) -> Probe:
        return self.runtime.probe(context)

    def start(self, request: RuntimeRequest, host: Host) -> Any:
        self.host = _SpyHost(host)
        return self.runtime.start(request, self.host)

    def healthcheck(self, instance: Any) -> Health:
        return self.runtime.healthcheck(instance)

    def read_configuration(self, instance: Any) -> Mapping[str, JsonValue]:
        return self.runtime.read_configuration(instance)

    def verify_configuration(self, instance: Any, expected: Mapping[str, JsonValue]) -> tuple[ConfigState, ...]:
        return self.runtime.verify_configuration(instance, expected)

    def collect_runtime_state(self, instance: Any) -> RuntimeState:
        return self.runtime.collect_runtime_state(instance)

    def stop(self, instance: Any) -> None:
        stop = partial(self.runtime.stop, instance)
        self.stop_error = raised_by(lambda: bounded(stop, self._limits.call, "stop"))
        if self.host is not None and self.stop_error is None:
            self.ended = self.host.ended_within(self._limits.stop)

    def model_url(self, instance: Any) -> str | None:
        return self.runtime.model_url(instance)

    def launch(self, instance: Any, invocation: Invocation) -> Invocation:
        return self.runtime.launch(instance, invocation)


@dataclass(kw_only=True)
class _Seen:
    """One instance from its start to its stop, and everything that was asked of it."""

    error: BaseException | None = None
    states: tuple[ConfigState, ...] = ()
    found: Mapping[str, JsonValue] = field(default_factory=dict)
    altered: Mapping[str, object] = field(default_factory=dict)
    state: object = None
    missing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    model_url: str | None = None
    reached: bool = False
    launched: object = None
    ended: bool | None = None
    stop_error: BaseException | None = None
    left: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Dead:
    """What is said of an instance whose processes were killed; `had` is whether it had any."""

    had: bool
    health: object = None
    health_error: BaseException | None = None
    found: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(kw_only=True)
class _Pair:
    """Two instances at once: what each said of its configuration, and whether one outlived the other's stop."""

    first: Mapping[str, JsonValue] = field(default_factory=dict)
    second: Mapping[str, JsonValue] = field(default_factory=dict)
    outlived: Health | None = None
    error: BaseException | None = None


@dataclass(kw_only=True)
class _Stage:
    """Starts instances; each kind once."""

    runtime: Runtime[Any]
    part: RuntimePart
    trial: RuntimeTrial
    config: Mapping[str, JsonValue]
    provider: ProviderAccess | None
    world: World
    limits: RuntimeLimits
    count: int = 0

    def declared(self) -> dict[str, str]:
        """The variables of this environment that the descriptor names."""
        return {each.name: os.environ[each.name] for each in self.part.environment if each.name in os.environ}

    @cached_property
    def probe(self) -> Probe:
        """What the adapter finds on this machine."""
        return self.runtime.probe(ProbeContext(config=self.config, environ=self.declared(), bounded=True))

    @cached_property
    def seen(self) -> _Seen:
        """One instance."""
        seen, spy = _Seen(), _Spy(self.runtime, self.limits)
        before = belongings((*self.world.elsewhere, *self.world.given))
        with Residue() as residue, self.world.inhabited():
            seen.error = raised_by(lambda: self._look(seen, spy))
        seen.ended, seen.stop_error, seen.left = spy.ended, spy.stop_error, residue.processes
        seen.changed = differences(before, belongings((*self.world.elsewhere, *self.world.given)))
        return seen

    def _look(self, seen: _Seen, spy: _Spy) -> None:
        with self._running(spy, self.config) as work:
            seen.states = work.config
            seen.found = spy.read_configuration(work.instance)
            seen.altered = {key: self._altered(spy, work, key) for key in seen.found}
            seen.launched = work.launch(Invocation(argv=("true",)))
            seen.model_url = work.model_url
            seen.reached = seen.model_url is not None and _answers(seen.model_url)
            work.observe()
            seen.state, seen.faults = work.state, tuple(work.faults)
            assert spy.host is not None
            if isinstance(work.state, RuntimeState):
                state = spy.host.state
                seen.missing = tuple(each.path for each in work.state.artifacts if not (state / each.path).is_file())

    @staticmethod
    def _altered(spy: _Spy, work: RuntimeWork, key: str) -> object:
        """What is said of a key when another value is expected."""
        states = {state.key: state.status for state in spy.verify_configuration(work.instance, {key: _OTHER})}
        return states.get(key)

    @cached_property
    def dead(self) -> _Dead:
        """An instance whose processes were killed."""
        host = RuntimeHost(self._scratch(), threading.Event())
        spy_host = _SpyHost(host)
        request = RuntimeRequest(
            config=self.config, port=_free_port(), provider=self.provider, declared=self.declared()
        )
        with Residue(), self.world.inhabited():
            try:
                instance = bounded(lambda: self.runtime.start(request, spy_host), self.limits.call, "start")
                self._await_health(instance)
            finally:
                host.end()
            dead = _Dead(had=bool(spy_host.processes))
            dead.health_error = raised_by(lambda: setattr(dead, "health", self.runtime.healthcheck(instance)))
            raised_by(lambda: setattr(dead, "found", self.runtime.read_configuration(instance)))
            raised_by(lambda: self.runtime.stop(instance))
        return dead

    def _await_health(self, instance: Any) -> None:
        give_up = time.monotonic() + self.limits.start
        while time.monotonic() < give_up and not self.runtime.healthcheck(instance).ok:
            time.sleep(_POLL_SECONDS)

    @cached_property
    def pair(self) -> _Pair:
        """Two instances at once."""
        pair = _Pair()
        with Residue(), self.world.inhabited():
            pair.error = raised_by(lambda: self._look_at_both(pair))
        return pair

    def _look_at_both(self, pair: _Pair) -> None:
        first, second = _Spy(self.runtime, self.limits), _Spy(self.runtime, self.limits)
        with self._running(first, self.config) as one:
            with self._running(second, {**self.config, **self.trial.other_config}) as two:
                pair.first = first.read_configuration(one.instance)
                pair.second = second.read_configuration(two.instance)
            pair.outlived = first.healthcheck(one.instance)

    def start_with(self, config: Mapping[str, JsonValue]) -> BaseException | None:
        """What starting with `config` raises; whatever was started is ended."""
        host = RuntimeHost(self._scratch(), threading.Event())
        request = RuntimeRequest(config=config, port=_free_port(), provider=self.provider, declared=self.declared())
        with Residue(), self.world.inhabited():
            try:
                return raised_by(lambda: bounded(lambda: self.runtime.start(request, host), self.limits.call, "start"))
            finally:
                host.end()

    @contextmanager
    def _running(self, spy: _Spy, config: Mapping[str, JsonValue]) -> Iterator[RuntimeWork]:
        choice = RuntimeChoice(id="contract", version="1.0.0", type=self.part.type, adapter="contract", config=config)
        ready = ReadyRuntime(
            choice=choice,
            runtime=spy,
            declared=self.declared(),
            call_seconds=self.limits.call + self.limits.stop,
            start_seconds=self.limits.start,
        )
        folder = RunFolder(self.world.runs / f"run-{self.count}")
        folder.path.mkdir()
        scratch = self._scratch()
        with running_runtime(ready, config, self.provider, scratch, folder, threading.Event()) as work:
            yield work

    def _scratch(self) -> Path:
        self.count += 1
        return self.world.workspaces / f"runtime-{self.count}"


class RuntimeContract(Described):
    """Subclass it with a name that begins with ``Test`` and say in `descriptor` where the runtime's descriptor lies.

    What it is tried with is the descriptor's ``trial``; the fixtures `config` and `provider` say what is known only
    when the test runs.
    """

    record_kind = RuntimeRecord
    contract_kind = Runtime
    limits: ClassVar[RuntimeLimits] = RuntimeLimits()

    @pytest.fixture
    def config(self) -> Mapping[str, JsonValue]:
        """Configuration beside the trial's."""
        return {}

    @pytest.fixture
    def provider(self) -> ProviderAccess | None:
        """What answers the model requests that pass through; for a router an address where nobody does."""
        is_router = self.snapshot().model.runtime.type == "router"
        return ProviderAccess(base_url=f"http://127.0.0.1:{_free_port()}", key=None) if is_router else None

    @pytest.fixture
    def whole(self, config: Mapping[str, JsonValue], provider: ProviderAccess | None) -> _Stage:
        """The runtime on its stage, whether or not it can run here."""
        cls = type(self)
        if cls._stage is None:
            part = cast("RuntimePart", self.snapshot().model.runtime)
            trial = (part.trial or RuntimeTrial()) if cls.trial is None else RuntimeTrial.model_validate(cls.trial)
            cls._stage = _Stage(
                runtime=self.built(),
                part=part,
                trial=trial,
                config=complete_configuration(part.configuration_schema, {**trial.config, **config}),
                provider=provider,
                world=self.world(),
                limits=self.limits,
            )
        return cast("_Stage", cls._stage)

    @pytest.fixture
    def stage(self, whole: _Stage) -> _Stage:
        """The runtime on its stage; skips where the real one is not installed."""
        skip_absent(whole.probe)
        return whole

    def test_the_probe_answers(self, whole: _Stage) -> None:
        """`probe` returns a `Probe`; a problem names its mend, and what needs the runtime is skipped then."""
        check_probe(whole.probe)
        skip_absent(whole.probe)

    def test_an_instance_starts_and_becomes_well(self, stage: _Stage) -> None:
        """With the trial's configuration, which keeps to the schema, an instance starts and says that it is well, also
        after its work.
        """
        assert configuration_faults("the trial", stage.part.configuration_schema, stage.config) == []
        assert stage.seen.error is None
        assert stage.seen.faults == ()

    def test_a_wrong_configuration_is_refused_with_a_message(self, stage: _Stage) -> None:
        """What the trial calls wrong is refused by `start` with an `InputError`; a value of another type or a missing
        key leads to no other error than an `InputError` or a `HostError`.
        """
        for wrong in stage.trial.wrong:
            error = stage.start_with({**stage.config, **wrong})
            assert refused(error), f"{wrong} must be refused with an InputError, not {error!r}"
        for wrong in wrong_values(stage.part.configuration_schema, stage.config):
            error = stage.start_with(wrong)
            assert worded(error), f"{wrong} must be refused with an InputError, not {error!r}"

    def test_the_configuration_is_read_back(self, stage: _Stage) -> None:
        """Every key that the trial calls verified is read from the running instance as it was asked for, and no key
        differs.
        """
        states = {state.key: state for state in _well(stage).states}
        assert [key for key, state in states.items() if state.status is VerificationStatus.MISMATCH] == []
        for key in stage.trial.verified:
            assert states[key].status is VerificationStatus.VERIFIED
            assert states[key].effective == stage.config[key]

    def test_a_difference_is_noticed(self, stage: _Stage) -> None:
        """`verify_configuration` calls a key that is not as expected a mismatch."""
        wrong = {key: status for key, status in _well(stage).altered.items() if status != VerificationStatus.MISMATCH}
        assert wrong == {}

    def test_health_is_asked_of_the_instance(self, stage: _Stage) -> None:
        """An instance whose processes were killed is not called well. Skipped for a runtime without processes."""
        dead = _killed(stage)
        assert dead.health_error is not None or (isinstance(dead.health, Health) and not dead.health.ok)

    def test_the_configuration_is_asked_of_the_instance(self, stage: _Stage) -> None:
        """Of an instance whose processes were killed no configuration is told. Skipped for a runtime without
        processes.
        """
        assert dict(_killed(stage).found) == {}

    def test_instances_do_not_share(self, stage: _Stage) -> None:
        """Two instances at once each have their own configuration, and one goes on when the other is stopped."""
        _well(stage)
        pair = stage.pair
        assert pair.error is None
        for key, value in stage.trial.other_config.items():
            if key in pair.first or key in pair.second:
                assert (pair.first.get(key), pair.second.get(key)) == (stage.config.get(key), value)
        assert pair.outlived is not None
        assert pair.outlived.ok, f"it ended with another instance: {pair.outlived.detail}"

    def test_what_it_did_is_collected(self, stage: _Stage) -> None:
        """`collect_runtime_state` returns a `RuntimeState`: times with a zone, and artifacts that are there."""
        state = _well(stage).state
        assert isinstance(state, RuntimeState)
        assert [event for event in state.events if event.at is not None and event.at.utcoffset() is None] == []
        assert stage.seen.missing == ()

    def test_an_agent_can_be_carried(self, stage: _Stage) -> None:
        """`launch` returns an invocation; `model_url`, if there is one, is an http address of loopback that answers."""
        seen = _well(stage)
        assert isinstance(seen.launched, Invocation)
        assert seen.launched.argv
        if seen.model_url is not None:
            url = urlsplit(seen.model_url)
            assert (url.scheme, url.hostname) == ("http", "127.0.0.1")
            assert seen.reached, f"nobody answers at {seen.model_url}"

    def test_stopping_ends_it(self, stage: _Stage) -> None:
        """`stop` returns, and the instance's processes are over soon."""
        seen = _well(stage)
        assert seen.stop_error is None
        assert seen.ended is not False, "stop left it running"

    def test_nothing_is_left(self, stage: _Stage) -> None:
        """No process outlives the instance, daemons included."""
        assert stage.seen.left == ()

    def test_files_stay_in_its_folders(self, stage: _Stage) -> None:
        """Nothing is written to the harness's folders, the dataset or the cache."""
        assert stage.seen.changed == ()


def _well(stage: _Stage) -> _Seen:
    """Skips where the instance did not come up: another test says so."""
    if stage.seen.error is not None:
        skip_untold("the instance did not start, or one of its answers failed")
    return stage.seen


def _killed(stage: _Stage) -> _Dead:
    _well(stage)
    if not stage.dead.had:
        pytest.skip("the runtime starts no process of its own")
    return stage.dead


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((str(parts.hostname), parts.port or 80), 2.0):
            return True
    except OSError:
        return False
