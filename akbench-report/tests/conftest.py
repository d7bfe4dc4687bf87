"""Experiments made by hand, and a store that holds them in memory with their artifacts really on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from akbench.run.lifecycle import RunState
from akbench.spec import (
    ConfigState,
    InputError,
    Outcome,
    Reading,
    TestResult,
    TestRole,
    VerificationStatus,
    unavailable,
)
from akbench.store.query import Store
from akbench.store.view import (
    ArtifactView,
    EventView,
    ExperimentView,
    RunView,
    TaskView,
    ToolCallView,
    VariantView,
)
from akbench_report.site import write_report

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class MemoryStore(Store):
    """What the laboratory made, read through the store's interface."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        self.experiments: dict[str, ExperimentView] = {}
        self.event_lists: dict[tuple[str, str], tuple[EventView, ...]] = {}
        self.call_lists: dict[tuple[str, str], tuple[ToolCallView, ...]] = {}
        self.diffs: dict[tuple[str, str], str] = {}

    def experiment_ids(self) -> tuple[str, ...]:
        return tuple(self.experiments)

    def experiment(self, experiment_id: str) -> ExperimentView:
        if experiment_id not in self.experiments:
            raise InputError(f"no experiment {experiment_id}; known: {', '.join(self.experiments)}")
        return self.experiments[experiment_id]

    def events(self, run: RunView) -> tuple[EventView, ...]:
        return self.event_lists.get((run.experiment_id, run.id), ())

    def tool_calls(self, run: RunView) -> tuple[ToolCallView, ...]:
        return self.call_lists.get((run.experiment_id, run.id), ())

    def diff(self, run: RunView, limit: int = 400_000) -> str | None:
        text = self.diffs.get((run.experiment_id, run.id))
        return None if text is None else text[:limit]


def make_task(name: str = "bugfix-001", **changes: Any) -> TaskView:
    """A task; `changes` are its fields."""
    task = TaskView(
        id=name,
        version="1.0.0",
        title=f"Mend {name}",
        category="bug_fix",
        difficulty="easy",
        dataset="example 1.0.0",
        description="The function is wrong.",
    )
    return replace(task, **changes)


def make_variant(name: str = "codex", **changes: Any) -> VariantView:
    """A variant; `changes` are its fields."""
    variant = VariantView(
        id=f"v-{name}",
        name=name,
        values={"agent": name, "reasoning_effort": None},
        agent_id=name,
        agent_version="0.171.0",
        agent_config={"model": "model-a"},
        config_hash=hashlib.sha256(name.encode()).hexdigest(),
        is_baseline=False,
        is_control=False,
    )
    return replace(variant, **changes)


_ENDS: dict[str, tuple[RunState, Outcome | None, bool | None, str | None]] = {
    "solved": (RunState.COMPLETED, Outcome.FULL_SUCCESS, True, None),
    "unsolved": (RunState.COMPLETED, Outcome.FAILURE, False, "1 of 2 target tests failed"),
    "timeout": (RunState.TIMEOUT, None, False, "the agent was stopped after 300 s"),
    "infrastructure": (RunState.INFRASTRUCTURE_ERROR, None, None, "the provider answered 500"),
    "cancelled": (RunState.CANCELLED, None, None, "interrupted by the user"),
    "failed": (RunState.FAILED, None, False, "the agent ended with exit code 3"),
    "unfinished": (RunState.EXECUTING, None, None, None),
    "unclassified": (RunState.COMPLETED, None, None, "the evidence does not tell"),
}


