"""The exchange with AK-Bench: it is an optional part, transcripts say only what was recorded, foreign results are read
honestly."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from akbench.experiment.plan import AgentChoice, PlannedRun, PlannedTask, Variant
from akbench.run.lifecycle import RunState
from akbench.run.record import Event
from akbench.spec import InputError, Outcome, Reading, ToolCall, TraceEvent
from akbench.store.query import Store
from akbench.store.runfiles import RunFiles
from akbench.store.view import RunView
from akbench_abv3.exchange.comparison import comparison
from akbench_abv3.exchange.importing import ALL_POINTS, LABEL, import_results
from akbench_abv3.exchange.source import StoredRun
from akbench_abv3.exchange.trajectory import transcript
from akbench_abv3.results.atif import atif_faults

PACKAGE = Path(__file__).parent.parent / "src" / "akbench_abv3"
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def measured(success: int, seconds: float | None) -> dict[str, object]:
    return {"main_metric": "task_success_rate", "task_success_rate": success, "execution_time_s": seconds}


def test_variants_are_compared_over_pairs_that_both_have_a_value():
    compared = comparison(
        "base",
        {
            "base": {("t1", 1): measured(1, 10.0), ("t2", 1): measured(0, None), ("t3", 1): measured(1, 4.0)},
            "fast": {("t1", 1): measured(1, 5.0), ("t2", 1): measured(1, 3.0), ("t4", 1): measured(0, 1.0)},
            "idle": {},
        },
    )
    assert compared["baseline"] == "base"
    assert compared["variants"] == {
        "fast": {
            "pairs": 2,
            "metrics": {
                "task_success_rate": {
                    "pairs": 2, "baseline_mean": 0.5, "variant_mean": 1.0, "difference": 0.5, "ratio": 2.0
                },
                "execution_time_s": {
                    "pairs": 1, "baseline_mean": 10.0, "variant_mean": 5.0, "difference": -5.0, "ratio": 0.5
                },
            },
        },
        "idle": {"pairs": 0, "metrics": {}},
    }  # fmt: skip


def test_a_baseline_of_zero_has_no_ratio():
    runs = {"base": {("t", 1): measured(0, 0)}, "other": {("t", 1): measured(1, 2)}}
    metrics = comparison("base", runs)["variants"]["other"]["metrics"]
    assert {name: (one["difference"], one["ratio"]) for name, one in metrics.items()} == {
        "task_success_rate": (1.0, None),
        "execution_time_s": (2.0, None),
    }


def imported_modules(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {name for name in names if name.split(".")[0] == "akbench" or name.startswith("akbench_abv3.exchange")}


def test_nothing_outside_the_exchange_imports_akbench():
    outside = [path for path in PACKAGE.rglob("*.py") if "exchange" not in path.relative_to(PACKAGE).parts]
    assert len(outside) > 40
    assert {path.name: found for path in outside if (found := imported_modules(path))} == {}


@pytest.mark.parametrize("arguments", [["check", "-l1"], ["run_exp"], ["index", "."], ["explain"]])
def test_the_command_works_where_akbench_is_not_installed(tmp_path, arguments):
    program = "import sys; sys.modules['akbench'] = None; from akbench_abv3.cli import main; main()"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    assert run("init", "--author", "Ada").returncode == 0
    done = run(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr


def stored_run(*, state=RunState.COMPLETED, reason=None, outcome=None, trace=(), calls=(), events=(), metrics=None):
    agent = AgentChoice(id="robot", version="1.0.0", adapter="robot", config={}, model=None)
    view = RunView(
        id="run-0001",
        experiment_id="exp-0001",
        variant_id="v-1",
        task_id="t",
        repetition=1,
        state=state,
        interrupted=False,
        outcome=outcome,
        solved=None,
        reason=reason,
        started_at=AT,
        finished_at=AT,
        agent_version=None,
        session_id=None,
        final_message=None,
        model_source=None,
        sandbox=None,
        metrics=metrics or {},
        config=(),
        tests=(),
        touched_protected=(),
        oddities=(),
        artifacts=(),
    )
    return StoredRun(
        record=None,
        variant=Variant(id="v-1", name="robot", values={}, agent=agent, config_hash="0"),
        task=PlannedTask(
            id="t",
            version="1.0.0",
            title="T",
            category="c",
            difficulty="easy",
            dataset="d",
            folder="f",
            digest="0",
            description="Do it.",
        ),
        planned=PlannedRun(id="run-0001", variant_id="v-1", task_id="t", repetition=1),
        view=view,
        folder=Path("nowhere"),
        files=RunFiles(manifest=None, events=tuple(events), result=None, unreadable=()),
        trace=tuple(trace),
        calls=tuple(calls),
    )


def steps_of(run):
    document = transcript(run, "v-1/t__r01", "ab" * 32)
    trajectory, faults = atif_faults(json.loads(json.dumps(document)))
    assert (faults, trajectory is None) == ((), False)
    return document["steps"]


def test_a_call_is_told_once_with_its_output_and_exit_code():
    call = ToolCall(name="shell", command="ls", exit_code=2, output="no", started_at=AT)
    (step,) = steps_of(stored_run(trace=[TraceEvent(kind="command", text="ls", at=AT)], calls=[call]))
    (told,) = step["tool_calls"]
    assert (told["function_name"], told["arguments"], told["extra"]) == ("shell", {"command": "ls"}, {"exit_code": 2})
    assert step["observation"]["results"] == [{"source_call_id": told["tool_call_id"], "content": "no"}]
    assert step["timestamp"] == AT.isoformat()


def test_equal_commands_keep_their_own_outputs():
    calls = [ToolCall(name="shell", command="ls", output=text) for text in ("one", "two")]
    steps = steps_of(stored_run(trace=[TraceEvent(kind="command", text="ls")] * 2, calls=calls))
    assert [step["observation"]["results"][0]["content"] for step in steps] == ["one", "two"]


def test_a_call_that_no_event_tells_is_not_lost():
    steps = steps_of(stored_run(trace=[TraceEvent(kind="message", text="hm")], calls=[ToolCall(name="search")]))
    assert [step.get("tool_calls", [{}])[0].get("function_name") for step in steps] == [None, "search"]


def test_a_call_without_an_answer_has_no_observation():
    (step,) = steps_of(stored_run(trace=[TraceEvent(kind="tool", text="search")]))
    assert "observation" not in step


def test_errors_are_no_words_of_the_agent():
    (step,) = steps_of(stored_run(trace=[TraceEvent(kind="error", text="HTTP 500")]))
    assert (step["source"], step["message"]) == ("system", "error: HTTP 500")


def test_a_run_that_ran_out_of_time_ends_with_a_step_that_says_so():
    run = stored_run(
        state=RunState.TIMEOUT, outcome=Outcome.TIMEOUT, reason="60 s", trace=[TraceEvent(kind="message", text="hm")]
    )
    assert [step["message"] for step in steps_of(run)] == ["hm", "The run ended as TIMEOUT: 60 s"]


def test_a_run_that_never_began_has_one_step_that_says_why():
    (step,) = steps_of(stored_run(state=RunState.INFRASTRUCTURE_ERROR, reason="the disk is full"))
    assert (step["source"], step["message"]) == ("system", "The run ended as INFRASTRUCTURE_ERROR: the disk is full")


def test_an_evaluators_words_stay_out_of_the_transcript():
    run = stored_run(state=RunState.EVALUATION_ERROR, reason="test_hidden.py broke", outcome=Outcome.EVALUATOR_ERROR)
    assert [step["message"] for step in steps_of(run)] == ["The agent's work could not be evaluated."]


@pytest.mark.parametrize("state", [RunState.COMPLETED, RunState.TIMEOUT])
def test_a_run_of_an_agent_without_a_trace_has_no_transcript(state):
    executing = Event(at=AT, kind="state", text="", state=RunState.EXECUTING)
    assert transcript(stored_run(state=state, events=[executing]), "v-1/t__r01", None) is None


def test_unknown_totals_are_left_out():
    metrics = {"input_tokens": Reading(value=7, source="x"), "output_tokens": Reading(unavailable="none")}
    document = transcript(stored_run(trace=[TraceEvent(kind="message", text="hm")], metrics=metrics), "v-1/t", None)
    assert document["final_metrics"] == {"total_prompt_tokens": 7, "total_steps": 1}


DESCRIPTION = """\
[abv3_repo]
name = "foreign"
role = "judge"
author = "Ada"
version = "0.3.0"
[run]
command = 'true "$RUN_CONFIG_FILE"'
[run_configs]
folder = "./run_configs"
"""


def foreign(root: Path, files: dict[str, object]) -> Path:
    (root / "agentbeats.toml").parent.mkdir(parents=True, exist_ok=True)
    (root / "agentbeats.toml").write_text(DESCRIPTION)
    for experiment in ("a", "b"):
        for run in ("p1", "p2"):
            files.setdefault(f"run_configs/{experiment}/{run}.json", {"n": 1})
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return root


def imported(tmp_path: Path, files: dict[str, object], source: str = ""):
    root = foreign(tmp_path / "foreign", files)
    data = tmp_path / "data"
    return Store(data).experiment(import_results(root / source, data))


def test_the_experiments_of_another_judge_become_labelled_variants(tmp_path):
    view = imported(
        tmp_path,
        {
            "results/a/p1/result.json": {"success": True, "seconds": 3.5},
            "results/a/p2/result.json": {"success": False, "seconds": None},
            "results/b/p1/result.json": {"success": 1},
            "results/b/p2/result.json": {"success": 1, "agent": {"name": "bot", "version": "2"}},
        },
    )
    assert (view.title, view.labels) == (f"foreign 0.3.0 ({LABEL})", (LABEL,))
    assert view.status == "valid_with_warnings"
    assert [(each.id, each.agent_id) for each in view.variants] == [("a", "not stated"), ("b", "bot")]
    assert [(run.variant_id, run.task_id, run.solved) for run in view.runs] == [
        ("a", "p1", True), ("a", "p2", False), ("b", "p1", True), ("b", "p2", True),
    ]  # fmt: skip
    assert view.runs[0].metrics["seconds"].value == 3.5
    assert view.runs[1].metrics["seconds"].unavailable == "null in the result: unavailable, no reason stated"
    assert {task.category for task in view.tasks} == {"not stated"}
    assert (view.runs[0].started_at, view.runs[0].sandbox) == (None, None)


def test_an_aggregate_alone_is_one_unclassified_run(tmp_path):
    view = imported(tmp_path, {"results/a/results.json": {"count": 100, "main_metric": "acc", "acc": 0.85}})
    (run,) = view.runs
    assert (run.task_id, run.solved, run.metrics["acc"].value) == (ALL_POINTS, None, 0.85)
    assert run.reason == "one result for 100 data points: which of them were solved is not stated"


@pytest.mark.parametrize(
    "result",
    [
        {"score": 1},
        {"success": 0.5},
        {"count": 2, "success": 1},
        {"success": 1, "metric_info": {"success": {"higher_is_better": False}}},
    ],
)
def test_what_is_not_told_about_solving_stays_open(tmp_path, result):
    view = imported(tmp_path, {"results/a/p1/result.json": result})
    assert view.runs[0].solved is None
    assert "not stated" in view.runs[0].reason


def test_failed_and_missing_runs_count_for_no_agent(tmp_path):
    record = {
        "status": "timeout",
        "started_at": AT.isoformat(),
        "command": "x",
        "repo_version": "1",
        "abv3_version": "1",
    }
    view = imported(tmp_path, {"results/a/p1/abv3_run.json": record, "results/b/p1/result.json": '{"success": NaN}'})
    states = {(run.variant_id, run.task_id): (run.state, run.solved) for run in view.runs}
    assert states == {
        ("a", "p1"): (RunState.INFRASTRUCTURE_ERROR, None),
        ("a", "p2"): (RunState.PENDING, None),
        ("b", "p1"): (RunState.INFRASTRUCTURE_ERROR, None),
        ("b", "p2"): (RunState.PENDING, None),
    }
    assert "abv3 recorded the run as timeout" in view.runs[0].reason
    assert view.status == "incomplete"


def test_a_results_folder_inside_the_repository_can_be_named(tmp_path):
    files = {"results/a/p1/result.json": {"success": 0}, "again/a/p1/result.json": {"success": 1}}
    assert imported(tmp_path, files, "again").runs[0].solved is True


def test_a_result_behind_a_link_out_of_the_repository_is_not_read(tmp_path):
    root = foreign(tmp_path / "foreign", {"results/b/p1/result.json": {"success": 1}})
    (tmp_path / "outside.json").write_text('{"success": 1}')
    (root / "results/a/p1").mkdir(parents=True)
    (root / "results/a/p1/result.json").symlink_to(tmp_path / "outside.json")
    data = tmp_path / "data"
    view = Store(data).experiment(import_results(root, data))
    assert view.runs[0].solved is None
    assert "its result is not valid" in view.runs[0].reason


def test_a_repository_without_results_is_refused(tmp_path):
    with pytest.raises(InputError, match="no results to import"):
        imported(tmp_path, {})
