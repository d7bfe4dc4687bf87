"""The eleven kinds: what reads, what is refused and where, and the schemas that editors are given."""

import importlib.util
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from akbench.catalogue import Catalogue
from akbench.descriptors.document import parse
from akbench.descriptors.kinds import KINDS
from akbench.descriptors.schema import meanings, parts, schema_of
from akbench.descriptors.snapshot import faults_of, kind_of
from akbench.spec import InputError


def beside(name: str):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = beside("descriptor_examples").EXAMPLES


def faults(text: str) -> str:
    return "\n".join(f"{place}: {message}" for place, message in faults_of(parse(text, "x.yaml")))


def test_there_are_eleven_kinds_and_an_example_of_each():
    assert len(KINDS) == 11
    assert set(EXAMPLES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_each_kind_reads_as_its_kind(kind):
    document = parse(EXAMPLES[kind], "x.yaml")
    assert kind_of(document) == kind
    assert faults_of(document) == []
    assert Draft202012Validator(schema_of(kind)).is_valid(document.data)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_every_section_says_what_it_means(kind):
    for part in parts(KINDS[kind]):
        assert set(meanings(part)) == set(part.model_fields), part


REFUSED = {
    "a misspelt kind": ("category", ("category: {", "categroy: {"), "x.yaml:4:1: no kind 'categroy'; did you mean"),
    "a foreign capability value": ("runtime", ("healthcheck: true", "healthcheck: maybe"), "x.yaml:8:31: "),
    "no lifecycle": ("runtime", ("[managed]", "[]"), "x.yaml:7:15: runtime.lifecycles"),
    "a secret as a factor": (
        "plugin",
        ("      dimension: false\n", "      dimension: true\n"),
        "x.yaml:32:18: benchmark.observed_env.1.dimension: the value of a sensitive variable is never stored",
    ),
    "no verification": (
        "plugin",
        ("    required: true\n    methods:", "    required: true\n    method:"),
        "did you mean",
    ),
    "an empty model name": ("model", ("name: example-large\n", 'name: ""\n'), "x.yaml:6:9: model.name"),
    "hosts without access": ("environment", ("access: allow_list, ", ""), "x.yaml:7:20: environment.network.allow"),
    "no processors": ("environment", ("cpus: 1.5", "cpus: 0"), "environment.limits.cpus: input should be greater"),
    "a bound of a text": (
        "dimension",
        ("type: integer", "type: string"),
        "x.yaml:6:12: dimension.minimum: a dimension of",
    ),
    "bounds crossed": ("dimension", ("maximum: 8", "maximum: 0"), "x.yaml:7:12: dimension.maximum: 0 is below the"),
    "a value of another type": (
        "dimension",
        ("  controllable", "  values: [2, true]\n  controllable"),
        "x.yaml:8:15: dimension.values.1: true is no such value: expected integer: a whole number",
    ),
    "a value out of bounds": (
        "dimension",
        ("  controllable", "  values: [2, 9]\n  controllable"),
        "x.yaml:8:15: dimension.values.1: 9 is no such value: above the maximum 8",
    ),
    "no value": (
        "dimension",
        ("  controllable", "  values: []\n  controllable"),
        "x.yaml:8:11: dimension.values: name at least one value",
    ),
    "a value twice": (
        "dimension",
        ("  controllable", "  values: [2, 2]\n  controllable"),
        "x.yaml:8:15: dimension.values.1: 2 stands here twice",
    ),
    "a target of another type": (
        "dimension",
        ("{target: agent.config, key: depth}", "{target: agent}"),
        "x.yaml:10:23: ",
    ),
    "a target without key": (
        "dimension",
        (", key: depth", ""),
        "x.yaml:10:14: dimension.configure.key: target agent.config",
    ),
    "a plugin that is not named": (
        "dimension",
        ("agent.config", "plugin.config"),
        "dimension.configure.plugin: needed",
    ),
    "controllable but never set": (
        "dimension",
        ("  configure: {target: agent.config, key: depth}\n", ""),
        "dimension.configure: a controllable dimension must say where",
    ),
    "set but not controllable": (
        "dimension",
        ("controllable: true", "controllable: false"),
        "x.yaml:10:14: dimension.configure: a dimension that is not controllable is never set",
    ),
    "categories without values": (
        "dimension",
        ("type: integer\n  minimum: 1\n  maximum: 8", "type: categorical"),
        "dimension.values: a categorical dimension must list them",
    ),
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "_"))
def test_a_wrong_descriptor_is_refused_at_its_place(case):
    kind, change, message = REFUSED[case]
    text = EXAMPLES[kind].replace(*change)
    assert text != EXAMPLES[kind]
    assert message in faults(text)


def test_all_faults_are_listed_not_only_the_first():
    text = EXAMPLES["dimension"].replace("  controllable", "  values: [0, two, 9]\n  controllable")
    assert faults(text).count("x.yaml:8:") == 3


def test_two_sections_are_no_descriptor():
    with pytest.raises(InputError, match="exactly one section"):
        kind_of(parse(EXAMPLES["category"] + "metric: {}\n", "x.yaml"))


def test_every_installed_descriptor_keeps_to_the_schema_that_editors_are_given():
    catalogue = Catalogue.load()
    assert catalogue.failures == []
    checked = 0
    for kind in KINDS:
        validator = Draft202012Validator(schema_of(kind))
        for snapshot in catalogue.descriptors(kind):
            assert list(validator.iter_errors(snapshot.document.data)) == [], snapshot.model.id
            checked += 1
    assert checked >= 20


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("task", ("difficulty: easy", "dificulty: easy")),
        ("task", ("difficulty: easy", "difficulty: trivial")),
        ("task", ("id: example", "id: ../x")),
        ("task", ('version: "1.0.0"', 'version: "one"')),
        ("agent", ("    fresh_session: unknown\n", "")),
        ("agent", ("fresh_session: unknown", "fresh_session: perhaps")),
        ("experiment", ("  evaluation: {evaluators: [pytest]}\n", "")),
    ],
)
def test_the_schema_refuses_what_the_model_refuses(kind, change):
    text = EXAMPLES[kind].replace(*change)
    assert faults(text)
    assert not Draft202012Validator(schema_of(kind)).is_valid(parse(text, "x.yaml").data)


def test_a_schema_tells_an_editor_what_a_field_means():
    schema = schema_of("experiment")
    Draft202012Validator.check_schema(schema)
    assert "Wall clock" in schema["$defs"]["ExecutionPolicy"]["properties"]["timeout_seconds"]["description"]
    assert schema["properties"]["id"]["description"].startswith("The name by which")
