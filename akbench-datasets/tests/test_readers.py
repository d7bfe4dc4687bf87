"""Reading checkouts: what each part of the source becomes, and why something is refused."""

import json
import os
from pathlib import Path

import pytest
from dulwich import porcelain

from akbench.spec import (
    GitRepository,
    ImageFolder,
    ImportedDataset,
    ImportedImage,
    ImportedTask,
    InputError,
    SolutionScript,
)
from akbench_datasets.exercism import read_exercism_track, read_polyglot
from akbench_datasets.harbor import read_harbor
from akbench_datasets.quixbugs import read_quixbugs
from akbench_datasets.swebench import read_instances

MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def only(found: ImportedDataset) -> ImportedTask:
    assert len(found.tasks) == 1, found
    return found.tasks[0]


PROGRAMS = {
    "LICENSE": MIT,
    "conftest.py": "# options",
    "python_programs/double.py": "def double(n):\n    return n + 2\n",
    "python_programs/orphan.py": "def orphan(): ...\n",
    "python_programs/node.py": "class Node: ...\n",
    "correct_python_programs/double.py": "def double(n):\n    return n * 2\n",
    "correct_python_programs/orphan.py": "def orphan(): ...\n",
    "correct_python_programs/node.py": "class Node: ...\n",
    "python_testcases/test_double.py": "# tests",
    "python_testcases/load_testdata.py": "# reads cases",
    "json_testcases/double.json": "[[1], 2]\n",
}


def test_a_program_is_given_alone_and_its_tests_and_correction_are_not(tmp_path: Path):
    found = read_quixbugs(lay(tmp_path, PROGRAMS))
    task = only(found)
    assert list(task.repository) == ["python_programs/double.py"]
    assert sorted(task.hidden_tests) == [
        "conftest.py",
        "json_testcases/double.json",
        "python_testcases/load_testdata.py",
        "python_testcases/test_double.py",
    ]
    assert task.solution == {"python_programs/double.py": b"def double(n):\n    return n * 2\n"}
    assert task.config["test_timeout_seconds"] > 0
    assert found.refused == {"orphan": "it has no test in python_testcases/"}


def test_the_origin_of_a_checkout_is_its_commit_its_licence_and_a_url_without_secrets(tmp_path: Path):
    lay(tmp_path, PROGRAMS)
    outside = read_quixbugs(tmp_path)
    assert (outside.license, outside.commit) == ("MIT", None)
    porcelain.init(str(tmp_path))
    porcelain.add(str(tmp_path), paths=[str(tmp_path / "LICENSE")])
    commit = porcelain.commit(str(tmp_path), message=b"x", author=b"a <a@b.invalid>", committer=b"a <a@b.invalid>")
    config = tmp_path / ".git" / "config"
    for url, told in (("https://me:secret@host.invalid/x.git", "https://host.invalid/x.git"), ("/home/x", None)):
        config.write_text(f'[remote "origin"]\n\turl = {url}\n')
        found = read_quixbugs(tmp_path)
        assert (found.commit, found.source) == (commit.decode(), told or outside.source)


@pytest.mark.parametrize("read", [read_quixbugs, read_exercism_track, read_polyglot, read_harbor])
def test_another_folder_is_refused_with_what_is_missing(tmp_path: Path, read):
    with pytest.raises(InputError, match=r"no folder|no such|there is no"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("config", "head", "reason"),
    [
        ("[[[", "ref: refs/heads/main", "cannot be read (ValueError"),
        ("[core]\nrepositoryformatversion = 9\n", "ref: refs/heads/main", "cannot be read (UnsupportedVersion"),
        (
            "[core]\nrepositoryformatversion = 1\n[extensions]\nfoo = 1\n",
            "ref: refs/heads/main",
            "UnsupportedExtension",
        ),
        ("", "nonsense", "HEAD is 'nonsense'"),
        ("", "ref: HEAD", "mend it, or remove it to import the files without their commit"),
    ],
)
def test_a_damaged_git_repository_is_refused_with_what_to_do(tmp_path: Path, config: str, head: str, reason: str):
    lay(tmp_path, PROGRAMS)
    porcelain.init(str(tmp_path))
    lay(tmp_path / ".git", {"config": config, "HEAD": f"{head}\n"})
    with pytest.raises(InputError, match=r"/\.git: its git repository cannot be read") as error:
        read_quixbugs(tmp_path)
    assert reason in str(error.value)


def test_what_the_configuration_of_a_checkout_includes_is_not_read(tmp_path: Path):
    lay(tmp_path, PROGRAMS)
    porcelain.init(str(tmp_path))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # whoever opened it would wait for ever
    (tmp_path / ".git" / "config").write_text(f"[include]\n\tpath = {pipe}\n")
    assert read_quixbugs(tmp_path).commit is None


