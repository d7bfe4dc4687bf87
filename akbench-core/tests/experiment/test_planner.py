"""Planning: what is laid out, and what is refused with the place in the experiment file."""

from dataclasses import replace
from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.cli import init
from akbench.dataset.dataset import Dataset, load_dataset
from akbench.descriptors.document import parse
from akbench.descriptors.kinds import ExperimentDescriptor
from akbench.descriptors.snapshot import load_document
from akbench.descriptors.task import TaskEnvironment
from akbench.experiment.plan import Plan
from akbench.experiment.planner import ResolvedEnvironment, plan_experiment
from akbench.spec import CAPABILITIES, InputError, PlanRejectedError, Probe, Problem, Support

STARTER = Path(init.__file__).parent / "starter"
SANDBOX = ResolvedEnvironment(id="bubblewrap", sandbox="bubblewrap", bounded=True)
CAPABILITY_TEXT = ", ".join(f"{name}: {str(name == 'tool_trace').lower()}" for name in CAPABILITIES)

THINKER = f"""\
schema_version: "1.0"
id: thinker
version: "2.0.0"
agent:
  adapter: command
  execution_type: process
  needs_model: true
  capabilities: {{{CAPABILITY_TEXT}}}
  configuration_schema:
    command: {{type: list, default: ["true"]}}
    depth: {{type: string, allowed: [low, high]}}
"""
DEPTH = """\
schema_version: "1.0"
id: depth
version: "1.0.0"
dimension:
  type: categorical
  values: [low, high]
  controllable: true
  configure: {target: agent.config, key: depth}
"""
LOAD = """\
schema_version: "1.0"
id: load
version: "1.0.0"
dimension: {type: float, controllable: false}
"""
EXPERIMENT = """\
schema_version: "1.0"
id: e
version: "1.0.0"
experiment:
  type: configuration
  agents:
    thinker: {id: thinker}
    oracle: {id: oracle}
    noop: {id: noop}
  execution:
    model_endpoint: {base_url: "https://provider.example/v1", api_key_env: PROVIDER_KEY}
  dataset: {id: starter, version: "1.0.0"}
  factors:
    dimensions:
      - {id: agent, values: [thinker, oracle, noop]}
      - {id: depth, values: [low, high]}
    baseline: {agent: thinker, depth: low}
  execution_policy: {repetitions: 3}
  evaluation: {evaluators: [pytest]}
  metrics: [task_success_rate]
"""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(STARTER / "datasets" / "starter")


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    pytest.importorskip("akbench_evaluators", reason="needs an evaluator")
    project = tmp_path_factory.mktemp("project")
    (project / "descriptors").mkdir()
    for name, text in (("thinker", THINKER), ("depth", DEPTH), ("load", LOAD)):
        (project / "descriptors" / f"{name}.yaml").write_text(text)
    return Catalogue.load(project)


def plan(
    text: str,
    catalogue: Catalogue,
    dataset: Dataset,
    sandbox: ResolvedEnvironment = SANDBOX,
    probed: dict[str, Probe] | None = None,
) -> Plan:
    snapshot = load_document(parse(text, "e.yaml"), ExperimentDescriptor, origin="test")
    return plan_experiment(snapshot, catalogue, dataset, sandbox, probed or {})


def test_a_dimension_that_does_not_apply_to_an_agent_makes_no_extra_variant(catalogue, dataset):
    planned = plan(EXPERIMENT, catalogue, dataset)
    assert [variant.name for variant in planned.variants] == ["thinker · low", "thinker · high", "oracle", "noop"]
    assert planned.variants[2].values == {"agent": "oracle", "depth": None}


def test_every_variant_does_every_task_in_every_repetition(catalogue, dataset):
    planned = plan(EXPERIMENT, catalogue, dataset)
    assert len(planned.runs) == 4 * 1 * 3
    assert len({(run.variant_id, run.task_id, run.repetition) for run in planned.runs}) == 12
    assert [run.id for run in planned.runs[:2]] == ["run-0001", "run-0002"]


def test_variant_ids_depend_on_what_is_asked_for_and_on_nothing_else(catalogue, dataset):
    first = plan(EXPERIMENT, catalogue, dataset)
    reordered = plan(EXPERIMENT.replace("[thinker, oracle, noop]", "[noop, oracle, thinker]"), catalogue, dataset)
    assert {variant.id for variant in first.variants} == {variant.id for variant in reordered.variants}
    assert plan(EXPERIMENT.replace("provider.example", "other.example"), catalogue, dataset).variants[0].id not in {
        variant.id for variant in first.variants
    }
    assert first.variants[0].id == "v-" + first.variants[0].config_hash[:8]


