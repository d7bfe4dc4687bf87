"""Malformed datasets and tasks, one for each rule: one clear message, with the file and, where it has one, the line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.cli.dataset_new import write_new_dataset
from akbench.dataset.assembly import assemble
from akbench.dataset.dataset import load_dataset
from akbench.pipeline import check_task
from akbench.spec import InputError

TASK = "bug_fix/slug-001"
VERDICT = {
    "format": "1",
    "task": "slug-001",
    "task_version": "1.0.0",
    "valid": True,
    "key": {"content": "c", "evaluator": "pytest", "distribution": "akbench-evaluators", "version": "0.1.0"},
}

type Break = Callable[[Path], object]


def edit(name: str, old: str, new: str) -> Break:
    def change(folder: Path) -> None:
        path = folder / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))

    return change


def write(name: str, text: str) -> Break:
    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    return change


def remove(name: str) -> Break:
    return lambda folder: (folder / name).unlink()


def move(name: str, to: str) -> Break:
    def change(folder: Path) -> None:
        (folder / to).parent.mkdir(exist_ok=True)
        (folder / name).rename(folder / to)

    return change


def task(old: str, new: str) -> Break:
    return edit(f"{TASK}/task.yaml", old, new)


def related(text: str) -> Break:
    return task("  difficulty:", f"  relations: {text}\n  difficulty:")


def environment(text: str, *, dockerfile: str = "environment/Dockerfile") -> Break:
    """The task's environment is `text`, and a Dockerfile lies there."""

    def change(folder: Path) -> None:
        path = folder / TASK / "task.yaml"
        before, _, rest = path.read_text().partition('    python: "3.12"')
        path.write_text(f"{before}    {text}\n{rest[rest.index('  protected') :]}")
        write(f"{TASK}/{dockerfile}", "FROM scratch\n")(folder)

    return change