def make_run(name: str = "run-0001", end: str = "solved", **changes: Any) -> RunView:
    """A run that ended like `end` (a key of `_ENDS`); `changes` are its fields."""
    state, outcome, solved, reason = _ENDS[end]
    run = RunView(
        id=name,
        experiment_id="exp-0001",
        variant_id="v-codex",
        task_id="bugfix-001",
        repetition=1,
        state=state,
        interrupted=end == "unfinished",
        outcome=outcome,
        solved=solved,
        reason=reason,
        started_at=START,
        finished_at=None if end == "unfinished" else START + timedelta(seconds=83.4),
        agent_version="0.171.0",
        session_id="5f0e",
        final_message="Done.",
        model_source="scripted model",
        sandbox="bubblewrap",
        metrics={
            "execution_time": Reading(value=61.25, source="the harness's clock"),
            "input_tokens": Reading(value=12_400, source="rollout files"),
            "output_tokens": Reading(value=730, source="rollout files"),
            "total_cost": unavailable("no price is known for the model"),
        },
        config=(
            ConfigState(
                key="model",
                requested="model-a",
                configured="model-a",
                status=VerificationStatus.UNVERIFIED,
                source="the adapter's own request",
            ),
        ),
        tests=(
            TestResult(
                id="tests/test_take.py::test_take",
                role=TestRole.TARGET,
                status="passed",
                duration_seconds=0.1,
            ),
            TestResult(id="tests/test_all.py::test_x", role=TestRole.REGRESSION, status="passed"),
        ),
        touched_protected=(),
        oddities=(),
        artifacts=(),
    )
    return replace(run, **changes)


def make_experiment(name: str = "exp-0001", **changes: Any) -> ExperimentView:
    """An experiment; `changes` are its fields."""
    experiment = ExperimentView(
        id=name,
        descriptor_id="demo",
        descriptor_version="1.0.0",
        title="Codex, controls and a command",
        status="valid_with_warnings",
        status_reasons=("the model that answered could not be observed",),
        labels=("scripted model",),
        created_at=START,
        finished_at=START + timedelta(minutes=9),
        dataset_id="example",
        dataset_version="1.0.0",
        dataset_hash="ab" * 32,
        repetitions=1,
        descriptor='schema_version: "1.0"\nid: demo\n',
        snapshots={"agent/codex": {"version": "1.0.0", "hash": "cd" * 32, "text": "id: codex\n"}},
        extensions={"akbench-agent-codex": "0.1.0"},
        variants=(make_variant(is_baseline=True),),
        tasks=(make_task(),),
        runs=(make_run(),),
    )
    return replace(experiment, **changes)


@dataclass
class Laboratory:
    """Fills a store below `project`."""

    project: Path
    store: MemoryStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.project / "data")

    def keep(self, run: RunView, files: Mapping[str, bytes]) -> RunView:
        """The run with `files` as its artifacts, written to disk."""
        kept = []
        for name, content in files.items():
            path = self.store.data / "artifacts" / run.experiment_id / run.id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            digest = hashlib.sha256(content).hexdigest()
            kept.append(ArtifactView(name=name, path=path, sha256=digest, size=len(content), media_type="text/plain"))
        return replace(run, artifacts=tuple(kept))

    def add(self, experiment: ExperimentView) -> ExperimentView:
        """Store the experiment."""
        self.store.experiments[experiment.id] = experiment
        return experiment

    def tell(
        self,
        run: RunView,
        *,
        diff: str | None = None,
        calls: Sequence[ToolCallView] = (),
        events: Sequence[EventView] = (),
    ) -> None:
        """Store what lies in the run's own files."""
        identity = run.experiment_id, run.id
        self.store.call_lists[identity] = tuple(calls)
        self.store.event_lists[identity] = tuple(events)
        if diff is not None:
            self.store.diffs[identity] = diff


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    """An empty project."""
    return Laboratory(tmp_path)


@pytest.fixture(scope="session")
def task() -> Callable[..., TaskView]:
    """Makes tasks."""
    return make_task


@pytest.fixture(scope="session")
def variant() -> Callable[..., VariantView]:
    """Makes variants."""
    return make_variant


@pytest.fixture(scope="session")
def run() -> Callable[..., RunView]:
    """Makes runs."""
    return make_run


@pytest.fixture(scope="session")
def experiment() -> Callable[..., ExperimentView]:
    """Makes experiments."""
    return make_experiment


DIFF = """\
diff --git a/shelf/iteration.py b/shelf/iteration.py
index 1111111..2222222 100644
--- a/shelf/iteration.py
+++ b/shelf/iteration.py
@@ -10,5 +10,7 @@ def take(n, iterable):
     \"\"\"Return the first n items.\"\"\"
-    return list(islice(iterable, n + 1))
+    if n < 0:
+        raise ValueError("n must not be negative")
+    return list(islice(iterable, n))
\x20
\x20
 def drop(n, iterable):
diff --git a/notes.txt b/notes.txt
new file mode 100644
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1 @@
+Zażółć gęślą jaźń
"""


