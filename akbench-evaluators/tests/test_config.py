"""Bad configuration is refused with the key and the mend, and the shipped descriptors are good configuration."""

import importlib
from importlib import resources

import pytest
from ruamel.yaml import YAML

from akbench import spec
from akbench_evaluators import hooks
from akbench_evaluators.command import CommandEvaluator
from akbench_evaluators.pytest_suite import PytestEvaluator

GOOD_PYTEST = {"target": ["tests/test_x.py::TestA::test_b[1/2]"], "regression": ["tests"], "timeout_seconds": 1.5}
GOOD_COMMAND = {"command": ["make", "check"], "success_exit_codes": [0, 2]}


@pytest.mark.parametrize(
    ("change", "key", "mend"),
    [
        ({"target": None}, "target", "make it a list"),
        ({"target": []}, "target", "give at least one"),
        ({"target": "tests"}, "target", "make it a list"),
        ({"target": [1]}, "target", "quote it"),
        ({"target": ["/tests/test_x.py"]}, "target", "relative to the repository"),
        ({"regression": ["../test_x.py"]}, "regression", "relative to the repository"),
        ({"target": ["--collect-only"]}, "target", "relative to the repository"),
        ({"regression": ["./tests"]}, "regression", "relative to the repository"),
        ({"regression": ["tests/"]}, "regression", "relative to the repository"),
        ({"deselect": ["tests::test_x"]}, "deselect", "only a .py file"),
        ({"deselect": GOOD_PYTEST["target"]}, "deselect", "remove it from one"),
        ({"timeout_seconds": 0}, "timeout_seconds", "positive number of seconds"),
        ({"timeout_seconds": 1e300}, "timeout_seconds", "at most 604800"),
        ({"timeout_seconds": True}, "timeout_seconds", "positive number of seconds"),
        ({"test_timeout_seconds": 0}, "test_timeout_seconds", "positive number of seconds"),
        ({"timeout_seconds": "5"}, "timeout_seconds", "positive number of seconds"),
        ({"targets": []}, "targets", "use one of deselect, random_names, regression, target"),
    ],
)
def test_a_bad_pytest_configuration_names_the_key_and_the_mend(change, key, mend):
    PytestEvaluator().check_config(GOOD_PYTEST)
    with pytest.raises(spec.InputError, match=mend) as refused:
        PytestEvaluator().check_config(GOOD_PYTEST | change)
    assert repr(key) in str(refused.value)


@pytest.mark.parametrize(
    ("change", "key", "mend"),
    [
        ({"command": None}, "command", "make it a list"),
        ({"command": "make check"}, "command", "make it a list"),
        ({"command": []}, "command", "give at least one"),
        ({"success_exit_codes": 0}, "success_exit_codes", "make it a list"),
        ({"success_exit_codes": []}, "success_exit_codes", "make it a list"),
        ({"success_exit_codes": [256]}, "success_exit_codes", "from 0 to 255"),
        ({"success_exit_codes": [False]}, "success_exit_codes", "from 0 to 255"),
        ({"regression": []}, "regression", "use one of command, success_exit_codes, timeout_seconds"),
    ],
)
def test_a_bad_command_configuration_names_the_key_and_the_mend(change, key, mend):
    CommandEvaluator().check_config(GOOD_COMMAND)
    with pytest.raises(spec.InputError, match=mend) as refused:
        CommandEvaluator().check_config(GOOD_COMMAND | change)
    assert repr(key) in str(refused.value)


NEEDED = {
    "pytest": {"target": ["tests"]},
    "command": {"command": ["true"]},
    "python": {"check": "behaviour.py"},
    "static-analysis": {"tool": "ruff"},
    "diff": {},
    "reward": {"command": ["true"], "checks": ["test.sh"], "place": "/tests", "reward": ["/logs/reward.txt"]},
}
WITHOUT_DEFAULT = {
    "pytest": {"test_timeout_seconds", "random_names"},
    "static-analysis": {"command", "format", "silent_exit_codes", "paths", "options", "configuration", "zero_at"},
    "diff": {"max_files", "max_lines", "max_bytes", "allow", "forbid", "uncounted", "noise"},
    "reward": {"variables"},
}


@pytest.mark.parametrize("record", hooks.akbench_register_evaluators(), ids=lambda record: record.id)
def test_the_defaults_of_a_registered_descriptor_are_accepted_and_every_key_is_described(record):
    descriptor = _descriptor(record)
    assert descriptor["id"] == record.id
    evaluator = descriptor["evaluator"]
    assert evaluator["adapter"] == record.id
    needed = NEEDED[record.id]
    _adapter(record).check_config(evaluator["config"] | needed)
    without_default = WITHOUT_DEFAULT.get(record.id, set())
    assert set(evaluator["configuration_schema"]) == set(evaluator["config"]) | set(needed) | without_default


def _descriptor(record):
    package, _, path = record.descriptors[0].partition(":")
    return YAML(typ="safe", pure=True).load(resources.files(package).joinpath(path).read_text(encoding="utf-8"))


def _adapter(record):
    module, _, name = record.target.partition(":")
    return getattr(importlib.import_module(module), name)()
