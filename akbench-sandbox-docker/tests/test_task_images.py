"""Images of tasks: built once, run whatever they hold, and what keeps one from being used."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.cli.dataset_new import write_new_dataset
from akbench.dataset.dataset import load_dataset
from akbench.pipeline import make_ready, prepared_key
from akbench.publish.importing import DatasetWriter, Written
from akbench.publish.validation import TaskBench
from akbench.sandbox import layout
from akbench.sandbox.task_image import TaskSandbox
from akbench.spec import (
    Bind,
    HostError,
    ImageFolder,
    ImportedDataset,
    ImportedImage,
    ImportedTask,
    InputError,
    Limits,
    SandboxRequest,
    SolutionScript,
)
from akbench.workspace.reference import reference_solution
from akbench_sandbox_docker.building import REPOSITORY
from akbench_sandbox_docker.engine import IMAGE, connected, inspected
from akbench_sandbox_docker.sandbox import DockerSandbox

pytestmark = pytest.mark.docker

SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


@pytest.fixture(scope="module")
def base(docker: DockerSandbox) -> str:
    """The name of AK-Bench's own image, which is made without a registry."""
    with connected() as api:
        return str(inspected(api, docker.probe().facts["image"])["RepoTags"][0])


def context(folder: Path, dockerfile: str, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Dockerfile").write_text(dockerfile)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_the_same_folder_is_built_once_and_another_one_is_another_image(docker, base, tmp_path):
    dockerfile = f"FROM {base}\nCOPY word /word\nENV WORD=kept\nWORKDIR /app\nRUN cat /word > /app/copy\n"
    first = docker.build_image(context(tmp_path / "a", dockerfile, word="one"), "Dockerfile")
    again = DockerSandbox().build_image(context(tmp_path / "b", dockerfile, word="one"), "Dockerfile")
    other = docker.build_image(context(tmp_path / "c", dockerfile, word="two"), "Dockerfile")
    assert (first.id == again.id, first.id == other.id) == (True, False)
    assert (first.environ["WORD"], first.workdir) == ("kept", "/app")
    assert docker.find_image(first.id).id == first.id
    with connected() as api:
        ours = {each["Id"]: each for each in api.images(name=REPOSITORY)}
    assert {ours[each.id]["Labels"][IMAGE] for each in (first, other)} == {"1"}


def test_an_image_that_holds_nothing_runs_what_the_harness_carries_in_and_confines_it(docker, tmp_path):
    image = docker.build_image(context(tmp_path / "empty", "FROM scratch\nCOPY word /word\n", word="one"), "Dockerfile")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    docker.own(workspace)
    script = "import os; open('/app/found', 'w').write(open('/word').read() + str(os.getuid()))"
    request = SandboxRequest(
        argv=(*image.interpreter, "-I", "-S", "-c", script),
        environ={},
        cwd="/app",
        binds=(Bind(host=workspace, inside="/app", writable=True),),
        stdin=b"",
        stdout=tmp_path / "stdout",
        stderr=tmp_path / "stderr",
        limits=Limits(timeout_seconds=30.0),
        cancelled=threading.Event(),
    )
    assert TaskSandbox(docker, image.id, "/app").run(request).exit_code == 0
    assert (workspace / "found").read_text() == f"one{layout.host_uid()}"


FAULTS = {
    "FRM x": (InputError, "unknown instruction"),
    "FROM scratch\nCOPY nothing /x": (InputError, "COPY failed"),
    "FROM {base}\nVOLUME /data": (InputError, "declares volumes (/data)"),
    "FROM {base}\nRUN echo why; exit 7": (HostError, "returned a non-zero code: 7"),
    "FROM akbench-nothing.invalid/x:1": (HostError, "the image cannot be built"),
}


@pytest.mark.parametrize("dockerfile", FAULTS)
def test_an_image_that_cannot_be_used_is_refused_with_what_the_engine_says(docker, base, tmp_path, dockerfile):
    kind, words = FAULTS[dockerfile]
    with pytest.raises(kind) as error:
        docker.build_image(context(tmp_path / "bad", dockerfile.format(base=base)), "Dockerfile")
    assert words in str(error.value)
    with connected() as api:
        assert api.containers(all=True) == []


BUILD = """
import sys
from pathlib import Path
from akbench_sandbox_docker.sandbox import DockerSandbox
DockerSandbox().build_image(Path(sys.argv[1]), "Dockerfile")
"""


def test_a_killed_harness_leaves_no_container_of_its_build(docker, base, tmp_path):
    folder = context(tmp_path / "slow", f"FROM {base}\nRUN sleep 600\n")
    harness = subprocess.Popen([sys.executable, "-c", BUILD, str(folder)])
    with connected() as api:
        try:
            _eventually(lambda: api.containers() != [])
        finally:
            harness.kill()
            harness.wait()
        _eventually(lambda: api.containers(all=True) == [])


def _eventually(condition, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "did not become true in time"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def imaged(base: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The task that ``akbench dataset new`` writes, in an image that has a Python with pytest."""
    folder = tmp_path_factory.mktemp("imaged") / "new"
    write_new_dataset("new", folder)
    task = folder / "bug_fix/slug-001"
    before, _, rest = (task / "task.yaml").read_text().partition('    python: "3.12"')
    wanted = "    dockerfile: environment/Dockerfile\n    workspace: /app\n"
    (task / "task.yaml").write_text(before + wanted + rest[rest.index("  protected") :])
    context(
        task / "environment",
        f"FROM {base}\nCOPY python /opt/python\nRUN mkdir /opt/python/bin && "
        f"ln -s {layout.interpreter()} /opt/python/bin/python3\nENV PATH=/opt/python/bin:/usr/bin:/bin\n",
    )
    place = task / "environment/python"
    for name in PYTEST:
        for file in distribution(name).files or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                target = place / SITE / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read_binary())
    (place / "pyvenv.cfg").write_text(f"home = {Path(layout.interpreter()).parent}\n")
    return folder


def ready(folder: Path, docker: DockerSandbox, cache: Path):
    dataset = load_dataset(folder)
    return make_ready(dataset.tasks[0], dataset, Catalogue.load(), cache, docker)


def test_a_task_is_judged_in_its_image_by_the_python_that_is_there(imaged, docker, tmp_path):
    pytest.importorskip("akbench_evaluators", reason="needs an evaluator")
    found = ready(imaged, docker, tmp_path / "cache")
    assert found.environment.packages["pytest"]
    assert str(found.environment.python) == "/opt/python/bin/python3"
    assert found.environment.key == prepared_key(found.assembled.task, docker)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    bench = TaskBench(
        assembled=found.assembled,
        snapshot=found.snapshot,
        environment=found.environment,
        evaluators=found.evaluators,
        sandbox=found.sandbox,
        sandbox_name="docker",
        cache=tmp_path / "cache",
        scratch=scratch,
        cancelled=threading.Event(),
    )
    solved = reference_solution(found.assembled, found.snapshot, tmp_path / "cache", tmp_path / "solved").tree
    trees = {"given": found.assembled.given, "solved": solved}
    judged = [bench.judge(tree, name).judgement for name, tree in trees.items()]
    assert [(each.outcome.value, each.score) for each in judged] == [("failure", 0.0), ("full_success", 1.0)]


def test_an_image_without_a_python_is_refused_where_one_is_needed(imaged, docker, base, tmp_path):
    pytest.importorskip("akbench_evaluators", reason="needs an evaluator")
    dockerfile = imaged / "bug_fix/slug-001/environment/Dockerfile"
    before = dockerfile.read_text()
    dockerfile.write_text(f"FROM {base}\nENV PATH=/nowhere\n")
    try:
        with pytest.raises(InputError, match=r"task\.yaml:10:5: .*no python3 on its PATH, which evaluator 'pytest'"):
            ready(imaged, docker, tmp_path / "cache")
    finally:
        dockerfile.write_text(before)


def imported(task: ImportedTask) -> ImportedDataset:
    return ImportedDataset(title="t", description="d", license="MIT", source="s", commit=None, tasks=(task,))


def test_an_imported_task_takes_its_repository_and_its_solution_out_of_its_image(docker, base, tmp_path):
    dockerfile = f"FROM {base}\nWORKDIR /app\nRUN mkdir .git && echo x > .git/config && echo made > made.txt\n"
    task = ImportedTask(
        id="made",
        title="t",
        category="new_feature",
        difficulty="easy",
        description="d\n",
        license="MIT",
        repository=ImageFolder(),
        checks={"test.sh": b"exit 0\n"},
        image=ImportedImage(files={"Dockerfile": dockerfile.encode()}),
        solution=SolutionScript(
            argv=("bash", "/solution/solve.sh"),
            place="/solution",
            files={"solve.sh": b"cat made.txt /solution/deep/more > answer.txt; test $A = 1", "deep/more": b"more"},
            environ={"A": "1"},
        ),
        evaluator="reward",
        config={"command": ["true"]},
    )

    def write(name: str, task: ImportedTask) -> Written:
        (tmp_path / name).mkdir()
        fetched = AssertionError("nothing is fetched")
        writer = DatasetWriter(
            tmp_path / name / "set",
            tmp_path,
            tmp_path / name,
            fetch=_raising(fetched),
            check=lambda _: None,
            sandbox=lambda: docker,
        )
        return writer.write(imported(task), "set")

    assert write("good", task).tasks == ("made",)
    place = tmp_path / "good/set/new_feature/made"
    assert [path.name for path in (tmp_path / "good/set/repositories/made").iterdir()] == ["made.txt"]
    assert "+made\n+more" in (place / "solution/reference.patch").read_text()
    assert load_dataset(tmp_path / "good/set").tasks[0].descriptor.task.environment.workspace == "/app"

    failing = replace(task.solution, argv=("bash", "-c", "echo why >&2; exit 3"))
    with pytest.raises(InputError, match=r"its solution fails here, .*\(exit code 3\): why"):
        write("bad", replace(task, solution=failing))


def _raising(error: Exception):
    def fail(*_: object):
        raise error

    return fail


def test_a_task_whose_image_is_not_there_is_told_how_to_get_it(docker):
    with pytest.raises(HostError, match=r"no image 'nobody\.example/x:1'.* docker pull nobody\.example/x:1"):
        docker.find_image("nobody.example/x:1")
