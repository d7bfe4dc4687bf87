"""Reading descriptors: every fault is named with its place and its mend."""

import os
from pathlib import Path

import pytest

from akbench.dataset.format import RepositoryFile
from akbench.descriptors.document import parse, read
from akbench.descriptors.kinds import AgentDescriptor, ExperimentDescriptor, TaskDescriptor
from akbench.descriptors.snapshot import canonical_hash
from akbench.plain_yaml import SIZE_LIMIT
from akbench.spec import InputError

TASK = """\
schema_version: "1.0"
id: t-1
version: "1.0.0"
task:
  category: bug_fix
  difficulty: easy
"""


def fault(text: str, model: type = TaskDescriptor) -> str:
    with pytest.raises(InputError) as error:
        parse(text, "task.yaml").validate(model)
    return str(error.value)


def test_a_right_descriptor_is_read_with_its_defaults():
    task = parse(TASK, "task.yaml").validate(TaskDescriptor)
    assert (task.id, task.task.environment.python) == ("t-1", "3.12")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("difficulty: easy", "dificulty: easy"), "task.yaml:6:3: unknown key 'dificulty'; did you mean 'difficulty'?"),
        (("difficulty: easy", "difficulty: trivial"), "task.yaml:6:15: task.difficulty: input should be 'easy'"),
        (("  difficulty: easy\n", ""), "missing key 'task.difficulty'"),
        (
            ('version: "1.0.0"', "version: 1.10"),
            'task.yaml:3:10: version: input should be a valid string; write it in quotes: "1.10"',
        ),
        (('schema_version: "1.0"', 'schema_version: "9"'), "task.yaml:1:17: schema_version: input should be '1.0'"),
        (("id: t-1", "id: ../x"), "task.yaml:2:5: id: '../x' is no identifier"),
        (("id: t-1", "id: t-1\nid: t-2"), "task.yaml:3:1: not valid YAML: found duplicate key"),
        (("id: t-1", "id: [t-1"), "not valid YAML"),
        (
            ("difficulty: easy", 'difficulty: easy\n  protected: [""]'),
            "task.yaml:7:15: task.protected.0: '' matches nothing",
        ),
        (("difficulty: easy", "difficulty: easy\n  protected: [../x]"), "'../x' matches nothing"),
        (
            ("difficulty: easy", "difficulty: easy\n  environment: {python_path: [/etc]}"),
            "'/etc' must be a relative path",
        ),
        (("difficulty: easy", "difficulty: easy\n  environment: {python_path: [a/../..]}"), "must be a relative path"),
        (("difficulty: easy", "difficulty: easy\n  environment: {python_path: ['a:/b']}"), "without ':'"),
        (
            ("difficulty: easy", "difficulty: easy\n  limits: {timeout_seconds: true}"),
            "task.yaml:7:29: task.limits.timeout",
        ),
        (("difficulty: easy", 'difficulty: easy\n  limits: {timeout_seconds: "5"}'), "should be a valid number"),
        (("id: t-1", "id: t-1\n\tx: 1"), "task.yaml:3:1: not valid YAML"),
    ],
)
def test_a_fault_is_named_with_its_place_and_mend(change, message):
    assert message in fault(TASK.replace(*change))


def test_all_faults_of_a_file_are_reported_together_each_with_its_place():
    message = fault(TASK.replace("difficulty: easy", "dificulty: easy").replace("id: t-1", "id: /"))
    assert "task.yaml:2:5" in message
    assert "task.yaml:6:3" in message
    assert "missing key 'task.difficulty'" in message


@pytest.mark.parametrize("text", ["", "- a\n", "just words\n", "3\n"])
def test_anything_but_a_mapping_is_refused(text):
    assert "expected a mapping" in fault(text)


def test_of_very_many_faults_the_first_ones_are_shown_and_the_rest_are_counted():
    message = fault(TASK + "".join(f"key{number}: 1\n" for number in range(500)))
    assert "unknown key 'key3'" in message
    assert message.endswith("and 479 more faults")


def test_a_huge_file_is_refused_unread(tmp_path: Path):
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * (SIZE_LIMIT + 1))
    with pytest.raises(InputError, match="larger than"):
        read(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a: 1\nb: \xff\n", r"x\.yaml:2:4: not UTF-8"), (b"\xff\xfea\0", "save it as UTF-8"), (None, "no such file")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content, message):
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read(path)
    assert str(path) in str(error.value)


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="is no file; put a file there"):
        read(tmp_path)


def test_a_pipe_in_place_of_a_file_is_named_and_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is no file"):
        read(tmp_path / "pipe")


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path):
    (tmp_path / "t.yaml").write_bytes(b"\xef\xbb\xbf" + TASK.replace("t-1", "/").encode())
    with pytest.raises(InputError, match=r"t\.yaml:2:5: id"):
        read(tmp_path / "t.yaml").validate(TaskDescriptor)


