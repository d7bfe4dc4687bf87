"""An experiment becomes an ABV3-L1 repository, is checked and run again by abv3, and comes back as an experiment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from project_under_test import ProjectUnderTest

ABV3 = Path(sys.executable).with_name("abv3")
THREE = r"""
oracle:
  id: oracle
noop:
  id: noop
fixer:
  id: command
  config:
    command: [sed, -i, 's/names\[0\]}!"$/names[-1]}!"/', greeting/__init__.py]
"""
TWICE = "repetitions: 2, timeout_seconds: 60"
BUBBLEWRAP = "  isolation: {sandbox: bubblewrap}\n"

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
pytestmark = [pytest.mark.bubblewrap, needs_bubblewrap, pytest.mark.xdist_group("exchange")]


def new_project(folder: Path, cache: Path) -> ProjectUnderTest:
    environ = {"AKBENCH_CACHE": str(cache), "XDG_STATE_HOME": str(folder / "state")}
    made = ProjectUnderTest(folder / "project", environ)
    made.root.mkdir()
    assert made.akbench("init").returncode == 0
    return made


def run_and_export(project: ProjectUnderTest, file: str, **environ: str) -> Path:
    done = project.akbench("experiment", "run", file, **environ)
    assert done.returncode == 0, done.stderr
    done = project.akbench("export", "exp-0001", "--format", "abv3", "--output", "out/repository", **environ)
    assert done.returncode == 0, done.stderr
    return project.root / "out" / "repository"


def abv3(
    project: ProjectUnderTest, repository: Path, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    resources = {"AKBENCH_DATASET_DIR": str(project.root / "datasets" / "starter")}
    path = f"{ABV3.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [ABV3, *arguments],
        cwd=repository,
        env={**os.environ, **project.environ, **resources, **environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def results(repository: Path, folder: str) -> dict[str, Any]:
    found = sorted((repository / folder).glob("*/results.json"))
    return {path.parent.name: json.loads(path.read_text()) for path in found}


def hashes(repository: Path, folder: str) -> dict[str, str]:
    found = {}
    for path in sorted((repository / folder).glob("*/*/result.json")):
        extra = json.loads(path.read_text())["extra"]["akbench"]
        found[f"{path.parent.parent.name}/{path.parent.name}"] = extra["variant"]["config_hash"]
    return found


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[tuple[ProjectUnderTest, Path]]:
    """Three agents, two repetitions, exported."""
    project = new_project(tmp_path_factory.mktemp("exchange"), cache)
    file = project.experiment("three", THREE, policy=TWICE, extra=BUBBLEWRAP)
    yield project, run_and_export(project, file)
    shutil.rmtree(project.root, ignore_errors=True)


def test_the_exported_repository_passes_its_check(exchanged):
    project, repository = exchanged
    done = abv3(project, repository, "check", "-l1", "--results")
    assert done.returncode == 0, done.stdout
    assert "3 experiments, 6 run configs" in done.stdout


def test_an_agent_without_a_trace_does_not_claim_transcripts(exchanged):
    project, repository = exchanged
    done = abv3(project, repository, "check", "-l1+t", "--json")
    assert done.returncode == 1
    assert {finding["code"] for finding in json.loads(done.stdout)["findings"]} == {"T001", "W015"}
    assert "no trace of them was recorded" in (repository / "README.md").read_text()


def test_no_hidden_test_leaves_with_the_export(exchanged):
    project, repository = exchanged
    hidden = sorted(project.root.glob("datasets/starter/*/*/hidden_tests/**/*.py"))
    lines = {line.strip() for path in hidden for line in path.read_text().splitlines() if len(line.strip()) > 20}
    assert lines
    texts = [path.read_text() for path in repository.rglob("*") if path.is_file()]
    assert [line for line in lines if any(line in text for text in texts)] == []
    assert not any(path.name in text for path in hidden for text in texts)


def test_no_path_of_this_machine_leaves_with_the_export(exchanged):
    project, repository = exchanged
    texts = [path.read_text() for path in repository.rglob("*") if path.is_file()]
    assert not any(str(project.root) in text for text in texts)


def test_an_export_overwrites_nothing(exchanged):
    project, _ = exchanged
    done = project.akbench("export", "exp-0001", "--format", "abv3", "--output", "out/repository")
    assert done.returncode == 2
    assert "something is there already" in done.stderr


def test_an_unknown_format_is_answered_with_the_known_ones(exchanged):
    project, _ = exchanged
    done = project.akbench("export", "exp-0001", "--format", "abv")
    assert done.returncode == 2
    assert "did you mean 'abv3'" in done.stderr


@pytest.mark.slow
def test_running_the_repository_again_gives_the_same_hashes_and_counts(exchanged):
    project, repository = exchanged
    ready = abv3(project, repository, "setup", "--non-interactive", "--yes")
    assert ready.returncode == 0, ready.stdout + ready.stderr
    for name in results(repository, "results"):
        done = abv3(project, repository, "run_exp", name, "--results", "results-rerun")
        assert done.returncode == 0, done.stdout + done.stderr
    before, after = results(repository, "results"), results(repository, "results-rerun")
    fields = ("count", "main_metric", "task_success_rate", "hidden_test_pass_rate", "runs", "status")
    assert {name: [each[field] for field in fields] for name, each in after.items()} == {
        name: [each[field] for field in fields] for name, each in before.items()
    }
    assert sorted(each["task_success_rate"] for each in after.values()) == [0, 1, 1]
    assert {each["count"] for each in after.values()} == {2}
    assert hashes(repository, "results-rerun") == hashes(repository, "results")
    assert len(hashes(repository, "results")) == 6
    texts = [path.read_text() for path in (repository / "results-rerun").rglob("*") if path.is_file()]
    assert not any("test_groups" in text for text in texts)


@pytest.mark.slow
def test_the_results_come_back_with_a_comparison_page(exchanged):
    project, repository = exchanged
    done = project.akbench("import", str(repository), "--format", "abv3", "--json")
    assert done.returncode == 0, done.stderr
    experiment_id = json.loads(done.stdout)["experiment"]
    shown, original = project.show(experiment_id), project.show("exp-0001")
    assert shown["status"] == "valid_with_warnings"
    assert shown["labels"] == ["imported from ABV3-L1"]
    assert [each["name"] for each in shown["variants"]] != []
    assert {each["name"] for each in shown["variants"]} == {each["name"] for each in original["variants"]}
    names = {each["id"]: each["name"] for view in (shown, original) for each in view["variants"]}
    told = [
        sorted((names[r["variant"]], r["task"], r["repetition"], r["solved"]) for r in v["run_list"])
        for v in (shown, original)
    ]
    assert told[0] == told[1]
    assert project.akbench("store", "verify").returncode == 0
    assert project.akbench("report", "--experiment", experiment_id, "--output", "report").returncode == 0
    page = (project.root / "report" / "experiments" / experiment_id / "index.html").read_text()
    assert all(name in page for name in ("oracle", "noop", "fixer", "imported from ABV3-L1"))


def test_another_dataset_is_refused(exchanged, tmp_path):
    project, repository = exchanged
    dataset = tmp_path / "starter"
    shutil.copytree(project.root / "datasets" / "starter", dataset)
    (description,) = dataset.glob("*/*/description.md")
    description.write_text("Something else.\n")
    config = next((repository / "run_configs").glob("*/*.json"))
    done = project.akbench("run-config", str(config), AKBENCH_DATASET_DIR=str(dataset))
    assert done.returncode == 2
    assert "the dataset here has hash" in done.stderr


def test_a_missing_dataset_is_named(exchanged):
    project, repository = exchanged
    config = next((repository / "run_configs").glob("*/*.json"))
    done = project.akbench("run-config", str(config), AKBENCH_DATASET_DIR="")
    assert done.returncode == 3
    assert "AKBENCH_DATASET_DIR is not set" in done.stderr


TRACER = Path(__file__).with_name("tracer")


@pytest.mark.slow
def test_an_agent_with_a_trace_gives_transcripts_before_and_after(tmp_path, cache):
    project = new_project(tmp_path, cache)
    project.environ["PYTHONPATH"] = str(TRACER)
    file = project.experiment("traced", "tracer: {id: tracer}", policy=TWICE, extra=BUBBLEWRAP)
    repository = run_and_export(project, file)
    done = abv3(project, repository, "check", "-l1+t", "--results")
    assert done.returncode == 0, done.stdout
    (name,) = results(repository, "results")
    shutil.copytree(repository / "results", repository / "reported")
    assert abv3(project, repository, "setup", "--non-interactive", "--yes").returncode == 0
    done = abv3(project, repository, "run_exp", name, "--overwrite")
    assert done.returncode == 0, done.stdout + done.stderr
    done = abv3(project, repository, "check", "-l1+t", "--results")
    assert done.returncode == 0, done.stdout
    assert hashes(repository, "results") == hashes(repository, "reported")
    for folder in ("reported", "results"):
        told = json.loads((repository / folder / name / "greet-001__r01" / "transcript.json").read_text())
        assert [step["source"] for step in told["steps"]] == ["user", "agent", "agent", "agent"]
        assert told["session_id"] == f"{name}/greet-001__r01"
        assert told["agent"] == {"name": "tracer", "version": "7.1"}
        (call,) = told["steps"][2]["tool_calls"]
        assert call["arguments"]["command"].startswith("sed -i")
        assert told["steps"][2]["observation"]["results"][0]["content"] == "fixed\n"
        assert "The model that answered was not observed." in told["notes"]
        assert told["final_metrics"] == {"total_steps": 4}


@pytest.mark.slow
def test_a_run_that_died_is_no_data_point_and_its_transcript_says_so(tmp_path, cache):
    project = new_project(tmp_path, cache)
    project.environ["PYTHONPATH"] = str(TRACER)
    agents = """
