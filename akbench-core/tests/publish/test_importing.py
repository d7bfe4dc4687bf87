"""Writing what an importer read: the agent's part holds nothing of the others."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from akbench.dataset.assembly import assemble
from akbench.dataset.dataset import Task, load_dataset
from akbench.dataset.tree import FILE, Tree
from akbench.publish.importing import DatasetWriter, Written
from akbench.sandbox.local import LocalSandbox
from akbench.spec import (
    GitRepository,
    HostError,
    ImageFolder,
    ImportedDataset,
    ImportedImage,
    ImportedTask,
    InputError,
    SolutionScript,
)
from akbench.workspace.reference import reference_solution
from akbench.workspace.snapshot import take_snapshot

BROKEN = b"def add(a, b):\n    return a - b  # a long enough line\n"
FIXED = b"def add(a, b):\n    return a + b  # a long enough line\n"
TEST = b"from calc import add\n\ndef test_add():\n    assert add(1, 1) == 2\n"
TEST_PATCH = b"""\
diff --git a/test_calc.py b/test_calc.py
new file mode 100644
--- /dev/null
+++ b/test_calc.py
@@ -0,0 +1 @@
+def test_new(): pass
"""
PATCH = b"""\
diff --git a/calc.py b/calc.py
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b  # a long enough line
+    return a + b  # a long enough line
"""
TASK = ImportedTask(
    id="add",
    title="Add",
    category="bug_fix",
    difficulty="easy",
    description="add(1, 1) is 0\n",
    license="MIT",
    repository={"calc.py": BROKEN, "notes: odd?.md": b"x"},
    hidden_tests={"tests/test_add.py": TEST},
    solution={"calc.py": FIXED, "new/file.txt": b"new\n"},
    evaluator="pytest",
    config={"target": ["tests/test_add.py"], "timeout_seconds": 60},
)


def imported(*tasks: ImportedTask) -> ImportedDataset:
    return ImportedDataset(
        title="Sums", description="d", license="MIT", source="https://host.invalid/x", commit="c" * 40, tasks=tasks
    )


def writer_in(folder: Path, fetch: Callable[[GitRepository], Tree]) -> DatasetWriter:
    places = (folder / "sums", folder / "cache", folder / "scratch")
    return DatasetWriter(*places, fetch=fetch, check=check, sandbox=LocalSandbox)


def written(folder: Path, *tasks: ImportedTask) -> Written:
    def fetch(repository: GitRepository) -> Tree:
        assert repository.url == "https://host.invalid/repo"
        return Tree.of({b"calc.py": (FILE, BROKEN)})

    (folder / "scratch").mkdir()
    writer = writer_in(folder, fetch)
    return writer.write(imported(*tasks), "sums")


def check(task: Task) -> None:
    """Stands for what the catalogue knows."""
    if task.descriptor.task.category == "unknown":
        raise InputError("unknown category")


def test_what_is_written_is_a_dataset_whose_solution_leads_to_what_the_importer_said(tmp_path: Path):
    assert written(tmp_path, TASK).tasks == ("add",)
    dataset = load_dataset(tmp_path / "sums")
    assert (dataset.model.license, dataset.model.dataset.commit) == ("MIT", "c" * 40)
    assembled = assemble(dataset.task("add"), dataset, tmp_path / "cache")
    assert sorted(assembled.given.entries) == [b"calc.py", b"notes: odd?.md"]
    assert list(assembled.hidden.entries) == [b"tests/test_add.py"]
    (tmp_path / "reference").mkdir()
    snapshot = take_snapshot(assembled.given, tmp_path / "cache")
    solved = reference_solution(assembled, snapshot, tmp_path / "cache", tmp_path / "reference").tree
    assert solved.read(b"calc.py") == FIXED
    assert solved.read(b"new/file.txt") == b"new\n"


def test_a_task_on_a_commit_keeps_its_patch_and_hides_what_the_test_patch_changes(tmp_path: Path):
    repository = GitRepository(url="https://host.invalid/repo", commit="a" * 40)
    task = replace(TASK, repository=repository, hidden_tests={}, test_patch=TEST_PATCH, solution=PATCH)
    folder = tmp_path / "sums" / "bug_fix" / "add"
    try:
        written(tmp_path, task)
    finally:
        assert (folder / "hidden_tests" / "test_calc.py").read_text() == "def test_new(): pass\n"
        assert (folder / "solution" / "reference.patch").read_bytes() == PATCH
        assert "commit: " + "a" * 40 in (folder / "repository.yaml").read_text()


REFUSED = {
    "the solution lies beside": ({"repository": {"calc.py": BROKEN, "old.py": FIXED}}, "old.py in what the agent"),
    "a hidden test lies beside": ({"repository": {"calc.py": BROKEN, "t.py": TEST}}, "the same as tests/test_add.py"),
    "the solution changes nothing": ({"solution": {"calc.py": BROKEN}}, "its solution changes nothing"),
    "no hidden test": ({"hidden_tests": {}}, "no tests that the agent does not see"),
    "a path that leads out": ({"hidden_tests": {"../x.py": TEST}}, "not a plain relative path"),
    "an unknown category": ({"category": "unknown"}, "unknown category"),
    "a name that leads out": ({"id": "../../x"}, "is no identifier"),
    "a category that leads out": ({"category": "../x"}, "is no identifier"),
    "half of a character": ({"description": "\ud800"}, "holds half of a character"),
    "half of a character in a name": ({"hidden_tests": {"\ud800": TEST}}, "holds half of a character"),
    "a title that no file can hold": ({"title": "a\0b"}, "bug_fix/add/task.yaml:4:8: not valid YAML"),
    "a null character": ({"description": "a\0b"}, "bug_fix/add/description.md:1: holds a null character"),
    "a name that is too long": ({"hidden_tests": {"x" * 300: TEST}}, "too long for a file system"),
    "a requirement that is not pinned": ({"requirements": ("pytest",)}, "bug_fix/add/task.yaml:"),
    "a patch of another file": ({"solution": PATCH.replace(b"calc", b"clac")}, "the patch does not apply"),
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "_"))
def test_a_task_that_would_give_itself_away_or_cannot_be_is_refused_and_stops_no_other(tmp_path: Path, case: str):
    changed, reason = REFUSED[case]
    found = written(tmp_path, replace(TASK, **changed), replace(TASK, id="good"))
    assert found.tasks == ("good",)
    assert reason in found.refused[changed.get("id", "add")]
    assert [path.name for path in (tmp_path / "sums" / "repositories").iterdir()] == ["good"]
    assert [*(tmp_path / "scratch").iterdir()] == []


def test_when_nothing_is_left_every_reason_is_told(tmp_path: Path):
    with pytest.raises(InputError, match=r"no task of it can be imported:\n  add: it has no tests"):
        written(tmp_path, replace(TASK, hidden_tests={}))


SCRIPT = SolutionScript(argv=("sh", "/solution/solve.sh"), place="/solution", files={"solve.sh": b"true"})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"image": ImportedImage(reference="x:1")}, "it needs its image: LocalSandbox runs no images of tasks"),
        ({"image": ImportedImage(files={"Dockerfile": b"FROM scratch"})}, "it needs its image: LocalSandbox builds no"),
        ({"repository": ImageFolder()}, "its repository lies in an image, and it names none"),
        ({"solution": SCRIPT}, "its solution runs in an image, and it names none"),
    ],
)
def test_what_needs_an_image_is_refused_where_there_is_none(tmp_path: Path, changes, reason):
    assert reason in written(tmp_path, TASK, replace(TASK, id="imaged", **changes)).refused["imaged"]


def test_checks_take_the_place_of_hidden_tests_and_are_not_given(tmp_path: Path):
    task = replace(TASK, hidden_tests={}, checks={"deep/check.sh": TEST})
    assert written(tmp_path, task).tasks == ("add",)
    assert (tmp_path / "sums/bug_fix/add/checks/deep/check.sh").read_bytes() == TEST
    given = replace(task, id="told", repository={"calc.py": BROKEN, "copy.sh": TEST})
    (tmp_path / "other").mkdir()
    assert "is the same as deep/check.sh" in written(tmp_path / "other", TASK, given).refused["told"]


def test_two_tasks_of_one_name_are_not_mixed(tmp_path: Path):
    found = written(tmp_path, TASK, replace(TASK, title="Another"), replace(TASK, hidden_tests={}))
    assert found.tasks == ("add",)
    assert found.refused == dict.fromkeys(("add (again)", "add (again) (again)"), "there is another task of this name")
    assert "title: Add" in (tmp_path / "sums" / "bug_fix" / "add" / "task.yaml").read_text()


def test_a_repository_that_cannot_be_had_stops_no_other_task(tmp_path: Path):
    def fetch(repository: GitRepository) -> Tree:
        raise HostError("no network")

    (tmp_path / "scratch").mkdir()
    writer = writer_in(tmp_path, fetch)
    away = replace(TASK, id="away", repository=GitRepository(url="https://host.invalid/repo", commit="a" * 40))
    assert writer.write(imported(away, TASK), "sums") == Written(tasks=("add",), refused={"away": "no network"})
    with pytest.raises(HostError, match=r"no task of it can be imported:\n  away: no network"):
        writer.write(imported(away), "sums")