def test_no_file_is_read_through_a_link_out_of_the_checkout(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    checkout = lay(tmp_path / "checkout", PROGRAMS)
    (checkout / "correct_python_programs").rename(outside / "moved")
    (checkout / "correct_python_programs").symlink_to(outside / "moved")
    found = read_quixbugs(checkout)
    assert found.tasks == ()
    assert "correct_python_programs/double.py: leads elsewhere" in found.refused["double"]


def test_a_huge_file_of_a_checkout_is_refused_unread(tmp_path: Path):
    lay(tmp_path, PROGRAMS)
    os.truncate(tmp_path / "python_testcases/test_double.py", 1 << 40)
    assert "larger than 33554432 bytes" in read_quixbugs(tmp_path).refused["double"]


FILES = {"solution": ["leap.py"], "test": ["leap_test.py", "extra.py"], "example": [".meta/example.py"]}
EXERCISE = {
    ".meta/config.json": json.dumps({"files": FILES, "blurb": "Leap years."}),
    ".meta/example.py": "def leap(year):\n    return year % 4 == 0\n",
    ".docs/instructions.md": "# Instructions\n\nTell leap years.\n",
    ".docs/instructions.append.md": "Raise nothing.\n",
    "leap.py": "def leap(year):\n    pass\n",
    "leap_test.py": "# tests",
    "extra.py": "# of the tests",
}


def track(root: Path, listed: list[dict[str, object]], **changed: str) -> Path:
    lay(root, {"LICENSE": MIT, "config.json": json.dumps({"exercises": {"practice": listed}})})
    lay(root / "exercises/practice/leap", {**EXERCISE, **changed})
    return root


def test_an_exercise_is_its_stub_and_its_instructions(tmp_path: Path):
    task = only(read_exercism_track(track(tmp_path, [{"slug": "leap", "name": "Leap", "difficulty": 7}])))
    assert (task.title, task.category, task.difficulty) == ("Leap", "new_feature", "hard")
    assert list(task.repository) == ["leap.py"]
    assert sorted(task.hidden_tests) == ["extra.py", "leap_test.py"]
    assert task.config["target"] == ["leap_test.py"]
    assert task.solution == {"leap.py": EXERCISE[".meta/example.py"].encode()}
    assert task.description == (
        "# Instructions\n\nTell leap years.\n\nRaise nothing.\n\n"
        "Write your solution into `leap.py`. Names and parameters stay as they are.\n"
    )


@pytest.mark.parametrize(
    ("listed", "changed", "reason"),
    [
        ([{"slug": "leap", "difficulty": 1, "status": "deprecated"}], {}, "deprecated"),
        ([], {".meta/config.json": "{"}, "no JSON"),
        ([], {".meta/config.json": json.dumps({"files": {**FILES, "example": ["a", "b"]}})}, "not one for each"),
        ([], {".meta/config.json": json.dumps({"files": {**FILES, "test": []}})}, "names no test file"),
        ([], {".meta/config.json": json.dumps({"files": {**FILES, "example": ["gone.py"]}})}, "no such plain file"),
        (
            [],
            {".meta/config.json": json.dumps({"files": {**FILES, "example": ["../../../LICENSE"]}})},
            "leads elsewhere",
        ),
        ([], {".meta/config.json": json.dumps({"files": {**FILES, "example": ["/etc/passwd"]}})}, "no such plain"),
        (
            [],
            {".meta/config.json": json.dumps({"files": {**FILES, "test": ["x" * 5000 + "_test.py"]}})},
            "no such plain",
        ),
        ([], {".meta/config.json": json.dumps({"files": {**FILES, "test": ["a\0_test.py"]}})}, "no such plain"),
        ([], {".meta/config.json": json.dumps({"files": {**FILES, "test": ["extra.py"]}})}, "ends in _test.py"),
        (
            [],
            {".meta/config.json": json.dumps({"files": {**FILES, "editor": ["leap_test.py"]}})},
            "'leap_test.py' twice",
        ),
        ([], {".meta/config.json": json.dumps({"files": []})}, "is no list of names"),
        ([], {".meta/config.json": "[" * 100_000}, "leap/.meta/config.json:1: no JSON that can be read: too deeply"),
        ([], {".meta/config.json": '{\n  "files": x}'}, "leap/.meta/config.json:2:12: no JSON"),
        ([{"slug": "leap", "difficulty": 1000}], {}, "none of 1 to 10"),
        ([{"slug": "leap", "difficulty": True}], {}, "none of 1 to 10"),
    ],
)
def test_an_exercise_that_is_not_whole_is_refused_with_the_reason(tmp_path: Path, listed, changed, reason):
    found = read_exercism_track(track(tmp_path, listed, **changed))
    assert found.tasks == ()
    assert reason in found.refused["leap"]


@pytest.mark.parametrize(
    "text",
    ["[]", '{"exercises": []}', '{"exercises": {"practice": 3}}', '{"exercises": {"practice": [{"name": "x"}]}}'],
)
def test_a_track_that_lists_no_exercises_is_refused_where_it_should(tmp_path: Path, text: str):
    track(tmp_path, [])
    with pytest.raises(InputError, match=r"config\.json: "):
        read_exercism_track(lay(tmp_path, {"config.json": text}))


def test_instructions_that_are_no_text_refuse_their_exercise(tmp_path: Path):
    (track(tmp_path, []) / "exercises/practice/leap/.docs/instructions.md").write_bytes(b"\xff")
    found = read_exercism_track(tmp_path)
    assert "instructions.md: not UTF-8 (byte 0)" in found.refused["leap"]


def test_what_the_polyglot_checkout_does_not_say_is_said_to_be_assumed(tmp_path: Path):
    found = read_polyglot(lay(tmp_path, {f"python/exercises/practice/leap/{name}": t for name, t in EXERCISE.items()}))
    assert only(found).difficulty == "medium"
    assert any("states no licence" in note for note in found.notes)


INSTANCE = {
    "instance_id": "owner__name-1",
    "repo": "owner/name",
    "base_commit": "a" * 40,
    "problem_statement": "# It adds wrong\n\nadd(1, 1) is 3.",
    "hints_text": "look at line 2",
    "patch": "diff --git a/x.py b/x.py\n",
    "test_patch": "diff --git a/test_x.py b/test_x.py\n",
    "FAIL_TO_PASS": '["test_x.py::test_add"]',
    "PASS_TO_PASS": ["test_x.py::test_zero"],
    "python": "3.12.4",
    "requirements": "attrs==25.3.0\nPytest==9.2.0\n",
    "difficulty": "1-4 hours",
    "license_name": "MIT",
}


def instances(root: Path, *rows: dict[str, object]) -> ImportedDataset:
    path = root / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_instances(path)


def test_an_instance_is_its_problem_and_a_commit_that_is_fetched_later(tmp_path: Path):
    task = only(instances(tmp_path, INSTANCE))
    assert task.repository == GitRepository(url="https://github.com/owner/name", commit="a" * 40)
    assert (task.title, task.difficulty, task.python, task.license) == ("It adds wrong", "hard", "3.12", "MIT")
    assert "line 2" not in task.description
    assert task.config["target"] == ["test_x.py::test_add"]
    assert task.config["regression"] == ["test_x.py::test_zero"]
    assert [pin for pin in task.requirements if pin.lower().startswith("pytest")] == ["Pytest==9.2.0"]
    assert "pluggy==1.6.0" in task.requirements
    assert (task.solution, task.test_patch) == (INSTANCE["patch"].encode(), INSTANCE["test_patch"].encode())


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"base_commit": "v1.0"}, "no full commit id"),
        ({"patch": ""}, "line 1: it has no patch"),
        ({"patch": "\ud800"}, "its patch holds a character that is no text"),
        ({"problem_statement": "a\0b"}, "its problem_statement holds a character that is no text"),
        ({"FAIL_TO_PASS": "[" * 100_000}, "FAIL_TO_PASS is no list"),
        ({"FAIL_TO_PASS": "[]"}, "FAIL_TO_PASS is empty"),
        ({"FAIL_TO_PASS": ["test_add (x.tests.Case)"]}, "which is no test of pytest"),
        ({"python": None}, "it names no Python version"),
        ({"requirements": None}, "it pins no environment"),
        ({"requirements": ["attrs>=1"]}, "'attrs>=1' is not pinned"),
    ],
)
def test_an_instance_that_cannot_be_a_task_is_refused_with_the_reason(tmp_path: Path, changed, reason):
    found = instances(tmp_path, {**INSTANCE, **changed}, {**INSTANCE, "instance_id": "good"})
    assert reason in found.refused["owner__name-1"]
    assert [task.id for task in found.tasks] == ["good"]