def test_the_canonical_hash_ignores_comments_order_and_formatting():
    first = parse("a: 1\nb: {c: [1, 2]}\n", "x").data
    second = parse("# hello\nb:\n  c:\n    - 1\n    - 2\na: 1\n", "y").data
    assert canonical_hash(first) == canonical_hash(second)
    assert canonical_hash(first) != canonical_hash(parse("a: 1\nb: {c: [2, 1]}\n", "z").data)


def test_an_agent_must_say_something_about_every_capability():
    text = TASK.replace(
        "task:\n  category: bug_fix\n  difficulty: easy\n",
        "agent:\n  adapter: x\n  execution_type: process\n  capabilities: {workspace_binding: true}\n",
    )
    assert "say true, false or unknown for fresh_session" in fault(text, AgentDescriptor)


def test_missing_capabilities_are_told_beside_other_faults():
    text = TASK.replace(
        "task:\n  category: bug_fix\n  difficulty: easy\n",
        "agent:\n  adapter: x\n  execution_type: proces\n  capabilities: {workspace_binding: true}\n",
    )
    told = fault(text, AgentDescriptor)
    assert "say true, false or unknown for fresh_session" in told
    assert "execution_type" in told


def test_a_contestant_cannot_be_given_the_solution():
    from akbench.spec import CAPABILITIES

    capabilities = ", ".join(f"{name}: false" for name in CAPABILITIES)
    text = (
        'schema_version: "1.0"\nid: a\nversion: "1.0.0"\nagent:\n  adapter: x\n  execution_type: process\n'
        f"  receives_reference_solution: true\n  capabilities: {{{capabilities}}}\n"
    )
    assert "only an agent of role control" in fault(text, AgentDescriptor)


def test_a_model_endpoint_is_a_provider_or_a_script_never_both():
    text = (
        'schema_version: "1.0"\nid: e\nversion: "1.0.0"\nexperiment:\n  type: configuration\n  agent: {id: x}\n'
        "  execution:\n    model_endpoint: {base_url: 'https://x.example/v1', scripted: s.yaml}\n"
        "  dataset: {id: d, version: '1.0.0'}\n  evaluation: {evaluators: [pytest]}\n"
    )
    assert "x.yaml:8:21" in fault(text, ExperimentDescriptor).replace("task.yaml", "x.yaml")


EXPERIMENT = (
    'schema_version: "1.0"\nid: e\nversion: "1.0.0"\nexperiment:\n  type: configuration\n  agent: {id: x}\n'
    "  dataset: {id: d, version: '1.0.0'}\n  evaluation: {evaluators: [pytest]}\n"
)


@pytest.mark.parametrize(
    "url", ["http://", "https://[", "http://a:99999/", "http://a:b/", "http://a:0", "ftp://a", "a"]
)
def test_a_base_url_must_be_one(url):
    text = EXPERIMENT + f"  execution: {{model_endpoint: {{base_url: '{url}'}}}}\n"
    assert "is no URL" in fault(text, ExperimentDescriptor)


@pytest.mark.parametrize("url", ["https://me:secret@a/", "https://a/?key=1", "https://a/#x"])
def test_a_base_url_holds_no_key(url):
    text = EXPERIMENT + f"  execution: {{model_endpoint: {{base_url: '{url}'}}}}\n"
    message = fault(text, ExperimentDescriptor)
    assert "api_key_env" in message
    assert "secret" not in message


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.yaml", "a/../../x.yaml", "."])
def test_a_script_lies_below_the_project(path):
    text = EXPERIMENT + f"  execution: {{model_endpoint: {{scripted: {path}}}}}\n"
    assert "must be a relative path that stays inside" in fault(text, ExperimentDescriptor)


@pytest.mark.parametrize("value", ["true", '"2"', "2.0", "0", "-1", "null", "[2]"])
def test_a_count_is_a_whole_number_and_nothing_that_looks_like_one(value):
    text = EXPERIMENT + f"  execution_policy: {{repetitions: {value}}}\n"
    assert "task.yaml:9:35: experiment.execution_policy.repetitions" in fault(text, ExperimentDescriptor)


@pytest.mark.parametrize("value", ["1", '"no"', "no", "null"])
def test_a_flag_is_true_or_false(value):
    text = EXPERIMENT + f"  reporting: {{generate_html: {value}}}\n"
    assert "should be a valid boolean" in fault(text, ExperimentDescriptor)


def test_a_fault_in_one_of_several_kinds_of_repository_is_placed_at_its_value():
    head = 'schema_version: "1.0"\nid: r\nversion: "1.0.0"\n'
    text = head + "repository:\n  source: directory\n  path: ../x\n  license: MIT\n"
    assert fault(text, RepositoryFile).startswith("task.yaml:6:9: repository.path: '../x' must be a relative path")
