from __future__ import annotations

import tomllib

import pytest

from akbench.spec import AgentRequest, InputError, ModelAccess
from akbench_agent_codex.adapter import CodexAgent
from akbench_agent_codex.settings import KEY_VARIABLE, Settings, config_toml

ACCESS = ModelAccess(base_url="http://127.0.0.1:8080/v1", token="canary-4711")


def request(config, **changes):
    fields = {
        "prompt": "p",
        "workspace": "/workspace",
        "home": "/home/agent",
        "state": "/home/state",
        "tmp": "/tmp",
        "environ": {"PATH": '/env "quoted"\\bin', "HOME": "/home/agent", "PYTHONPATH": "/workspace"},
        "declared": {"PATH": ""},
        "model": ACCESS,
        "bounded": True,
        "program_root": "/opt",
        "timeout_seconds": 60,
    }
    return AgentRequest(config=config, **(fields | changes))


def written(config):
    return tomllib.loads(config_toml(Settings.read(config), request(config), ACCESS).decode())


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({}, "model"),
        ({"model": ""}, "model"),
        ({"model": 5}, "model"),
        ({"model": "m", "reasoning_effort": ["high"]}, "reasoning_effort"),
        ({"model": "m", "request_max_retries": -1}, "request_max_retries"),
        ({"model": "m", "stream_max_retries": True}, "stream_max_retries"),
        ({"model": "m", "stream_idle_timeout_ms": 1.5}, "stream_idle_timeout_ms"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_an_error_naming_its_key(config, key):
    with pytest.raises(InputError, match=f"agent configuration: {key} must"):
        CodexAgent().prepare(request(config))


def test_an_agent_without_a_model_endpoint_is_an_error():
    with pytest.raises(InputError, match="needs a model endpoint"):
        CodexAgent().prepare(request({"model": "m"}, model=None))


def test_model_and_effort_are_always_written():
    assert (written({"model": "m"})["model"], written({"model": "m"})["model_reasoning_effort"]) == ("m", "medium")
    assert written({"model": "m", "reasoning_effort": "xhigh"})["model_reasoning_effort"] == "xhigh"


def test_a_model_name_cannot_break_out_of_its_value():
    name = 'm"\nmodel_provider = "openai'
    assert written({"model": name})["model"] == name
    assert written({"model": name})["model_provider"] == "akbench"


def test_commands_inherit_nothing_and_get_the_tasks_environment():
    policy = written({"model": "m"})["shell_environment_policy"]
    assert policy == {"inherit": "none", "set": dict(request({}).environ)}
    assert KEY_VARIABLE not in policy["set"]


def test_retries_are_set_on_the_provider():
    provider = written({"model": "m", "request_max_retries": 1, "stream_max_retries": 0})["model_providers"]["akbench"]
    assert (provider["request_max_retries"], provider["stream_max_retries"]) == (1, 0)
    assert (provider["base_url"], provider["env_key"]) == (ACCESS.base_url, KEY_VARIABLE)


def test_endless_retries_and_what_phones_home_are_off():
    config = written({"model": "m"})
    assert set(config["features"].values()) == {False}
    assert {"unbounded_connection_retries", "plugins", "apps"} <= set(config["features"])
    assert config["analytics"] == {"enabled": False}
    assert config["agents"] == {"enabled": False}
    assert config["check_for_update_on_startup"] is False
    assert config["web_search"] == "disabled"


def test_the_configuration_file_holds_no_key():
    assert b"canary" not in config_toml(Settings.read({"model": "m"}), request({"model": "m"}), ACCESS)