def test_the_baseline_marks_one_variant(catalogue, dataset):
    planned = plan(EXPERIMENT, catalogue, dataset)
    assert [variant.name for variant in planned.variants if variant.is_baseline] == ["thinker · low"]


def test_only_contestants_are_given_a_model(catalogue, dataset):
    planned = plan(EXPERIMENT, catalogue, dataset)
    assert {variant.agent.id: variant.agent.model is not None for variant in planned.variants} == {
        "thinker": True,
        "oracle": False,
        "noop": False,
    }


@pytest.mark.parametrize("mode", ["strict", "best_effort"])
def test_a_task_with_an_image_is_refused_where_no_image_can_be_run(catalogue, dataset, mode):
    (task,) = dataset.tasks
    part = task.descriptor.task.model_copy(update={"environment": TaskEnvironment(image="x:1")})
    snapshot = replace(task.snapshot, model=task.descriptor.model_copy(update={"task": part}))
    imaged = replace(dataset, tasks=(replace(task, snapshot=snapshot),))
    text = EXPERIMENT + f"  isolation: {{environment: bubblewrap}}\n  requires: {{mode: {mode}}}\n"
    with pytest.raises(PlanRejectedError, match=r"e\.yaml:21:28: task 'greet-001' runs in an image .*task\.yaml:9:5"):
        plan(text, catalogue, imaged)
    assert plan(text, catalogue, imaged, replace(SANDBOX, task_images=True)).tasks[0].id == "greet-001"


def test_an_unconfined_sandbox_is_a_warning_of_the_plan(catalogue, dataset):
    sandbox = ResolvedEnvironment(id="local", sandbox="local", bounded=False, shortcomings=("confines nothing",))
    assert plan(EXPERIMENT, catalogue, dataset, sandbox).warnings == ("confines nothing",)


REJECTED = {
    "unknown agent": (("{id: oracle}", "{id: orakle}"), "e.yaml:8:18: unknown agent 'orakle'; did you mean 'oracle'?"),
    "agent version": (("{id: noop}", "{id: noop, version: '3.0.0'}"), "described here in version 1.0.0, not 3.0.0"),
    "dataset version": (
        ('version: "1.0.0"}', 'version: "9.0.0"}'),
        "e.yaml:12:35: dataset 'starter' is here in version",
    ),
    "runtime mode": (
        ("execution:\n", "execution:\n    mode: router\n"),
        "e.yaml:11:5: experiment.execution.runtime: needed for the modes runtime and router",
    ),
    "no such dimension": (("id: depth", "id: dept"), "e.yaml:16:14: unknown dimension 'dept'; did you mean 'depth'?"),
    "uncontrollable": (
        ("{id: depth, values: [low, high]}", "{id: load, values: [0.5]}"),
        "can be observed, not varied",
    ),
    "foreign value": (
        ("values: [low, high]", "values: [low, medium]"),
        "e.yaml:16:35: 'medium' is no value of 'depth': not among the allowed: low, high",
    ),
    "unnamed agent": (("[thinker, oracle, noop]", "[thinker, command]"), "no agent 'command' under experiment.agents"),
    "a mapping as agent": (
        ("[thinker, oracle, noop]", "[{id: oracle}]"),
        "e.yaml:15:30: {'id': 'oracle'} is no value of 'agent': expected agent_reference",
    ),
    "a list as agent": (
        ("[thinker, oracle, noop]", "[[oracle]]"),
        "['oracle'] is no value of 'agent': expected agent_reference",
    ),
    "twice": (("values: [low, high]", "values: [low, low]"), "'low' stands here twice"),
    "baseline of none": (("depth: low}", "depth: none}"), "must pick exactly one variant; it picks none"),
    "baseline of two": (("{agent: thinker, depth: low}", "{agent: thinker}"), "it picks thinker · low, thinker · high"),
    "too many runs": (("repetitions: 3", "repetitions: 3, max_runs: 5"), "12 runs planned, more than max_runs (5)"),
    "no model": (
        (
            '    model_endpoint: {base_url: "https://provider.example/v1", api_key_env: PROVIDER_KEY}',
            "    mode: direct",
        ),
        "agent 'thinker' needs a model",
    ),
    "unknown evaluator": (("[pytest]", "[pytes]"), "unknown evaluator 'pytes'; did you mean 'pytest'?"),
    "other evaluator": (
        ("evaluators: [pytest]", "evaluators: [command]"),
        "by evaluators that are not named here: 'pytest' (task ",
    ),
    "other evaluators, to be told as they should stand": (
        ("evaluators: [pytest]", "evaluators: [command]"),
        "write evaluators: [command, pytest]",
    ),
    "unknown metric": (("[task_success_rate]", "[sucess]"), "unknown metric 'sucess'"),
    "unknown key": (
        ("thinker: {id: thinker}", "thinker: {id: thinker, config: {dept: low}}"),
        "has no configuration key 'dept'; did you mean 'depth'?",
    ),
    "wrong type": (
        ("thinker: {id: thinker}", "thinker: {id: thinker, config: {command: ls}}"),
        "command: expected list, got 'ls'",
    ),
    "no task": (
        ('version: "1.0.0"}', 'version: "1.0.0", filters: {difficulties: [expert]}}'),
        "no task of the dataset passes",
    ),
    "unknown task": (
        ('version: "1.0.0"}', 'version: "1.0.0", filters: {task_ids: [greet-01]}}'),
        "did you mean 'greet-001'?",
    ),
    "no agent chosen": (("      - {id: agent, values: [thinker, oracle, noop]}\n", ""), "no factor chooses among them"),
    "capability": (
        ("  metrics:", "  requires: {capabilities: [token_usage]}\n  metrics:"),
        "lacks the required capability 'token_usage'",
    ),
}


