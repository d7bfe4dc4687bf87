"""`akbench descriptor` and `akbench category`: what they print and when they fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from akbench.descriptors.kinds import KINDS

MAIN = "from akbench.cli import main; main()"
DIMENSION = """\
schema_version: "1.0"
id: depth
version: "2.1.0"
dimension: {type: integer, minimum: 1, controllable: false}   # observed only
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "descriptors").mkdir()
    (tmp_path / "descriptors" / "depth.yaml").write_text(DIMENSION)
    return tmp_path


def akbench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_list_says_kind_id_version_and_origin(project: Path):
    done = akbench(project, "descriptor", "list", "--json")
    assert done.returncode == 0, done.stderr
    listed = {(each["kind"], each["id"]): each for each in json.loads(done.stdout)["descriptors"]}
    assert listed["agent", "oracle"]["origin"].startswith("akbench-core ")
    own = listed["dimension", "depth"]
    assert (own["version"], own["origin"]) == ("2.1.0", "descriptors/depth.yaml")


def test_the_list_can_be_narrowed_to_a_kind(project: Path):
    done = akbench(project, "descriptor", "list", "--kind", "dimension")
    assert done.returncode == 0, done.stderr
    assert "depth" in done.stdout
    assert "oracle" not in done.stdout


def test_show_prints_the_text_as_written_and_the_hash(project: Path):
    done = akbench(project, "descriptor", "show", "dimension/depth")
    assert done.returncode == 0, done.stderr
    shown = json.loads(akbench(project, "descriptor", "show", "dimension/depth", "--json").stdout)
    assert DIMENSION in done.stdout
    assert shown["text"] == DIMENSION
    assert f"# hash {shown['hash']}" in done.stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dimension/dept", "unknown dimension 'dept'; did you mean 'depth'?"),
        ("dimention/depth", "unknown kind 'dimention'; known: agent, runtime,"),
        ("depth", "write KIND/ID"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(project: Path, name: str, message: str):
    done = akbench(project, "descriptor", "show", name)
    assert done.returncode == 2
    assert message in done.stderr


def test_validate_names_every_fault_of_every_file(project: Path):
    (project / "wrong.yaml").write_text(DIMENSION.replace("id: depth", "id: /").replace("minimum: 1", "minimun: 1"))
    done = akbench(project, "descriptor", "validate", "descriptors/depth.yaml", "wrong.yaml", "nowhere.yaml")
    assert done.returncode == 2
    assert done.stdout == "descriptors/depth.yaml: ok, dimension depth 2.1.0\n"
    assert "wrong.yaml:2:5: id: " in done.stderr
    assert "wrong.yaml:4:28: unknown key 'minimun'; did you mean 'minimum'?" in done.stderr
    assert "nowhere.yaml: no such file" in done.stderr


def test_validate_tells_programs_line_and_column(project: Path):
    (project / "wrong.yaml").write_text(DIMENSION.replace("id: depth", "id: /"))
    done = akbench(project, "descriptor", "validate", "--json", "wrong.yaml", "descriptors/depth.yaml", "nowhere.yaml")
    found = json.loads(done.stdout)
    assert (done.returncode, found["valid"]) == (2, False)
    wrong, right, missing = found["files"]
    assert [(fault["line"], fault["column"]) for fault in wrong["faults"]] == [(2, 5)]
    assert (right["kind"], right["id"], right["faults"]) == ("dimension", "depth", [])
    assert missing["faults"][0]["line"] is None


def test_right_files_are_no_error(project: Path):
    assert akbench(project, "descriptor", "validate", "descriptors/depth.yaml").returncode == 0


def test_schemas_of_all_kinds_are_written_for_editors(project: Path):
    done = akbench(project, "descriptor", "schema", "--all", "schemas")
    assert done.returncode == 0, done.stderr
    written = {path.name: json.loads(path.read_text()) for path in (project / "schemas").iterdir()}
    assert set(written) == {f"{kind}.schema.json" for kind in KINDS}
    for schema in written.values():
        Draft202012Validator.check_schema(schema)


def test_one_schema_is_printed(project: Path):
    done = akbench(project, "descriptor", "schema", "plugin")
    assert json.loads(done.stdout)["title"] == "PluginDescriptor"


@pytest.mark.parametrize("arguments", [(), ("agent", "--all", "x"), ("agnet",)])
def test_a_schema_of_nothing_or_of_two_things_is_a_usage_error(project: Path, arguments: tuple[str, ...]):
    assert akbench(project, "descriptor", "schema", *arguments).returncode == 2
    assert not (project / "x").exists()


def test_all_nine_categories_are_listed_with_what_a_solution_must_show(project: Path):
    done = akbench(project, "category", "list", "--json")
    listed = json.loads(done.stdout)["categories"]
    assert {each["id"] for each in listed} == {
        "bug_fix",
        "new_feature",
        "refactoring",
        "performance",
        "testing",
        "security",
        "debugging",
        "code_review",
        "architecture",
    }
    assert all(each["judged_by"] and each["description"] for each in listed)
    assert "judged by" in akbench(project, "category", "list").stdout
