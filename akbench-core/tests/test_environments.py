"""Environment descriptors and what this machine makes of them."""

from pathlib import Path

import pytest

from akbench.catalogue import Catalogue
from akbench.environments import ready_environment, strongest_environment
from akbench.spec import HostError, InputError, Sandbox

OWN = """\
schema_version: "1.0"
id: own
version: "1.0.0"
environment:
  sandbox: %s
%s"""


def catalogue(project: Path, sandbox: str, more: str = "") -> Catalogue:
    (project / "descriptors").mkdir(exist_ok=True)
    (project / "descriptors" / "own.yaml").write_text(OWN % (sandbox, more))
    return Catalogue.load(project)


ASKED_IN_VAIN = {
    "image": "  image: some/image:1\n",
    "limits.memory_bytes": "  limits: {memory_bytes: 1000000000, files: 5}\n",
    "limits.processes": "  limits: {processes: 5}\n",
    "network.access": '  network: {access: allow_list, allow: ["pypi.example:443"]}\n',
}


@pytest.mark.parametrize("key", ASKED_IN_VAIN)
def test_what_the_sandbox_cannot_carry_out_is_named_with_its_place(tmp_path, key):
    (sentence,) = ready_environment("own", catalogue(tmp_path, "local", ASKED_IN_VAIN[key])).unkept
    assert sentence.startswith(f"environment 'own' asks for {key} ({tmp_path}/descriptors/own.yaml:6:")
    assert sentence.endswith("which sandbox 'local' cannot carry out")


def test_less_memory_than_an_interpreter_needs_is_refused_where_it_stands(tmp_path):
    with pytest.raises(InputError, match=r"own\.yaml:6:26: .*greater than or equal to 33554432"):
        catalogue(tmp_path, "docker", "  limits: {memory_bytes: 1}\n")


def test_what_it_can_carry_out_reaches_its_processes(tmp_path):
    found = ready_environment("own", catalogue(tmp_path, "local", "  limits: {files: 7, disk_bytes: 10000}\n"))
    assert found.unkept == ()
    assert (found.id, found.sandbox_id, found.sandbox.bounded) == ("own", "local", False)


@pytest.mark.parametrize("name", ["bubblewrap", "local"])
def test_every_default_environment_asks_for_nothing_in_vain(name):
    try:
        assert ready_environment(name, Catalogue.load()).unkept == ()
    except HostError as error:
        pytest.skip(str(error))


def test_an_unknown_environment_and_an_unknown_sandbox_are_refused(tmp_path):
    with pytest.raises(InputError, match="unknown environment 'bubblewarp'; did you mean 'bubblewrap'"):
        ready_environment("bubblewarp", Catalogue.load())
    with pytest.raises(InputError, match=r"own\.yaml:5:12: unknown sandbox 'dokcer'"):
        ready_environment("own", catalogue(tmp_path, "dokcer"))


def test_the_strongest_environment_confines_where_that_is_possible_and_says_why_not(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    found = strongest_environment(Catalogue.load())
    assert found.id == "local"
    assert any(text.startswith("bubblewrap: bubblewrap (bwrap) is not installed") for text in found.passed_over)
    confining = [name for name in Catalogue.load().sandbox_names() if _sandbox(name).bounded]
    assert len(found.passed_over) == len(confining)


def _sandbox(name: str) -> Sandbox:
    return Catalogue.load().sandbox(name)[1]


def test_a_task_with_an_image_needs_a_sandbox_that_runs_it_and_is_told_why_none_does(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(HostError, match=r"runs images of tasks works here: .*bubblewrap: it runs no images"):
        strongest_environment(Catalogue.load(), task_images=True)
