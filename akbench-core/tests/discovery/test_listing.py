"""The list of agents is remembered, and never longer than what it was made from."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from made_extensions import agent_descriptor, akbench, install_agent

from akbench.catalogue import Catalogue
from akbench.discovery import Installed, discover
from akbench.listing import listed_agents
from akbench.spec import InputError


@pytest.fixture(scope="module")
def core() -> Installed:
    """What is really installed, found once."""
    return discover()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, core: Installed) -> Path:
    monkeypatch.setenv("AKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("akbench.listing.discover", lambda: core)
    folder = tmp_path / "project"
    (folder / "descriptors").mkdir(parents=True)
    return folder


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    """The catalogues that were read."""
    seen: list[Path | None] = []
    read = Catalogue.load

    def counted(project: Path | None = None, installed: Installed | None = None) -> Catalogue:
        seen.append(project)
        return read(project, installed)

    monkeypatch.setattr(Catalogue, "load", counted)
    return seen


def own_agent(project: Path, text: str = "") -> None:
    (project / "descriptors" / "own.yaml").write_text(text or agent_descriptor("own"))


def ids(project: Path) -> list[str]:
    return [each["id"] for each in listed_agents(project).agents]


def test_it_says_what_the_catalogue_says_first_and_later(project: Path, readings: list[Path | None]):
    own_agent(project)
    expected = [each.model.id for each in Catalogue.load(project).descriptors("agent")]
    readings.clear()
    assert ids(project) == expected
    assert listed_agents(project) == listed_agents(project)
    assert readings == [project]


def test_a_changed_descriptor_is_seen_at_once(project: Path):
    own_agent(project)
    assert "own" in ids(project)
    own_agent(project, agent_descriptor("other"))
    assert {"own", "other"} & set(ids(project)) == {"other"}


def test_a_descriptor_that_became_wrong_is_an_error_at_once(project: Path):
    own_agent(project)
    listed_agents(project)
    own_agent(project, "id: own\n")
    with pytest.raises(InputError):
        listed_agents(project)


def test_a_project_that_is_gone_is_an_error_at_once(project: Path):
    listed_agents(project)
    (project / "descriptors").rmdir()
    project.rmdir()
    with pytest.raises(InputError, match="no such folder"):
        listed_agents(project)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"content": 1}'])
def test_a_damaged_memory_is_read_anew(project: Path, content: bytes):
    expected = listed_agents(project)
    (kept,) = (project.parent / "cache" / "listings").iterdir()
    kept.write_bytes(content)
    assert listed_agents(project) == expected
    assert json.loads(kept.read_text())["agents"]


def test_a_cache_that_cannot_be_written_changes_nothing(project: Path, readings: list[Path | None]):
    (project.parent / "cache").write_text("a file in its place")
    assert listed_agents(project) == listed_agents(project)
    assert readings == [project, project]


def test_an_updated_extension_and_one_left_out_are_seen_at_once(tmp_path: Path):
    install_agent(tmp_path, "fake-one")
    environ = {"AKBENCH_CACHE": str(tmp_path / "cache")}
    descriptor = tmp_path / "fake_one" / "agent.yaml"
    seen = []
    for text, disabled in (("1.0.0", ""), ("1.0.1", ""), ("1.0.1", "fake-one")):
        descriptor.write_text(agent_descriptor("fake-one").replace("1.0.0", text))
        done = akbench(tmp_path, "agent", "list", "--json", AKBENCH_DISABLE=disabled, **environ)
        seen.append({each["id"]: each["version"] for each in json.loads(done.stdout)["agents"]}.get("fake-one"))
    assert seen == ["1.0.0", "1.0.1", None]


def test_what_is_remembered_needs_no_yaml_and_no_models(tmp_path: Path):
    code = (
        "import sys\nfrom akbench.cli import cli\n"
        "cli.main(['agent', 'list'], standalone_mode=False)\n"
        "print('loaded:', *[name for name in ('pydantic', 'ruamel', 'rich', 'akbench.catalogue', 'akbench.run')"
        " if name in sys.modules])"
    )
    environ = {"AKBENCH_CACHE": str(tmp_path / "cache"), "PATH": ""}
    said = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=environ
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert said[0][:-1] == said[1][:-1]
    assert "pydantic" in said[0][-1]
    assert said[1][-1].strip() == "loaded:"


def test_a_device_in_place_of_a_descriptor_is_an_error_and_not_read_to_its_end(project: Path):
    (project / "descriptors" / "endless.yaml").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"endless\.yaml: is no file"):
        listed_agents(project)
