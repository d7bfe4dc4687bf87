"""From a YAML experiment to a durable result, through the real command line."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest

from akbench.catalogue import Catalogue
from akbench.verdict import Verdict, keep_verdict, subject_of


def test_the_starter_experiment_solves_with_the_oracle_and_not_with_nothing(project: ProjectUnderTest):
    done = project.akbench("experiment", "run", "configs/experiments/first.yaml", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    shown = project.show(summary["id"])
    names = {variant["id"]: variant["name"] for variant in shown["variants"]}
    solved = {(names[run["variant"]], run["repetition"]): run["solved"] for run in shown["run_list"]}
    assert solved == {("oracle", 1): True, ("oracle", 2): True, ("noop", 1): False, ("noop", 2): False}
    assert {run["state"] for run in shown["run_list"]} == {"COMPLETED"}
    assert Path(summary["report"]).is_file()


def test_a_run_keeps_its_manifest_its_events_and_checksummed_artifacts(project: ProjectUnderTest):
    project.akbench("experiment", "run", "configs/experiments/first.yaml")
    folder = project.root / "data" / "artifacts" / "exp-0001" / "run-0001"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["variant"]["agent"]["id"] == "oracle"
    assert {"tree", "commit", "environment", "dataset_hash", "sandbox", "extensions"} <= manifest.keys()
    states = [json.loads(line)["state"] for line in (folder / "events.jsonl").read_text().splitlines()]
    assert [state for state in states if state] == [
        "PREPARING",
        "VALIDATING",
        "CREATING_WORKSPACE",
        "STARTING_AGENT",
        "EXECUTING",
        "COLLECTING",
        "EVALUATING",
        "FINALIZING",
        "COMPLETED",
    ]
    artifacts = project.result("exp-0001", "run-0001")["artifacts"]
    assert {
        "manifest.json",
        "events.jsonl",
        "diff.patch",
        "evaluation.json",
        "metadata.json",
        "metrics.json",
        "stdout.log",
    } <= {artifact["name"] for artifact in artifacts}
    for artifact in artifacts:
        content = (folder / artifact["name"]).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (artifact["sha256"], artifact["size"])


def test_the_index_holds_what_the_files_say(project: ProjectUnderTest):
    project.akbench("experiment", "run", "configs/experiments/first.yaml")
    with sqlite3.connect(project.root / "data" / "akbench.sqlite") as connection:
        states = connection.execute("select state, count(*) from task_runs group by state").fetchall()
    assert states == [("COMPLETED", 4)]
    assert project.akbench("store", "verify").returncode == 0


def test_a_command_agent_needs_no_python(project: ProjectUnderTest):
    file = project.experiment(
        "sed",
        """
fixer:
  id: command
  config:
    command: [sed, -i, 's/names\\[0\\]}!"$/names[-1]}!"/', greeting/__init__.py]
""",
    )
    done = project.akbench("experiment", "run", file)
    assert done.returncode == 0, done.stderr
    (run,) = project.show("exp-0001")["run_list"]
    assert run["solved"] is True
    assert run["metrics"]["input_tokens"]["value"] is None
    assert run["metrics"]["input_tokens"]["unavailable"]


def test_a_descriptor_that_changes_later_stays_readable_as_it_was(project: ProjectUnderTest):
    described = project.root / "descriptors" / "patience.yaml"
    described.parent.mkdir(exist_ok=True)
    described.write_text(
        'schema_version: "1.0"\nid: patience\nversion: "1.0.0"\ntitle: As it was\n'
        "metric: {adapter: execution_time, unit: seconds, better: lower}\n"
    )
    path = project.experiment("kept", "noop: {id: noop}", extra="  metrics: [patience]\n")
    assert project.akbench("experiment", "run", path, "--yes").returncode == 0
    described.write_text(described.read_text().replace("As it was", "Something else").replace("lower", "higher"))
    now = project.akbench("descriptor", "show", "metric/patience")
    then = project.akbench("descriptor", "show", "metric/patience", "--experiment", "exp-0001")
    assert ("Something else" in now.stdout, "better: lower" in now.stdout) == (True, False)
    assert ("As it was" in then.stdout, "better: lower" in then.stdout) == (True, True), then.stderr
    assert now.stdout.splitlines()[1] != then.stdout.splitlines()[1]
    missing = project.akbench("descriptor", "show", "metric/elsewhere", "--experiment", "exp-0001")
    assert (missing.returncode, "exp-0001 kept no metric/elsewhere" in missing.stderr) == (2, True)


def test_the_model_descriptor_that_a_variant_names_is_kept_with_the_experiment(project: ProjectUnderTest):
    folder = project.root / "descriptors"
    folder.mkdir(exist_ok=True)
    noop = project.akbench("descriptor", "show", "agent/noop").stdout.replace("id: noop", "id: idler")
    for name, text in {
        "idler": noop + "  configuration_schema: {answered_by: {type: string}}\n",
        "answerer": 'schema_version: "1.0"\nid: answerer\nversion: "1.0.0"\ndimension:\n  type: model_reference\n'
        "  controllable: true\n  configure: {target: agent.config, key: answered_by}\n",
        "large": 'schema_version: "1.0"\nid: large\nversion: "1.0.0"\nmodel: {provider: example, name: large-2026}\n',
    }.items():
        (folder / f"{name}.yaml").write_text(text)
    path = project.experiment("models", "idler: {id: idler}")
    edited = project.root / path
    edited.write_text(
        edited.read_text().replace("  execution_policy", "      - {id: answerer, values: [large]}\n  execution_policy")
    )
    done = project.akbench("experiment", "run", path, "--yes")
    assert done.returncode == 0, done.stderr
    kept = project.akbench("descriptor", "show", "model/large", "--experiment", "exp-0001")
    assert "name: large-2026" in kept.stdout, kept.stderr
    (variant,) = project.show("exp-0001")["variants"]
    assert variant["name"] == "idler · large"


def test_an_agent_sees_neither_hidden_tests_nor_the_solution_nor_other_tasks(project: ProjectUnderTest):
    file = project.experiment(
        "spy",
        """