FAULTS: dict[str, tuple[Break, str, str]] = {
    "no YAML": (edit("dataset.yaml", "title: ", "title: ["), "dataset.yaml:8:", ""),
    "no licence": (edit("dataset.yaml", "license: CC0-1.0", "# "), "dataset.yaml:4:1", "missing key 'license'"),
    "an unknown key": (edit("dataset.yaml", "title:", "titel:"), "dataset.yaml:7:1", "did you mean 'title'?"),
    "a version that is none": (edit("dataset.yaml", '"1.0.0"', '"1.0"'), "dataset.yaml:6:10", "no version such as"),
    "an id that is none": (edit("dataset.yaml", "id: new", "id: a b"), "dataset.yaml:5:5", "is no identifier"),
    "another schema version": (edit("dataset.yaml", '"1.0"', '"9.0"'), "dataset.yaml:4:17", "schema_version"),
    "no repetitions": (edit("dataset.yaml", "repetitions: 3", "repetitions: 0"), "dataset.yaml:12:29", "repetitions"),
    "no task": (move(TASK, "elsewhere"), "new", "no task found"),
    "a task without its file": (remove(f"{TASK}/evaluator.yaml"), TASK, "the task has no evaluator.yaml"),
    "a task in the wrong folder": (move(TASK, "bug_fix/slug-002"), "task.yaml:2:5", "make them equal"),
    "a category in the wrong folder": (move(TASK, "security/slug-001"), "task.yaml:6:13", "make them equal"),
    "an unknown difficulty": (task("difficulty: easy", "difficulty: tough"), "task.yaml:7:15", "'expert'"),
    "a requirement without a version": (task("pytest==9.2.0", "pytest"), "task.yaml:12:", "is not pinned"),
    "a Python that is none": (task('"3.12"', '"2.7"'), "task.yaml:10:13", "python"),
    "a number for a version": (task('"3.12"', "3.12"), "task.yaml:10:13", 'write it in quotes: "3.12"'),
    "a path that leads out": (task('["."]', '["../x"]'), "task.yaml:13:19", "stays inside"),
    "a glob that matches nothing": (task('"tests/**"', '"./tests"'), "task.yaml:14:15", "matches nothing"),
    "an image beside a Python": (
        task('    python: "3.12"', '    image: x:1\n    python: "3.12"'),
        "task.yaml:11:13",
        "brings its own",
    ),
    "an image beside a Dockerfile": (
        environment("image: x:1\n    dockerfile: environment/Dockerfile"),
        "task.yaml:10:12",
        "stands beside dockerfile",
    ),
    "an image that is none": (environment("image: -x y"), "task.yaml:10:12", "names no image"),
    "a workspace without an image": (
        task('    python: "3.12"', '    workspace: /app\n    python: "3.12"'),
        "task.yaml:10:16",
        "only an image",
    ),
    "a workspace over the system": (
        environment("image: x:1\n    workspace: /usr"),
        "task.yaml:11:16",
        "folder of its own",
    ),
    "a workspace that leads back": (
        environment("image: x:1\n    workspace: /a/../b"),
        "task.yaml:11:16",
        "folder of its own",
    ),
    "a Dockerfile that is not there": (
        environment("dockerfile: environment/Other"),
        "task.yaml:10:17",
        "there is no file",
    ),
    "a Dockerfile beside the solution": (
        environment("dockerfile: Dockerfile", dockerfile="Dockerfile"),
        "task.yaml:10:17",
        "the task's folder holds what the agent must not see",
    ),
    "a Dockerfile among hidden tests": (
        environment("dockerfile: hidden_tests/Dockerfile", dockerfile="hidden_tests/Dockerfile"),
        "task.yaml:10:17",
        "hidden_tests/ holds what the agent must not see",
    ),
    "no time": (task("timeout_seconds: 600", "timeout_seconds: 0"), "task.yaml:15:29", "greater than 0"),
    "a relation to no task": (related("{same: [slug-01]}"), "task.yaml:7:22", "did you mean 'slug-001'?"),
    "a relation to itself": (related("{related: [slug-001]}"), "task.yaml:7:25", "to itself"),
    "two relations to one task": (related("{same: [x], misleading: [x]}"), "task.yaml:7:39", "already under 'same'"),
    "an unknown relation": (related("{similar: [x]}"), "task.yaml:7:15", "unknown key 'similar'"),
    "an unknown category": (
        lambda folder: (task("bug_fix", "bugfix")(folder), move(TASK, "bugfix/slug-001")(folder)),
        "task.yaml:6:13",
        "did you mean 'bug_fix'?",
    ),
    "an empty description": (write(f"{TASK}/description.md", "\n"), "description.md", "given this text as its task"),
    "an unknown source": (
        edit(f"{TASK}/repository.yaml", "source: directory", "source: floppy"),
        "repository.yaml:6:3",
        "floppy",
    ),
    "a repository that is not there": (
        edit(f"{TASK}/repository.yaml", "repositories/slugs", "repositories/slug"),
        "repository.yaml:7:9",
        "there is no folder 'repositories/slug'",
    ),
    "a task's folder as repository": (
        edit(f"{TASK}/repository.yaml", "repositories/slugs", TASK),
        "repository.yaml:7:9",
        f"'{TASK}' holds, or lies in, the task {TASK}",
    ),
    "all tasks as repository": (
        edit(f"{TASK}/repository.yaml", "repositories/slugs", "bug_fix"),
        "repository.yaml:7:9",
        "put the repository below repositories/",
    ),
    "a mutation that would not be read": (
        write(f"{TASK}/mutations/one.yml", "x: 1"),
        "mutations/one.yml",
        "end in .yaml; rename it",
    ),
    "a naive fix that would not be read": (write(f"{TASK}/naive/one.diff", "x"), "naive/one.diff", "end in .patch"),
    "a repository without a licence": (
        edit(f"{TASK}/repository.yaml", "  license: CC0-1.0\n", ""),
        "repository.yaml:6:3",
        "license",
    ),
    "files withheld that are not there": (
        edit(f"{TASK}/repository.yaml", "license: CC0-1.0", 'license: CC0-1.0\n  withhold: ["doc/*"]'),
        "repository.yaml:9:14",
        "'doc/*' matches no file",
    ),
    "an unknown evaluator": (
        edit(f"{TASK}/evaluator.yaml", "adapter: pytest", "adapter: pytset"),
        "evaluator.yaml:6:12",
        "did you mean 'pytest'?",
    ),
    "an evaluator without targets": (
        edit(f"{TASK}/evaluator.yaml", "target:", "targets:"),
        "evaluator.yaml:8:5",
        "unknown key 'targets'",
    ),
    "a test time that is none": (
        edit(f"{TASK}/evaluator.yaml", "test_timeout_seconds: 10", "test_timeout_seconds: -1"),
        "evaluator.yaml:8:5",
        "'test_timeout_seconds' is -1",
    ),
    "no hidden tests": (
        move(f"{TASK}/hidden_tests", f"{TASK}/public_tests/more"),
        TASK,
        "put at least one test file into hidden_tests/",
    ),
    "no solution": (remove(f"{TASK}/solution/reference.patch"), TASK, "the task has no reference solution"),
    "a file as naive fixes": (
        lambda folder: (move(f"{TASK}/naive", "old")(folder), write(f"{TASK}/naive", "x")(folder)),
        f"{TASK}/naive",
        "is no folder",
    ),
    "a verdict that is none": (write("validation/slug-001.json", "{"), "slug-001.json:1:", ""),
    "a verdict without a key": (
        write("validation/slug-001.json", json.dumps({**VERDICT, "key": {}}, indent=1)),
        "slug-001.json:6:9",
        "missing key 'key.content'",
    ),
    "a verdict that is no file": (
        lambda folder: (folder / "validation/slug-001.json").mkdir(parents=True),
        "validation/slug-001.json",
        "is no file; remove it and validate again",
    ),
    "a huge verdict that is none": (write("validation/slug-001.json", " " * (1 << 21)), "slug-001.json", "no verdict"),
    "a verdict on another task": (
        write("validation/slug-001.json", json.dumps({**VERDICT, "task": "slug-002"})),
        "slug-001.json:1",
        "is about task 'slug-002'",
    ),
    "a verdict on no task": (
        write("validation/slug-002.json", json.dumps({**VERDICT, "task": "slug-002"})),
        "validation/slug-002.json",
        "the dataset has no task 'slug-002'; remove this file",
    ),
    "a frozen file that is none": (write("frozen.json", '{"format": "1"}'), "frozen.json:1:1", "missing key 'id'"),
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    pytest.importorskip("akbench_evaluators", reason="needs an evaluator")
    return Catalogue.load()


def examine(folder: Path, catalogue: Catalogue, cache: Path) -> None:
    """What ``akbench dataset validate`` does before it runs anything."""
    dataset = load_dataset(folder)
    for each in dataset.tasks:
        check_task(each, catalogue)
        assemble(each, dataset, cache)


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.replace(" ", "_"))
def test_a_malformed_dataset_is_refused_with_one_message_and_its_place(case: str, tmp_path: Path, catalogue: Catalogue):
    folder = tmp_path / "new"
    write_new_dataset("new", folder)
    break_it, place, words = FAULTS[case]
    break_it(folder)
    with pytest.raises(InputError) as error:
        examine(folder, catalogue, tmp_path / "cache")
    first = str(error.value).splitlines()[0]
    assert place in first
    assert words in str(error.value)


def test_at_least_thirty_rules_are_tried_and_the_dataset_they_break_is_good(tmp_path: Path, catalogue: Catalogue):
    assert len(FAULTS) >= 30
    write_new_dataset("new", tmp_path / "new")
    examine(tmp_path / "new", catalogue, tmp_path / "cache")
