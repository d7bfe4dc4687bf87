"""A task's own image as its prepared environment, as far as no image is needed to tell; the rest needs an engine."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from akbench.cli.dataset_new import write_new_dataset
from akbench.dataset.assembly import assemble
from akbench.dataset.dataset import load_dataset
from akbench.dataset.environment import PreparedEnvironment
from akbench.descriptors.evaluator import CombinedPart
from akbench.evaluate.judging import ReadyEvaluator
from akbench.pipeline import require_python
from akbench.sandbox.environment import EnvironmentSandbox
from akbench.sandbox.image_context import check_context
from akbench.sandbox.local import LocalSandbox
from akbench.sandbox.prepared import environment_binds
from akbench.sandbox.task_image import TaskSandbox
from akbench.spec import Evaluator, InputError, Limits, ProcessEvidence, SandboxRequest
from akbench.workspace.reference import reference_solution
from akbench.workspace.snapshot import take_snapshot

TASK = "bug_fix/slug-001"


def test_what_the_image_sets_reaches_its_processes_but_for_what_the_harness_decides():
    image = {"PATH": "/opt/bin:/bin", "HOME": "/root", "LANG": "de_DE", "PYTHONPATH": "/opt/lib", "JAVA_HOME": "/jdk"}
    made = PreparedEnvironment(key="k", python=None, packages={}, image="sha256:1", variables=image)
    assert made.environ(home="/home/agent", tmp="/tmp", import_path=["/app", "/app/src"]) == {
        "PATH": "/opt/bin:/bin",
        "HOME": "/home/agent",
        "TMPDIR": "/tmp",
        "LANG": "de_DE",
        "PYTHONPATH": "/app:/app/src:/opt/lib",
        "JAVA_HOME": "/jdk",
    }
    assert environment_binds(made) == ()


class NeedsPackage(Evaluator):
    needs_packages = ("pytest",)

    def check_config(self, config):
        """Any will do."""

    def prepare(self, request):
        raise AssertionError("nothing is run")

    def judge(self, evidence):
        raise AssertionError("nothing is judged")


@pytest.mark.parametrize(
    ("python", "packages", "words"),
    [
        (None, {}, "the image has no python3 on its PATH, which evaluator 'looking' needs"),
        (
            Path("/usr/bin/python3"),
            {"pip": "24.0"},
            "(/usr/bin/python3) has no pytest, which evaluator 'look",
        ),
        (Path("/usr/bin/python3"), {"pytest": "9.2.0"}, None),
    ],
)
def test_what_an_evaluator_needs_must_be_in_the_image(python: Path | None, packages: dict[str, str], words: str | None):
    environment = PreparedEnvironment(key="k", python=python, packages=packages, image="sha256:1")
    evaluator = ReadyEvaluator(
        part=CombinedPart(id="a", adapter="looking"), evaluator=NeedsPackage(), distribution="here", version="1"
    )
    if words is None:
        require_python(environment, (evaluator,))
        return
    with pytest.raises(InputError) as error:
        require_python(environment, (evaluator,))
    assert words in str(error.value)


def test_only_the_workspace_has_another_place_in_an_image(tmp_path: Path):
    within = LocalSandbox()
    placed, usual = TaskSandbox(within, "sha256:1", "/app"), TaskSandbox(within, "sha256:1", None)
    assert placed.inside("workspace", tmp_path) == "/app"
    assert placed.inside("home", tmp_path) == usual.inside("workspace", tmp_path) == within.inside("home", tmp_path)


class Telling(LocalSandbox):
    """Keeps what it was asked to run."""

    asked: SandboxRequest

    def run(self, request: SandboxRequest) -> ProcessEvidence:
        self.asked = request
        return super().run(request)


def test_the_image_of_the_task_goes_before_that_of_the_environment_whose_bounds_stay(tmp_path: Path):
    telling = Telling()
    environment = EnvironmentSandbox(telling, "of the environment", {"processes": 77})
    request = SandboxRequest(
        argv=("true",),
        environ={"PATH": "/usr/bin:/bin"},
        cwd=str(tmp_path),
        binds=(),
        stdin=b"",
        stdout=tmp_path / "stdout",
        stderr=tmp_path / "stderr",
        limits=Limits(timeout_seconds=10.0),
        cancelled=threading.Event(),
    )
    environment.run(request)
    assert (telling.asked.image, telling.asked.shows_python) == ("of the environment", True)
    TaskSandbox(environment, "of the task", None).run(request)
    assert (telling.asked.image, telling.asked.shows_python) == ("of the task", False)
    assert telling.asked.limits.processes == 77


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (f"{TASK}/hidden_tests/tests/test_punctuation.py", "the same as hidden_tests/tests/test_punctuation.py"),
        (f"{TASK}/solution/reference.patch", "the same as solution/reference.patch"),
        (None, "the same as the solution's slugs/__init__.py"),
        ("repositories/slugs/slugs/__init__.py", None),
    ],
)
def test_a_folder_with_what_the_agent_must_not_see_becomes_no_image(
    tmp_path: Path, source: str | None, words: str | None
):
    folder = tmp_path / "new"
    write_new_dataset("new", folder)
    path = folder / TASK / "task.yaml"
    before, _, rest = path.read_text().partition('    python: "3.12"')
    path.write_text(f"{before}    dockerfile: environment/Dockerfile\n{rest[rest.index('  protected') :]}")
    context = folder / TASK / "environment" / "deep"
    context.mkdir(parents=True)
    (context.parent / "Dockerfile").write_text("FROM scratch\n")
    dataset = load_dataset(folder)
    assembled = assemble(dataset.tasks[0], dataset, tmp_path / "cache")
    snapshot = take_snapshot(assembled.given, tmp_path / "cache")
    solved = reference_solution(assembled, snapshot, tmp_path / "cache", tmp_path / "solved").tree
    (context / "copy").write_bytes((folder / source).read_bytes() if source else solved.read(b"slugs/__init__.py"))
    if words is None:
        check_context(assembled, snapshot, tmp_path / "cache")
        return
    with pytest.raises(InputError, match="environment/deep/copy would get into the image") as error:
        check_context(assembled, snapshot, tmp_path / "cache")
    assert words in str(error.value)
