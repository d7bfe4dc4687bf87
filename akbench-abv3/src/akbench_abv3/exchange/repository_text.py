"""The texts of an exported repository: agentbeats.toml, requirements, README. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from akbench.descriptors.kinds import AgentDescriptor, ExperimentDescriptor
from akbench_abv3 import __version__
from akbench_abv3.completed import RECOGNISED
from akbench_abv3.exchange.source import StoredExperiment
from akbench_abv3.writing import toml_string

__all__ = ["DATASET_VARIABLE", "EXPERIMENT_FILE", "SCRIPT_VARIABLE", "description", "readme", "requirements"]

DATASET_VARIABLE = "AKBENCH_DATASET_DIR"
"""Names the folder of the dataset (the one with dataset.yaml) for a rerun."""
SCRIPT_VARIABLE = "AKBENCH_MODEL_SCRIPT"
"""Names the scripted model's file for a rerun of an experiment that uses one."""
EXPERIMENT_FILE = "akbench/experiment.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variable:
    """A variable of the environment that a run needs."""

    name: str
    required: bool
    secret: bool
    description: str


def description(
    experiment: StoredExperiment, model: ExperimentDescriptor, agents: Sequence[AgentDescriptor], default: str
) -> str:
    """The agentbeats.toml; `default` is the experiment folder that runs without a choice."""
    record = experiment.record
    tags = dict.fromkeys(["akbench", record.dataset_id, *(agent.id for agent in agents)])
    tags.update(dict.fromkeys(task.category for task in record.plan.tasks))
    sections = [
        _section(
            "abv3_repo",
            name=toml_string(record.descriptor_id),
            role=toml_string("judge"),
            author=toml_string("not stated"),
            version=toml_string(record.descriptor_version),
            tags="[" + ", ".join(toml_string(tag) for tag in list(tags)[:50]) + "]",
        ),
        _section("run", command=toml_string('akbench run-config "$RUN_CONFIG_FILE"')),
        *_fixed_dependencies(experiment, model),
        *(_variable_section(variable) for variable in _variables(model, agents)),
        _section("run_configs", folder=toml_string("./run_configs"), default_exp=toml_string(default)),
        _section("results", folder=toml_string("./results")),
    ]
    return "\n".join(sections)


def _fixed_dependencies(experiment: StoredExperiment, model: ExperimentDescriptor) -> list[str]:
    record = experiment.record
    wanted = f"dataset {record.dataset_id} {record.dataset_version}, hash {record.dataset_hash}"
    sections = [
        _section(
            "dependency.akbench",
            type='"step"',
            description=toml_string("AK-Bench and the extensions that the experiment used"),
            command=toml_string("python3 -m pip install --requirement requirements.txt"),
            check=toml_string("akbench run-config --help"),
        ),
        _section(
            "dependency.akbench_dataset",
            type='"dir"',
            env=toml_string(DATASET_VARIABLE),
            description=toml_string(f"the folder of {wanted}; its hidden tests are not part of this repository"),
        ),
    ]
    endpoint = model.experiment.execution.model_endpoint
    if endpoint is not None and endpoint.scripted is not None:
        sections.append(
            _section(
                "dependency.akbench_model_script",
                type='"file"',
                env=toml_string(SCRIPT_VARIABLE),
                description=toml_string(f"the scripted model that answered ({endpoint.scripted})"),
            )
        )
    return sections


def _variables(model: ExperimentDescriptor, agents: Sequence[AgentDescriptor]) -> list[_Variable]:
    found: dict[str, _Variable] = {}
    for agent in agents:
        for each in agent.agent.environment:
            text = each.description or f"read by the agent {agent.id}"
            found[each.name] = _Variable(name=each.name, required=False, secret=each.sensitive, description=text)
    endpoint = model.experiment.execution.model_endpoint
    if endpoint is not None and endpoint.api_key_env is not None:
        name = endpoint.api_key_env
        found[name] = _Variable(name=name, required=True, secret=True, description="the model provider's key")
    return [variable for name, variable in sorted(found.items()) if _can_be_declared(name)]


def _can_be_declared(name: str) -> bool:
    """PATH and the like are inherited by every run and may not be declared."""
    from akbench_abv3.completed import FORBIDDEN_VARIABLE_PREFIXES, FORBIDDEN_VARIABLES

    return name not in FORBIDDEN_VARIABLES and not name.startswith(FORBIDDEN_VARIABLE_PREFIXES)


def _variable_section(variable: _Variable) -> str:
    required = "true" if variable.required else "false"
    for name, known in RECOGNISED.items():
        if known.variables == (variable.name,):
            return _section(f"dependency.{name}", required=required)
    return _section(
        f"dependency.{variable.name.lower()}",
        required=required,
        type='"env"',
        env=toml_string(variable.name),
        secret="true" if variable.secret else "false",
        description=toml_string(variable.description),
    )


def _section(title: str, **values: str) -> str:
    return f"[{title}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())


def requirements(experiment: StoredExperiment) -> str:
    """The distributions that took part, pinned to their versions."""
    pins = {**experiment.record.extensions, "akbench-abv3[akbench]": __version__}
    return "".join(f"{name}=={version}\n" for name, version in sorted(pins.items()))


def readme(experiment: StoredExperiment, level: str, missing: Sequence[str]) -> str:
    """What the repository is, what it claims and what it lacks."""
    record = experiment.record
    lacks = "".join(f"* {one}\n" for one in missing) or "* nothing that was recorded\n"
    rows = "".join(
        f"| `{each.id}` | {_cell(each.name)} | {_cell(each.agent.id)} | `{each.config_hash}` |\n"
        for each in record.plan.variants
    )
    labels = f"\nLabels of its numbers: {', '.join(experiment.view.labels)}.\n" if experiment.view.labels else ""
    return f"""# {_cell(record.title)}

The AK-Bench experiment {record.descriptor_id} {record.descriptor_version} as an ABV3-{level} repository. Its status was
{experiment.view.status.replace("_", " ")}.
{labels}
| experiment folder | variant | agent | configuration hash |
|---|---|---|---|
{rows}
One run config is one task run: a task and a repetition. `results/` holds what was measured.

## Run it again

```console
$ export {DATASET_VARIABLE}=...   # the folder of dataset {record.dataset_id} {record.dataset_version}
$ abv3 setup
$ abv3 run_exp --results results-rerun EXPERIMENT
```

The dataset is not part of this repository, because it holds the hidden tests; a rerun refuses another one than
`{record.dataset_hash}`. Requests to a paid model provider are made without asking again.

## What is missing

{lacks}"""


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")