def _events(run: RunView) -> list[EventView]:
    states = [RunState.PREPARING, RunState.CREATING_WORKSPACE, RunState.STARTING_AGENT, RunState.EXECUTING]
    if run.is_final:
        states += [RunState.COLLECTING, RunState.EVALUATING, run.state]
    events = [
        EventView(at=START + timedelta(seconds=2.5 * step), kind="state", state=state, text=state.value)
        for step, state in enumerate(states)
    ]
    warning = EventView(
        at=START + timedelta(seconds=9),
        kind="agent_warning",
        state=None,
        text="stream disconnected, retrying",
        data={"attempt": 1},
    )
    return [*events[:4], warning, *events[4:]]


_CALLS = (
    ToolCallView(
        name="shell",
        command="sed -n 1,40p shelf/iteration.py",
        status="completed",
        exit_code=0,
        output="import re\n",
    ),
    ToolCallView(
        name="shell",
        command="python -m pytest -q tests/test_take.py",
        status="failed",
        exit_code=1,
        output="\x1b[31mFAILED\x1b[0m tests/test_take.py::test_take - assert 3 == 2\n1 failed in 0.12s\n",
    ),
    ToolCallView(name="apply_patch", command=None, status="completed", exit_code=None, output=None),
)


def _full(lab: Laboratory, run: RunView) -> RunView:
    """The run with a diff, calls, events and artifacts."""
    lab.tell(run, diff=DIFF, calls=_CALLS, events=_events(run))
    files = {
        "manifest.json": b"{}\n",
        "diff.patch": DIFF.encode(),
        "stdout.log": b"out\n" * 5000,
        "agent/page.html": b"<script>alert(1)</script>",
        "agent/with space & 100%.txt": b"x",
    }
    return lab.keep(run, files)


_SCRIPT = {
    ("codex-low", "bugfix-002"): ("unsolved", "timeout"),
    ("codex-high", "bugfix-003"): ("infrastructure", "solved"),
    ("codex-high", "feature-001"): ("unsolved", "cancelled"),
    ("sed", "bugfix-001"): ("failed", "unclassified"),
}


def fill_with_demo(lab: Laboratory) -> Laboratory:
    """Two experiments with most things that can happen in them."""
    tasks = (
        make_task("bugfix-001"),
        make_task("bugfix-002", difficulty="medium"),
        make_task("bugfix-003", difficulty="hard", title="A title that goes on for rather longer than titles should"),
        make_task("feature-001", category="new_feature", difficulty="medium"),
    )
    variants = (
        make_variant("codex-low", is_baseline=True, agent_id="codex"),
        make_variant("codex-high", agent_id="codex"),
        make_variant("sed", agent_version=None, agent_id="command"),
        make_variant("oracle", is_control=True),
        make_variant("noop", is_control=True),
    )
    runs = []
    for variant in variants:
        for task in tasks:
            usual = {"oracle": "solved", "noop": "unsolved", "sed": "unsolved"}.get(variant.name, "solved")
            for repetition, end in enumerate(_SCRIPT.get((variant.name, task.id), (usual, usual)), 1):
                run = make_run(
                    f"run-{len(runs) + 1:04}",
                    end,
                    variant_id=variant.id,
                    task_id=task.id,
                    repetition=repetition,
                    model_source="scripted model" if variant.agent_id == "codex" else None,
                )
                runs.append(_full(lab, run))
    runs[0] = replace(
        runs[0],
        touched_protected=("tests/conftest.py",),
        oddities=("a nested repository was left in vendor/",),
        config=(
            *runs[0].config,
            ConfigState(
                key="reasoning_effort",
                requested="low",
                configured="low",
                effective="low",
                observed="high",
                status=VerificationStatus.MISMATCH,
                source="the provider's answer",
            ),
        ),
        tests=(
            *runs[0].tests,
            TestResult(
                id="tests/test_take.py::test_negative",
                role=TestRole.TARGET,
                status="failed",
                duration_seconds=0.02,
                message="AssertionError: assert 3 == 2",
            ),
        ),
    )
    lab.add(make_experiment(tasks=tasks, variants=variants, runs=tuple(runs), repetitions=2))
    second = make_run("run-0001", "unfinished", experiment_id="exp-0002", model_source="provider")
    lab.add(
        make_experiment(
            "exp-0002",
            title="A run of the real provider that was killed",
            status="incomplete",
            status_reasons=("1 of 1 runs did not finish",),
            labels=(),
            created_at=START + timedelta(days=1),
            finished_at=None,
            runs=(_full(lab, second),),
        )
    )
    return lab