def test_a_line_that_is_no_json_is_named_with_its_number(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(INSTANCE) + "\n{\n")
    with pytest.raises(InputError, match=r"rows\.jsonl:2:2: no JSON"):
        read_instances(path)


def test_two_instances_of_one_name_are_both_told(tmp_path: Path):
    broken = {**INSTANCE, "patch": ""}
    assert [*instances(tmp_path, broken, broken).refused] == ["owner__name-1", "owner__name-1 (line 2)"]


HARBOR = {
    "task.toml": "[environment]\nbuild_timeout_sec = 600.0\n",
    "instruction.md": "Do it.\n",
    "tests/test.sh": "#!/bin/sh\n",
    "solution/solve.sh": "#!/bin/sh\n",
    "environment/Dockerfile": "FROM python:3.12-slim\nRUN true\nCOPY . /app\n",
}


def test_a_harbor_task_is_its_image_its_tests_and_its_solution(tmp_path: Path):
    more = {
        "task.toml": """\
[metadata]
difficulty = "hard"
category = "files"
tags = ["a", "files"]
[verifier]
timeout_sec = 60
env = { LEVEL = "2" }
[agent]
timeout_sec = 90.5
""",
        "tests/data/expected.txt": "x",
        "environment/app/seed.txt": "s",
        "solution/patch.diff": "p",
    }
    lay(tmp_path / "hello", {**HARBOR, **more})
    task = only(read_harbor(tmp_path))
    assert (task.id, task.description, task.difficulty, task.tags) == ("hello", "Do it.\n", "hard", ("files", "a"))
    assert isinstance(task.repository, ImageFolder)
    assert task.image is not None
    assert sorted(task.image.files) == ["Dockerfile", "app/seed.txt"]
    assert sorted(task.checks) == ["data/expected.txt", "test.sh"]
    assert (task.evaluator, task.config["timeout_seconds"], task.config["variables"]) == (
        "reward",
        60.0,
        {"LEVEL": "2"},
    )
    assert isinstance(task.solution, SolutionScript)
    assert (sorted(task.solution.files), task.solution.timeout_seconds) == (["patch.diff", "solve.sh"], 90.5)
    assert task.timeout_seconds == 90.5