whole: {id: tracer}
broken: {id: tracer, config: {broken: true}}
"""
    file = project.experiment("mixed", agents, extra=BUBBLEWRAP)
    assert project.akbench("experiment", "run", file).returncode == 1
    done = project.akbench("export", "exp-0001", "--format", "abv3", "--output", "repository")
    assert done.returncode == 0, done.stderr
    repository = project.root / "repository"
    assert abv3(project, repository, "check", "-l1", "--results").returncode == 0
    assert abv3(project, repository, "check", "-l1+t").returncode == 1
    names = {each["name"]: each["id"] for each in project.show("exp-0001")["variants"]}
    folder = repository / "results" / names["broken"] / "greet-001__r01"
    assert [path.name for path in folder.iterdir()] == ["transcript.json"]
    (step,) = json.loads((folder / "transcript.json").read_text())["steps"]
    assert step["source"] == "system"
    assert step["message"].startswith("The run ended as INFRASTRUCTURE_ERROR: ")
    assert set(results(repository, "results")) == {names["whole"]}
    assert "broken: 1 of 1 runs ended as INFRASTRUCTURE_ERROR" in (repository / "README.md").read_text()
    config = repository / "run_configs" / names["broken"] / "greet-001__r01.json"
    done = project.akbench("run-config", str(config), AKBENCH_DATASET_DIR=str(project.root / "datasets" / "starter"))
    assert done.returncode == 1
    assert "no data point" in done.stdout
    assert not (folder / "result.json").exists()
    done = project.akbench("import", str(repository), "--format", "abv3")
    assert done.returncode == 0, done.stderr
    shown = project.show(done.stdout.strip())
    assert shown["status"] == "incomplete"


SCRIPT = r"""
schema_version: "1.0"
scripts:
  - match: "loses a member of every group"
    steps:
      - run: |
          sed -i 's/names\[0\]}!"$/names[-1]}!"/' greeting/__init__.py && echo fixed
        usage: {input_tokens: 100, cached_input_tokens: 10, output_tokens: 20, reasoning_output_tokens: 5}
      - say: "It names the last one now."
        usage: {input_tokens: 200, cached_input_tokens: 90, output_tokens: 10, reasoning_output_tokens: 0}