spy:
  id: command
  config:
    command: [sh, -c, "find / -name 'test_groups*' 2>/dev/null; git log --all --oneline; git fsck --unreachable; env"]
""",
    )
    assert project.akbench("experiment", "run", file, AKBENCH_CANARY="harness-only").returncode == 0
    output = (project.root / "data/artifacts/exp-0001/run-0001/stdout.log").read_text()
    assert "test_groups" not in output
    assert "harness-only" not in output
    assert len([line for line in output.splitlines() if "Initial commit" in line]) == 1
    assert "unreachable" not in output


FORGER = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""


def test_protected_files_are_put_back_and_reported(project: ProjectUnderTest):
    (project.root / "forger").mkdir()
    (project.root / "forger" / "conftest.py").write_text(FORGER)
    file = project.experiment(
        "cheat",
        f"""
cheat:
  id: command
  config:
    programs: {{forger: {project.root / "forger"}}}
    command: [sh, -c, "cp {{program:forger}}/conftest.py . && rm tests/test_greeting.py"]
""",
    )
    assert project.akbench("experiment", "run", file).returncode == 0
    result = project.result("exp-0001", "run-0001")
    assert result["solved"] is False
    assert result["touched_protected"] == ["conftest.py", "tests/test_greeting.py"]


def test_an_agent_that_ends_badly_is_judged_by_its_work_all_the_same(project: ProjectUnderTest):
    file = project.experiment(
        "crash",
        """
crash:
  id: command
  config: {command: [sh, -c, "exit 7"]}
""",
    )
    assert project.akbench("experiment", "run", file).returncode == 0
    result = project.result("exp-0001", "run-0001")
    assert (result["state"], result["solved"], result["outcome"]) == ("FAILED", False, "failure")
    assert "exit code 7" in result["reason"]


def test_the_local_sandbox_says_that_it_confines_nothing(project: ProjectUnderTest):
    file = project.experiment("local", "oracle: {id: oracle}", extra="  isolation: {environment: local}\n")
    assert project.akbench("experiment", "run", file).returncode == 0
    shown = project.show("exp-0001")
    assert shown["status"] == "valid_with_warnings"
    assert any("confines nothing" in reason for reason in shown["status_reasons"])
    assert shown["run_list"][0]["solved"] is True


def test_without_bubblewrap_the_experiment_falls_back_and_says_why(project: ProjectUnderTest, tmp_path: Path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "/nowhere")
    file = project.experiment("fallback", "noop: {id: noop}")
    nothing_else = {"PATH": str(programs), "DOCKER_HOST": f"unix://{tmp_path}/no-engine"}
    assert project.akbench("experiment", "run", file, **nothing_else).returncode == 0
    shown = project.show("exp-0001")
    assert shown["status"] == "valid_with_warnings"
    (reason,) = [reason for reason in shown["status_reasons"] if "confines nothing" in reason]
    assert "apt-get install bubblewrap" in reason


def test_an_agent_without_a_passing_contract_verdict_makes_no_plainly_valid_experiment(
    project: ProjectUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tracer, state = Path(__file__).with_name("tracer"), tmp_path / "state"
    project.environ |= {"PYTHONPATH": str(tracer), "AKBENCH_STATE": str(state)}
    file = project.experiment("untried", "tracer: {id: tracer}\noracle: {id: oracle}")
    assert project.akbench("experiment", "run", file).returncode == 0
    shown = project.show("exp-0001")
    mend = "run: akbench extension check tracer"
    assert shown["status_reasons"] == [f"no passing contract verdict for version 1.0.0 of agent 'tracer'; {mend}"]
    assert shown["status"] == "valid_with_warnings"
    monkeypatch.syspath_prepend(tracer)
    monkeypatch.setenv("AKBENCH_STATE", str(state))
    adapter, _ = Catalogue.load().agent_adapter("tracer")
    keep_verdict(Verdict(subject=subject_of(adapter), at="2026-01-01T00:00:00+00:00", passed=1, skipped=0, failed=()))
    assert project.akbench("experiment", "run", file).returncode == 0
    assert project.show("exp-0002")["status"] == "valid"