def test_a_harbor_task_may_name_an_image_in_place_of_a_dockerfile(tmp_path: Path):
    changed = {**HARBOR, "task.toml": '[environment]\ndocker_image = "x/y:1"\n'}
    lay(tmp_path / "hello", {name: text for name, text in changed.items() if name != "environment/Dockerfile"})
    assert only(read_harbor(tmp_path)).image == ImportedImage(reference="x/y:1")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"environment/docker-compose.yaml": "services: {}\n"}, "several containers"),
        ({"steps/one/instruction.md": "x"}, "several steps"),
        ({"task.toml": "["}, "not a whole Harbor task: task.toml"),
        ({"task.toml": "[agent]\ntimeout_sec = 0\n"}, "agent.timeout_sec is 0"),
        ({"task.toml": '[verifier]\nenv = { KEY = "${KEY}" }\n'}, "takes KEY from the host's environment"),
        ({"task.toml": '[environment]\nenv = { A = "1" }\n'}, "write them into its Dockerfile"),
        ({"instruction.md": " "}, "not a whole Harbor task: instruction.md is empty"),
        ({"task.toml": "x = " + "[" * 10_000}, "not a whole Harbor task: task.toml"),
        ({"environment/Dockerfile": "RUN true\n"}, "not a whole Harbor task: environment/Dockerfile has no FROM"),
    ],
)
def test_a_harbor_task_that_cannot_be_one_of_ours_is_refused_with_the_reason(tmp_path: Path, changed, reason):
    lay(tmp_path / "hello", {**HARBOR, **changed})
    assert reason in read_harbor(tmp_path).refused["hello"]


@pytest.mark.parametrize("name", ["instruction.md", "tests/test.sh", "environment/Dockerfile"])
def test_a_harbor_task_without_one_of_its_parts_is_none(tmp_path: Path, name: str):
    lay(tmp_path / "hello", {key: text for key, text in HARBOR.items() if key != name})
    reason = read_harbor(tmp_path).refused["hello"]
    assert reason.startswith("not a whole Harbor task: ")
    assert name in reason


def test_a_harbor_task_without_a_solution_says_so(tmp_path: Path):
    lay(tmp_path / "hello", {key: text for key, text in HARBOR.items() if "solve" not in key})
    assert "no solution/solve.sh to validate it by" in read_harbor(tmp_path).refused["hello"]


def test_harbor_tasks_of_one_name_in_different_folders_are_both_told(tmp_path: Path):
    for group in ("one", "two"):
        lay(tmp_path / group / "hello", {**HARBOR, "instruction.md": " "})
    assert sorted(read_harbor(tmp_path).refused) == ["one/hello", "two/hello"]
