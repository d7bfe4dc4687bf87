"""Dimensions of all nine types: what is varied, what is refused with its place, and where a dimension applies."""

from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.cli import init
from akbench.dataset.dataset import Dataset, load_dataset
from akbench.descriptors.dimension import DIMENSION_TYPES
from akbench.descriptors.document import parse
from akbench.descriptors.kinds import ExperimentDescriptor
from akbench.descriptors.snapshot import load_document
from akbench.experiment.plan import Plan
from akbench.experiment.planner import ResolvedEnvironment, plan_experiment
from akbench.spec import CAPABILITIES, PlanRejectedError

STARTER = Path(init.__file__).parent / "starter"
CAPABILITY_TEXT = ", ".join(f"{name}: false" for name in CAPABILITIES)
AGENT = f"""\
agent:
  adapter: command
  execution_type: process
  capabilities: {{{CAPABILITY_TEXT}}}
  configuration_schema:
    command: {{type: list, default: ["true"]}}
    thinking: {{type: boolean}}
    budget: {{type: integer}}
    temperature: {{type: float}}
    style: {{type: string, allowed: [terse, plain]}}
    tone: {{type: string, allowed: [dry]}}
    model: {{type: string}}
"""
MODEL = 'model: {provider: example, name: "example/large-2026"}\n'


def set_by(key: str) -> str:
    return f"controllable: true, configure: {{target: agent.config, key: {key}}}"


DIMENSIONS = {
    "thinking": f"{{type: boolean, {set_by('thinking')}}}",
    "budget": f"{{type: integer, minimum: 1, maximum: 8, requires: {{thinking: [true]}}, {set_by('budget')}}}",
    "deep": f"{{type: integer, requires: {{budget: [8]}}, {set_by('temperature')}}}",
    "temperature": f"{{type: float, minimum: 0, maximum: 2, {set_by('temperature')}}}",
    "style": f"{{type: categorical, values: [terse, plain], {set_by('style')}}}",
    "tone": f"{{type: string, {set_by('tone')}}}",
    "answerer": f"{{type: model_reference, {set_by('model')}}}",
    "load": "{type: float, controllable: false}",
    "chicken": f"{{type: string, requires: {{egg: [x]}}, {set_by('style')}}}",
    "egg": f"{{type: string, requires: {{chicken: [x]}}, {set_by('tone')}}}",
    "muddled": f"{{type: string, requires: {{thinking: [sometimes]}}, {set_by('tone')}}}",
    "cache": "{type: boolean, controllable: true, configure: {target: runtime.config, key: cache}}",
    "router": "{type: runtime_configuration, controllable: true, configure: {target: runtime.config}}",
    "routed_model": "{type: model_reference, controllable: true, configure: {target: runtime.config, key: model}}",
    "memory": "{type: plugin_configuration, controllable: true, configure: {target: plugin.config, plugin: memory}}",
    "also_thinking": f"{{type: boolean, {set_by('thinking')}}}",
}
EXPERIMENT = """\
schema_version: "1.0"
id: e
version: "1.0.0"
experiment:
  type: configuration
  agents:
    worker: {id: worker}
    noop: {id: noop}
  agent: {id: worker}
  dataset: {id: starter, version: "1.0.0"}
  evaluation: {evaluators: [pytest]}
  factors:
    dimensions:
"""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(STARTER / "datasets" / "starter")


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    pytest.importorskip("akbench_evaluators", reason="needs an evaluator")
    folder = tmp_path_factory.mktemp("project") / "descriptors"
    folder.mkdir()
    sections = {"worker": AGENT, "large": MODEL}
    sections |= {name: f"dimension: {section}\n" for name, section in DIMENSIONS.items()}
    for name, section in sections.items():
        (folder / f"{name}.yaml").write_text(f'schema_version: "1.0"\nid: {name}\nversion: "1.0.0"\n{section}')
    return Catalogue.load(folder.parent)


def plan(factors: dict[str, str], catalogue: Catalogue, dataset: Dataset) -> Plan:
    lines = "".join(f"      - {{id: {name}, values: {values}}}\n" for name, values in factors.items())
    snapshot = load_document(parse(EXPERIMENT + lines, "e.yaml"), ExperimentDescriptor, origin="test")
    return plan_experiment(
        snapshot, catalogue, dataset, ResolvedEnvironment(id="bubblewrap", sandbox="bubblewrap", bounded=True), {}
    )


def test_there_are_nine_types():
    assert len(DIMENSION_TYPES) == 9


