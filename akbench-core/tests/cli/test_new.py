"""``akbench new``: what it writes is whole, passes its own tests untouched, builds, and is found when installed."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from akbench.cli.new import write_distribution
from akbench.spec import HostError, InputError

KINDS = {"agent": {}, "runtime": {}, "evaluator": {}, "plugin": {"provider": "switchboard"}}


def run(*words: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=cwd, env={**os.environ, **environ}, capture_output=True, text=True, errors="replace", check=False
    )


def akbench(cwd: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-c", "from akbench.cli import main; main()", *words, cwd=cwd, **environ)


def with_stand_in(folder: Path, programs: Path) -> str:
    """A PATH on which the distribution's stand-in, where it has one, is the installed program."""
    programs.mkdir()
    for stand_in in (folder / "tests").glob("stand_in.*"):
        program = programs / "night-owl"
        program.write_text(stand_in.read_text().replace("#!/usr/bin/env python3", f"#!{sys.executable}", 1))
        program.chmod(0o755)
    return f"{programs}:{os.environ['PATH']}"


@pytest.fixture(scope="module", params=KINDS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("scaffold") / f"akbench-{request.param}-night-owl"
    write_distribution(request.param, "night-owl", folder, **KINDS[request.param])
    return request.param, folder


def test_its_tests_pass_untouched(written: tuple[str, Path]):
    done = run(sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", cwd=written[1])
    assert done.returncode == 0, done.stdout
    skipped = {line.rpartition(": ")[2] for line in done.stdout.splitlines() if line.startswith("SKIPPED")}
    allowed = {"the adapter is not installed as an extension"}
    allowed |= {"the evaluator takes no timeout_seconds"} if written[0] == "evaluator" else set()
    assert skipped <= allowed


def test_its_wheel_is_found_checked_and_listed(written: tuple[str, Path], tmp_path: Path):
    kind, folder = written
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"), cwd=folder)
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    path = with_stand_in(folder, tmp_path / "bin")
    environ = {"PYTHONPATH": str(site), "PATH": path, "AKBENCH_STATE": str(tmp_path / "state")}
    checked = akbench(tmp_path, "extension", "check", f"akbench-{kind}-night-owl", "--json", **environ)
    assert checked.returncode == 0, checked.stdout
    listed = akbench(tmp_path, "descriptor", "list", "--kind", kind, "--json", PYTHONPATH=str(site))
    origins = {each["id"]: each["origin"] for each in json.loads(listed.stdout)["descriptors"]}
    assert origins["night-owl"] == f"akbench-{kind}-night-owl 0.1.0"
    if kind == "agent":
        assert "night-owl" in akbench(tmp_path, "agent", "list", PYTHONPATH=str(site)).stdout


def test_no_placeholder_is_left(written: tuple[str, Path]):
    files = [path for path in written[1].rglob("*") if path.is_file() and path.suffix not in {".pyc", ".sh"}]
    assert not [path for path in files if "$" in path.read_text()]
    assert not list(written[1].rglob("*__*name__*"))


@pytest.mark.parametrize("name", ["", "Upper", "-x", "a--b", "a_b", "../x", "x" * 41, "9lives", "é", "a\n"])
def test_a_name_that_cannot_be_used_is_refused_and_nothing_is_written(tmp_path: Path, name: str):
    with pytest.raises(InputError, match="is no name"):
        write_distribution("agent", name, tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("provider", ["", "two words", "a: b", "-x"])
def test_a_plugin_of_nothing_is_refused(tmp_path: Path, provider: str):
    with pytest.raises(InputError, match="is no id of a runtime or an agent"):
        write_distribution("plugin", "owl", tmp_path / "new", provider=provider)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_as_it_is(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    with pytest.raises(InputError, match="choose another folder with --directory"):
        write_distribution("agent", "owl", tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]


def test_a_link_that_leads_nowhere_is_not_replaced(tmp_path: Path):
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(InputError):
        write_distribution("agent", "owl", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()


def test_a_place_that_cannot_be_written_is_named():
    with pytest.raises(HostError, match=r"/proc/nowhere/new cannot be written: "):
        write_distribution("agent", "owl", Path("/proc/nowhere/new"))


def test_a_fault_in_the_middle_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(HostError, match="No space left"):
        write_distribution("agent", "owl", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_the_name_of_an_installed_agent_is_refused(tmp_path: Path):
    done = akbench(tmp_path, "new", "agent", "noop")
    assert done.returncode == 2
    assert "agent 'noop' is already registered by akbench-core" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_to_do_next(tmp_path: Path):
    done = akbench(tmp_path, "new", "evaluator", "night-owl")
    assert done.returncode == 0, done.stderr
    assert "next: cd akbench-evaluator-night-owl && pip install -e ." in done.stdout
    assert (tmp_path / "akbench-evaluator-night-owl" / "pyproject.toml").is_file()


def test_a_folder_below_a_file_is_bad_input_that_names_the_file_and_nothing_is_left(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: is no folder; choose another one with --directory"):
        write_distribution("agent", "night-owl", tmp_path / "file" / "below" / "it")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
