"""The dataset's files agree with each other. What a release contains is checked where tasks are built."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from akbench_examples import project_folder


def load(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


DATASET = project_folder() / "datasets/software-engineering"
TASKS = sorted(path.parent for path in DATASET.glob("*/*/task.yaml"))
BUGS = [task for task in TASKS if task.parent.name == "bug_fix"]
FEATURES = [task for task in TASKS if task.parent.name == "new_feature"]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
each_bug = pytest.mark.parametrize("task", BUGS, ids=lambda task: task.name)
each_release_bug = pytest.mark.parametrize(
    "task",
    [task for task in BUGS if load(task / "repository.yaml")["repository"]["source"] == "sdist"],
    ids=lambda task: task.name,
)
each_feature = pytest.mark.parametrize("task", FEATURES, ids=lambda task: task.name)


def own_tests(task: Path) -> set[str]:
    """The public and hidden test files, as paths in the workspace."""
    return {
        str(path.relative_to(task / folder))
        for folder in ("public_tests", "hidden_tests")
        for path in (task / folder).rglob("test_*.py")
    }


def evaluation(task: Path) -> dict[str, Any]:
    return load(task / "evaluator.yaml")["evaluator"]["config"]


def files(selectors: list[str]) -> set[str]:
    return {selector.split("::")[0] for selector in selectors}


def test_every_yaml_file_has_a_schema_version_and_is_known_by_its_id():
    found = [load(path) for path in project_folder().rglob("*.yaml") if "configs" not in path.parts]
    assert len(found) > 30
    assert all(document["schema_version"] == "1.0" and document["id"] for document in found)


def test_there_are_bugs_in_three_libraries_and_bugs_and_features_of_two_repositories_of_our_own():
    assert (len(BUGS), len(FEATURES)) == (9, 5)
    assert {load(task / "repository.yaml")["id"] for task in BUGS} == {"boltons", "cachetools", "tabulate", "tramline"}
    assert {load(task / "repository.yaml")["id"] for task in FEATURES} == {"pocketledger", "tramline"}


@pytest.mark.parametrize("tasks", [BUGS, FEATURES], ids=["bug_fix", "new_feature"])
def test_the_difficulties_cover_the_scale_in_each_category(tasks):
    assert {load(task / "task.yaml")["task"]["difficulty"] for task in tasks} == {"easy", "medium", "hard", "expert"}


def test_every_feature_and_every_bug_of_our_own_repositories_has_a_fix_that_looks_right_and_is_not():
    ours = [task for task in TASKS if load(task / "repository.yaml")["repository"]["source"] == "directory"]
    assert [task.name for task in ours if not list((task / "naive").glob("*.patch"))] == []


@each_task
def test_a_task_is_named_and_filed_by_its_id_and_category(task):
    document = load(task / "task.yaml")
    assert document["id"] == task.name
    assert document["task"]["category"] == task.parent.name


def test_ids_titles_and_first_lines_are_unique():
    headings = [(task / "description.md").read_text().splitlines()[0] for task in TASKS]
    titles = [load(task / "task.yaml")["title"] for task in TASKS]
    assert len({task.name for task in TASKS}) == len(set(titles)) == len(set(headings)) == len(TASKS)
    assert all(heading.startswith("# ") for heading in headings)


@each_task
def test_requirements_are_pinned_and_leave_out_the_library_under_test(task):
    pins = load(task / "task.yaml")["task"]["environment"]["requirements"]
    names = [re.fullmatch(r"([a-z0-9-]+)==[\w.]+", pin)[1] for pin in pins]
    assert names == sorted(set(names))
    assert load(task / "repository.yaml")["id"] not in names


@each_task
def test_own_tests_are_run_and_what_is_run_exists(task):
    config, repository = evaluation(task), load(task / "repository.yaml")["repository"]
    asked = files(config["target"]) | files(config["regression"])
    assert own_tests(task) <= asked
    upstream = asked - own_tests(task)
    if repository["source"] == "directory":
        assert all((DATASET / repository["path"] / name).is_file() for name in upstream)


@each_task
def test_hidden_tests_are_targets_and_no_file_is_target_and_regression_at_once(task):
    config = evaluation(task)
    assert any(name.startswith("hidden", len("test_")) for name in (Path(f).name for f in files(config["target"])))
    assert not files(config["target"]) & files(config["regression"])


@each_task
def test_deselected_tests_belong_to_regression_files(task):
    config = evaluation(task)
    assert files(config.get("deselect", [])) <= files(config["regression"])


@each_task
def test_upstream_tests_that_are_targets_are_withheld(task):
    withheld = set(load(task / "repository.yaml")["repository"].get("withhold", []))
    assert files(evaluation(task)["target"]) - own_tests(task) <= withheld


@each_task
def test_a_description_gives_neither_tests_nor_mutations_away(task):
    text = (task / "description.md").read_text()
    assert "hidden" not in text.lower()
    assert "mutation" not in text.lower()
    for path in (task / "mutations").glob("*.yaml"):
        edit = load(path)["mutation"]
        assert edit["file"] not in text
        if "replace_line" in edit:
            assert edit["replace_line"]["before"].strip() not in text


@each_bug
def test_mutations_are_known_by_their_file_names(task):
    paths = sorted((task / "mutations").glob("*.yaml"))
    assert paths
    assert [load(path)["id"] for path in paths] == [path.stem for path in paths]


@each_release_bug
def test_a_mutation_changes_one_line_and_keeps_its_indentation(task):
    for path in sorted((task / "mutations").glob("*.yaml")):
        document = load(path)
        before, after = document["mutation"]["replace_line"]["before"], document["mutation"]["replace_line"]["after"]
        assert before != after
        assert "\n" not in before + after
        assert len(before) - len(before.lstrip()) == len(after) - len(after.lstrip())
        assert re.fullmatch(r"[0-9a-f]{64}", document["mutation"]["file_sha256"])


@each_release_bug
def test_a_release_is_named_by_version_hash_and_licence(task):
    document = load(task / "repository.yaml")
    assert document["version"]
    assert re.fullmatch(r"[0-9a-f]{64}", document["repository"]["sha256"])
    assert document["repository"]["license"] in {"MIT", "BSD-3-Clause"}


@each_feature
def test_the_reference_patch_applies_to_the_repository(task, tmp_path):
    source = DATASET / load(task / "repository.yaml")["repository"]["path"]
    for path in source.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            target = tmp_path / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    command = ["git", "apply", "--check", str(task / "solution/reference.patch")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