@pytest.mark.parametrize("case", REJECTED, ids=lambda case: case.replace(" ", "_"))
def test_what_cannot_be_run_as_asked_is_refused_with_its_place(case, catalogue, dataset):
    change, message = REJECTED[case]
    text = EXPERIMENT.replace(*change)
    assert text != EXPERIMENT
    with pytest.raises(InputError) as error:
        plan(text, catalogue, dataset)
    assert message in str(error.value)
    assert str(error.value).startswith("e.yaml:")


def test_what_a_probe_found_counts_before_what_the_descriptor_declares(catalogue, dataset):
    text = EXPERIMENT.replace("  metrics:", "  requires: {capabilities: [token_usage]}\n  metrics:")
    able = {"thinker": Probe(version="1", capabilities={"token_usage": Support.YES})}
    planned = plan(
        text.replace("values: [thinker, oracle, noop]", "values: [thinker]"), catalogue, dataset, probed=able
    )
    assert planned.capabilities["thinker"]["token_usage"] is Support.YES
    unable = {"thinker": Probe(version="1", capabilities={"workspace_binding": Support.NO})}
    with pytest.raises(InputError, match="lacks the required capability 'workspace_binding'"):
        plan(text.replace("token_usage", "workspace_binding"), catalogue, dataset, probed=unable)


def test_an_agent_that_cannot_run_here_yet_is_noted_in_the_plan(catalogue, dataset):
    missing = {"thinker": Probe(version=None, problems=(Problem(message="no program", mend="install it"),))}
    notes = plan(EXPERIMENT, catalogue, dataset, probed=missing).notes
    assert "agent 'thinker' cannot run here yet: no program (install it)" in notes


def test_best_effort_marks_a_missing_capability_instead_of_refusing(catalogue, dataset):
    text = EXPERIMENT.replace("  metrics:", "  requires: {capabilities: [token_usage], mode: best_effort}\n  metrics:")
    warnings = plan(text, catalogue, dataset).warnings
    assert "agent 'thinker' lacks the required capability 'token_usage'" in warnings


def test_what_the_environment_asks_for_in_vain_refuses_the_plan_or_is_said(catalogue, dataset):
    environment = replace(SANDBOX, unkept=("it asks for the moon",))
    with pytest.raises(PlanRejectedError, match="it asks for the moon; drop it, use another sandbox"):
        plan(EXPERIMENT, catalogue, dataset, environment)
    best_effort = f"{EXPERIMENT}  requires: {{mode: best_effort}}\n"
    assert "it asks for the moon" in plan(best_effort, catalogue, dataset, environment).warnings