@pytest.fixture
def demo(lab: Laboratory) -> Laboratory:
    """Two experiments with most things that can happen in them."""
    return fill_with_demo(lab)


VOID = frozenset({"meta", "link", "line", "circle", "br", "input", "hr", "img"})


class Page(HTMLParser):
    """One page, read strictly: `faults` tells of tags that do not nest."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.path = path
        self.source = path.read_text(encoding="utf-8")
        self.faults: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(self.source)
        self.close()
        self.faults += [f"never closed: {tag}" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"closed out of order at {self.getpos()}: {tag}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """The page's text, spaces collapsed."""
        return " ".join(" ".join(self.words).split())

    @property
    def ids(self) -> list[str]:
        """All element ids."""
        return [attrs["id"] or "" for _, attrs in self.elements if "id" in attrs]

    @property
    def links(self) -> list[str]:
        """All addresses that the page refers to."""
        found = [attrs.get(name) for _, attrs in self.elements for name in ("href", "src")]
        return [url for url in found if url is not None]


class Site:
    """A laboratory's written report."""

    def __init__(self, lab: Laboratory) -> None:
        self.lab = lab
        self.root = write_report(lab.store, lab.project / "reports", None).parent

    def page(self, path: str) -> Page:
        """One page, read."""
        return Page(self.root / path)

    @property
    def pages(self) -> list[Page]:
        """All pages, read."""
        return [Page(path) for path in sorted(self.root.rglob("*.html"))]


@pytest.fixture(scope="session")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The report of the demo laboratory; for reading only."""
    return Site(fill_with_demo(Laboratory(tmp_path_factory.mktemp("demo"))))


@pytest.fixture
def report_of() -> type[Site]:
    """Writes a laboratory's report."""
    return Site


EVIL = (
    "</pre></code></script><script>alert(1)</script><img src=x onerror=alert(2)>"
    '"\' onmouseover="alert(3)\x00\x1b[2J\u202e'
)


def make_hostile(lab: Laboratory) -> ExperimentView:
    """An experiment in which everything that an agent or a test can write is an attack."""
    usual = make_run()
    run = make_run(
        "run-0001",
        "unsolved",
        variant_id=make_variant(EVIL).id,
        reason=EVIL,
        final_message=EVIL,
        session_id=EVIL,
        agent_version=EVIL,
        oddities=(EVIL,),
        touched_protected=(EVIL,),
        config=tuple(replace(state, observed=EVIL, source=EVIL) for state in usual.config),
        tests=(TestResult(id=EVIL, role=TestRole.TARGET, status=EVIL, message=EVIL),),
    )
    lab.tell(
        run,
        diff=f"diff --git a/{EVIL} b/{EVIL}\n--- a/x\n+++ b/x\n@@ -1 +1 @@{EVIL}\n-{EVIL}\n+{EVIL}\n",
        calls=[ToolCallView(name=EVIL, command=EVIL, status=EVIL, exit_code=-9, output=EVIL)],
        events=[EventView(at=START, kind=EVIL, state=RunState.EXECUTING, text=EVIL, data={EVIL: EVIL})],
    )
    return make_experiment(
        title=EVIL,
        status_reasons=(EVIL,),
        labels=(EVIL,),
        descriptor=EVIL,
        tasks=(make_task(title=EVIL, description=EVIL, category=EVIL, difficulty=EVIL),),
        variants=(make_variant(EVIL, agent_config={EVIL: EVIL}),),
        runs=(lab.keep(run, {"agent/<script>alert(1)<!--.txt": b"x"}),),
    )


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The report of an experiment whose every text is an attack; for reading only."""
    lab = Laboratory(tmp_path_factory.mktemp("hostile"))
    lab.add(make_hostile(lab))
    return Site(lab)
