from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import pytest
from ruamel.yaml import YAML

from akbench.spec import CAPABILITIES
from akbench_agent_codex import hooks
from akbench_agent_codex.program import BINARY_VARIABLE
from akbench_agent_codex.settings import DEFAULTS, Settings


def load(place):
    package, _, path = place.partition(":")
    return YAML(typ="safe").load(files(package).joinpath(path).read_text())


@pytest.fixture
def agent():
    record = hooks.akbench_register_agents()[0]
    return load(record.descriptors[0])["agent"]


def test_every_capability_is_declared(agent):
    assert set(agent["capabilities"]) == set(CAPABILITIES)


def test_what_codex_does_not_tell_is_not_claimed(agent):
    assert agent["capabilities"]["cost_usage"] is False
    assert agent["capabilities"]["model_observation"] is False
    assert agent["observability"]["model_selection"] == "unverified"


def test_the_schema_is_what_the_adapter_reads(agent):
    schema = agent["configuration_schema"]
    assert set(schema) == {*Settings.__dataclass_fields__, "binary"}
    assert {key: value["default"] for key, value in schema.items() if "default" in value} == DEFAULTS
    assert [key for key, value in schema.items() if value.get("required")] == ["model"]


def test_the_variables_that_are_read_are_named_and_not_sensitive(agent):
    assert {each["name"]: each["sensitive"] for each in agent["environment"]} == {BINARY_VARIABLE: False, "PATH": False}


def test_the_two_settings_that_experiments_vary_are_configuration_keys(agent):
    assert {"model", "reasoning_effort"} <= agent["configuration_schema"].keys()


def test_the_hooks_import_is_light():
    heavy = ["tomli_w", "pydantic", "ruamel", "sqlmodel", "subprocess", "akbench_agent_codex.adapter"]
    code = f"import sys, akbench_agent_codex.hooks; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
