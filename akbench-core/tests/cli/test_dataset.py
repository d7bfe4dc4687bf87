"""The commands on datasets that run nothing: what they list, write and refuse."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from akbench.cli.dataset import dataset
from akbench.dataset.dataset import UNWRITTEN, Brought, load_dataset
from akbench.dataset.verdict import Verdict, verdict_path, write_verdict
from akbench.spec import HostError, InputError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    pytest.importorskip("akbench_evaluators", reason="needs an evaluator")
    (tmp_path / "datasets").mkdir()
    for name in ("one", "two"):
        assert run(tmp_path, "new", name).exit_code == 0
    edit(tmp_path / "datasets/two/bug_fix/slug-001/task.yaml", "tags: [text]", "tags: [url]")
    return tmp_path


def run(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(dataset, [*arguments, "--project", str(project)])


def edit(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def refusal(result: Result) -> str:
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        ((), ["one", "two"]),
        (("--tag", "url"), ["two"]),
        (("--difficulty", "expert"), []),
        (("--category", "bug_fix", "--tag", "text"), ["one"]),
        (("--task", "slug-001"), ["one", "two"]),
        (("--related-to", "slug-009"), []),
    ],
)
def test_datasets_are_listed_by_the_tasks_that_pass_the_filters(project: Path, options, listed):
    found = json.loads(run(project, "list", *options, "--json").stdout)
    assert [each["id"] for each in found] == listed
    assert all(task["validation"] == "was never validated" for each in found for task in each["tasks"])


def test_a_task_is_shown_with_what_its_validation_found(project: Path):
    folder = project / "datasets/one"
    task = load_dataset(folder).tasks[0]
    key = task.verdict_key((Brought(distribution="akbench-evaluators", version="0.0.1"),))
    found = Verdict(task="slug-001", task_version="1.0.0", valid=True, key=key, fail_to_pass=("a", "b"))
    write_verdict(found, verdict_path(folder, "slug-001"))
    shown = run(project, "show", "one", "slug-001").stdout
    assert "validation: was validated with pytest of akbench-evaluators 0.0.1, not with" in shown
    assert "fail to pass: 2, pass to pass: 0" in shown
    assert task.description.rstrip() in shown


def test_a_dataset_is_shown_with_its_licence_source_and_state(project: Path):
    shown = run(project, "show", "two").stdout
    assert "license: CC0-1.0" in shown
    assert "source: written by hand" in shown
    assert "was never validated" in shown


def test_files_alone_can_be_checked(project: Path):
    assert run(project, "validate", "--static").stdout == "the files are valid; nothing was run\n"
    edit(project / "datasets/one/bug_fix/slug-001/evaluator.yaml", "adapter: pytest", "adapter: pytset")
    assert "evaluator.yaml:6:12" in refusal(run(project, "validate", "one", "--static"))


def test_the_faults_of_all_tasks_are_told_at_once(project: Path):
    first = project / "datasets/one/bug_fix/slug-001"
    shutil.copytree(first, first.with_name("slug-002"))
    edit(first.with_name("slug-002") / "task.yaml", "id: slug-001", "id: slug-002")
    for name in ("slug-001", "slug-002"):
        (first.with_name(name) / "description.md").write_text(f"x\n{UNWRITTEN}\n")
    told = refusal(run(project, "validate", "one", "--static"))
    for name in ("slug-001", "slug-002"):
        assert f"{name}/description.md:2:1: the description is still to be written" in told


def test_no_task_is_run_whose_verdict_could_not_be_stored(project: Path):
    (project / "datasets/one/validation").write_text("in the way")
    done = run(project, "validate", "one")
    assert isinstance(done.exception, HostError)
    assert "datasets/one/validation cannot be written to (File exists)" in str(done.exception)


def test_nothing_that_is_there_is_written_over(project: Path):
    assert "already there" in refusal(run(project, "new", "one"))
    (project / "datasets/one").rename(project / "datasets/moved")
    assert "dataset id 'one' is already used" in refusal(run(project, "new", "one"))
    assert "already there" in refusal(run(project, "import", str(project), "--format", "x", "--id", "two"))


@pytest.mark.parametrize("name", ["a b", "..", "a/b", ".x"])
def test_a_name_that_cannot_be_an_id_writes_nothing(project: Path, name: str):
    assert "is no identifier" in refusal(run(project, "new", name))
    assert sorted(path.name for path in (project / "datasets").iterdir()) == ["one", "two"]


def test_a_dataset_without_verdicts_is_not_frozen_and_is_told_how(project: Path):
    said = refusal(run(project, "freeze", "one"))
    assert "1 of 1 tasks cannot be frozen; validate it first (akbench dataset validate one)" in said
    assert "slug-001 was never validated" in said
    assert not (project / "datasets/one/frozen.json").exists()


def test_an_unknown_format_is_refused_with_those_there_are(project: Path):
    assert "unknown dataset format 'quixbug'" in refusal(run(project, "import", str(project), "--format", "quixbug"))
    assert "say what to read and in which format" in refusal(run(project, "import"))