@pytest.mark.parametrize(
    ("dimension", "values", "key", "configured"),
    [
        ("thinking", "[true, false]", "thinking", [True, False]),
        ("temperature", "[0, 0.5]", "temperature", [0, 0.5]),
        ("style", "[terse, plain]", "style", ["terse", "plain"]),
        ("tone", "[dry]", "tone", ["dry"]),
        ("answerer", "[large]", "model", ["example/large-2026"]),
        ("agent", "[worker, noop]", "command", [["true"], None]),
    ],
)
def test_a_value_of_each_type_reaches_the_agent(catalogue, dataset, dimension, values, key, configured):
    planned = plan({dimension: values}, catalogue, dataset)
    assert [variant.agent.config.get(key) for variant in planned.variants] == configured


def test_a_variant_names_the_model_descriptor_and_the_agent_is_given_the_providers_name(catalogue, dataset):
    (variant,) = plan({"answerer": "[large]"}, catalogue, dataset).variants
    assert (variant.values, variant.agent.config["model"]) == ({"answerer": "large"}, "example/large-2026")


def test_a_dimension_applies_only_beside_the_values_it_requires(catalogue, dataset):
    planned = plan({"thinking": "[true, false]", "budget": "[2, 8]", "deep": "[1, 2]"}, catalogue, dataset)
    assert [tuple(variant.values.values()) for variant in planned.variants] == [
        (True, 2, None),
        (True, 8, 1),
        (True, 8, 2),
        (False, None, None),
    ]
    assert [variant.agent.config.get("budget") for variant in planned.variants] == [2, 8, 8, None]


REFUSED = {
    "a boolean that is a number": ({"thinking": "[1]"}, "e.yaml:14:33: 1 is no value of 'thinking': expected boolean"),
    "a number that is a boolean": (
        {"thinking": "[true]", "budget": "[true]"},
        "e.yaml:15:31: True is no value of 'budget': expected integer: a whole number",
    ),
    "a fraction": ({"thinking": "[true]", "budget": "[1.5]"}, "e.yaml:15:31: 1.5 is no value of 'budget'"),
    "below": (
        {"thinking": "[true]", "budget": "[2, 0]"},
        "e.yaml:15:34: 0 is no value of 'budget': below the minimum 1",
    ),
    "above": ({"temperature": "[2.5]"}, "e.yaml:14:36: 2.5 is no value of 'temperature': above the maximum 2"),
    "a number for a text": ({"tone": "[3]"}, "e.yaml:14:29: 3 is no value of 'tone': expected string: a text"),
    "nothing": ({"tone": "[null]"}, "e.yaml:14:29: None is no value of 'tone'"),
    "an unlisted category": ({"style": "[loud]"}, "e.yaml:14:30: 'loud' is no value of 'style': not among"),
    "a list as an agent": ({"agent": "[[worker]]"}, "e.yaml:14:30: ['worker'] is no value of 'agent'"),
    "an unknown model": ({"answerer": "[lrge]"}, "e.yaml:14:33: unknown model 'lrge'; did you mean 'large'?"),
    "what the agent does not take": ({"tone": "[dry, wet]"}, "e.yaml:14:34: tone: 'wet' is not allowed; allowed: dry"),
    "observed only": ({"load": "[0.5]"}, "e.yaml:14:14: dimension 'load' is not controllable; it can be observed"),
    "a key of a runtime": ({"cache": "[true]"}, "e.yaml:14:14: dimension 'cache' sets the configuration of a runtime"),
    "a runtime's configuration": ({"router": "[{a: 1}]"}, "sets the configuration of a runtime, and none takes part"),
    "a model of a runtime": ({"routed_model": "[large]"}, "sets the configuration of a runtime, and none takes part"),
    "a plugin's configuration": (
        {"memory": "[{a: 1}]"},
        "e.yaml:14:14: dimension 'memory' configures the plugin",
    ),
    "a missing dependency": (
        {"budget": "[2]"},
        "e.yaml:14:14: dimension 'budget' depends on 'thinking', which is not varied here; add it with the value True",
    ),
    "a dependency never met": (
        {"thinking": "[false]", "budget": "[2]"},
        "e.yaml:15:14: dimension 'budget' depends on 'thinking', which never has the value True here",
    ),
    "a dependency of another type": (
        {"thinking": "[true]", "muddled": "[dry]"},
        "dimension 'muddled' depends on 'thinking', but 'sometimes' is no value of that: expected boolean",
    ),
    "a circle": ({"chicken": "[x]", "egg": "[x]"}, "dimensions depend on each other in a circle: "),
    "two for one key": (
        {"thinking": "[true]", "also_thinking": "[false]"},
        "e.yaml:15:14: dimensions 'thinking' and 'also_thinking' both set the configuration key 'thinking'",
    ),
}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "_").replace("'", ""))
def test_what_cannot_be_varied_as_asked_is_refused_at_its_place(catalogue, dataset, case):
    factors, message = REFUSED[case]
    with pytest.raises(PlanRejectedError) as error:
        plan(factors, catalogue, dataset)
    assert message in str(error.value)
    assert str(error.value).startswith("e.yaml:")
