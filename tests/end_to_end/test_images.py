"""A Harbor task from its folder to a result: built, imported, validated and run in its image."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project_under_test import ProjectUnderTest

from akbench_sandbox_docker.engine import connected, inspected
from akbench_sandbox_docker.sandbox import DockerSandbox

pytestmark = [pytest.mark.slow, pytest.mark.docker, pytest.mark.usefixtures("docker_engine")]

TEST = """\
#!/bin/bash
echo '{"reward": 0}' > /logs/verifier/reward.json
if [ "$(cat /app/greeting.txt 2>/dev/null)" = "$(cat /tests/data/expected.txt)" ]; then reward=1; else reward=0; fi
echo $reward > /logs/verifier/reward.txt
"""
FILES = {
    "task.toml": "[metadata]\ndifficulty = 'easy'\n[agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 60\n",
    "instruction.md": "Write hello into greeting.txt.\n",
    "environment/Dockerfile": "FROM {base}\nWORKDIR /app\nCOPY data.txt .\nRUN echo made > made.txt\n",
    "environment/data.txt": "data\n",
    "tests/test.sh": TEST,
    "tests/data/expected.txt": "hello\n",
    "solution/solve.sh": "cp /solution/answer /app/greeting.txt\n",
    "solution/answer": "hello\n",
}


def harbor_tasks(root: Path) -> Path:
    """Two tasks: one that is whole, and one whose solution wants the network."""
    with connected() as api:
        base = inspected(api, DockerSandbox().probe().facts["image"])["RepoTags"][0]
    for task, solution in (("hello", {}), ("fetches", {"solution/solve.sh": "exec 3<>/dev/tcp/192.0.2.1/80\n"})):
        for name, text in {**FILES, **solution}.items():
            path = root / task / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{base}", base))
    return root


def test_a_harbor_task_is_imported_validated_and_run_in_its_image(project: ProjectUnderTest, tmp_path: Path):
    source = harbor_tasks(tmp_path / "tasks")
    done = project.akbench("dataset", "import", str(source), "--format", "harbor", "--json")
    imported = json.loads(done.stdout)
    assert imported["tasks"] == ["hello"]
    assert "its solution fails here, without network" in imported["refused"]["fetches"]
    folder = project.root / "datasets/harbor"
    given = {path.name: path.read_text() for path in (folder / "repositories/hello").iterdir()}
    assert given == {"data.txt": "data\n", "made.txt": "made\n"}

    done = project.akbench("dataset", "validate", "harbor", "--repetitions", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads((folder / "validation/hello.json").read_text())
    assert (verdict["valid"], verdict["sandbox"]) == (True, "docker")

    file = project.experiment("harbor", "oracle: {id: oracle}\nnoop: {id: noop}\n")
    path = project.root / file
    path.write_text(path.read_text().replace("id: starter", "id: harbor").replace("[pytest]", "[reward]"))
    assert project.akbench("experiment", "run", file).returncode == 0
    assert [run["solved"] for run in project.show("exp-0001")["run_list"]] == [True, False]
    artifacts = project.root / "data/artifacts/exp-0001"
    manifest = json.loads((artifacts / "run-0001/manifest.json").read_text())
    images = json.loads((artifacts / "experiment.json").read_text())["images"]
    assert manifest["image"] == manifest["sandbox_facts"]["image"] == verdict["image"] == images["hello"]
    assert manifest["environment"] == verdict["environment"]