"""
SCRIPTED = BUBBLEWRAP + "  execution: {mode: direct, model_endpoint: {scripted: configs/scripts/model.yaml}}\n"


@pytest.mark.codex
@pytest.mark.skipif(shutil.which("codex") is None, reason="the Codex CLI is not installed")
def test_a_real_agent_with_a_scripted_model_is_exported_with_its_transcript_and_runs_again(tmp_path, cache):
    project = new_project(tmp_path, cache)
    script = project.root / "configs" / "scripts" / "model.yaml"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    agents = "codex: {id: codex, config: {model: gpt-5.5, request_max_retries: 0, stream_max_retries: 0}}"
    repository = run_and_export(project, project.experiment("real", agents, extra=SCRIPTED))
    assert not any("sed -i" in path.read_text() for path in repository.glob("akbench/**/*.yaml"))
    resources = {"AKBENCH_MODEL_SCRIPT": str(script)}
    assert abv3(project, repository, "setup", "--non-interactive", "--yes", **resources).returncode == 0
    done = abv3(project, repository, "run_exp", "--results", "results-rerun", **resources)
    assert done.returncode == 0, done.stdout + done.stderr
    assert abv3(project, repository, "check", "-l1+t", "--results").returncode == 0
    assert hashes(repository, "results-rerun") == hashes(repository, "results")
    for folder in ("results", "results-rerun"):
        (path,) = (repository / folder).glob("*/*/transcript.json")
        told = json.loads(path.read_text())
        assert [step["source"] for step in told["steps"]] == ["user", "agent", "agent"]
        assert told["steps"][-1]["message"] == "It names the last one now."
        assert told["final_metrics"]["total_prompt_tokens"] == 300
        (whole,) = results(repository, folder).values()
        assert (whole["count"], whole["task_success_rate"]) == (1, 1)
