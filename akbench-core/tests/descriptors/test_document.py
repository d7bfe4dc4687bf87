"""Reading descriptors: every fault is named with its place and its mend."""

from pathlib import Path

import pytest

from akbench.descriptors.document import ALIAS_LIMIT, SIZE_LIMIT, parse, read
from akbench.descriptors.kinds import AgentDescriptor, ExperimentDescriptor, TaskDescriptor
from akbench.descriptors.snapshot import canonical_hash
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
            ('version: "1.0.0"', "version: 1.0"),
            "task.yaml:3:10: version: input should be a valid string; write it in quotes",
        ),
        (('schema_version: "1.0"', 'schema_version: "9"'), "task.yaml:1:17: schema_version: input should be '1.0'"),
        (("id: t-1", "id: ../x"), "task.yaml:2:5: id: '../x' is no identifier"),
        (("id: t-1", "id: t-1\nid: t-2"), "task.yaml:3:1: not valid YAML: found duplicate key"),
        (("id: t-1", "id: [t-1"), "not valid YAML"),
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


def test_an_alias_bomb_is_refused_before_it_expands():
    bomb = "a: &a [1]\nb: [" + ", ".join(["*a"] * (ALIAS_LIMIT + 1)) + "]\n"
    assert "aliases" in fault(bomb)


def test_a_huge_file_is_refused_unread(tmp_path: Path):
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * (SIZE_LIMIT + 1))
    with pytest.raises(InputError, match="larger than"):
        read(path)


@pytest.mark.parametrize(("content", "message"), [(b"a: \xff\n", "not UTF-8"), (None, "no such file")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content, message):
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read(path)
    assert str(path) in str(error.value)


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
