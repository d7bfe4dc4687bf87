"""Finding extensions: a broken one is named with its cause and stops no other."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = """
from akbench.spec import AgentRecord, hookimpl
@hookimpl
def akbench_register_agents():
    return [AgentRecord(id="{name}-adapter", target="nowhere:Nothing", summary="a test")]
"""
BROKEN = {
    "import error": ("import does_not_exist_anywhere", "does_not_exist_anywhere"),
    "syntax error": ("def (", "SyntaxError"),
    "unknown hook": (GOOD.replace("register_agents", "register_agnets"), "unknown hook"),
    "bad signature": (GOOD.replace("agents()", "agents(nonsense)"), "nonsense"),
    "wrong record": (GOOD.replace("AgentRecord(", "dict("), "expected AgentRecord"),
    "wrong api": (GOOD.replace('summary="a test"', 'summary="a test", api=99'), "API version 99"),
    "raises": (GOOD.replace("return [", "raise RuntimeError('boom'); return ["), "boom"),
    "duplicate": (GOOD.replace('"{name}-adapter"', '"command"'), "already registered by akbench-core"),
    "bad descriptor": (
        GOOD.replace('summary="a test"', 'summary="a test", descriptors=("akbench.builtin:nowhere.yaml",)'),
        "nowhere.yaml",
    ),
}
LIST = "from akbench.cli import main; main()"


def install(site: Path, name: str, source: str) -> None:
    """What an installer leaves: a module and the metadata of its distribution."""
    module = name.replace("-", "_") + "_hooks"
    (site / f"{module}.py").write_text(source.replace("{name}", name))
    info = site / f"{name.replace('-', '_')}-1.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
    (info / "entry_points.txt").write_text(f"[akbench]\n{name} = {module}\n")


def akbench(site: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LIST, *arguments],
        env={**os.environ, "PYTHONPATH": str(site), **environ},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.replace(" ", "_"))
def test_a_broken_extension_is_named_with_its_cause_and_the_others_work(tmp_path: Path, case: str):
    source, cause = BROKEN[case]
    install(tmp_path, "aaa-broken", source)
    install(tmp_path, "zzz-good", GOOD)
    done = akbench(tmp_path, "agent", "list", "--json")
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert {"oracle", "noop", "command"} <= {agent["id"] for agent in listed["agents"]}
    (failure,) = listed["failures"]
    assert "aaa-broken 1.2.3" in failure
    assert cause in failure


def test_an_extension_can_be_left_out_by_name(tmp_path: Path):
    install(tmp_path, "aaa-broken", BROKEN["raises"][0])
    done = akbench(tmp_path, "agent", "list", "--json", AKBENCH_DISABLE="aaa-broken")
    assert json.loads(done.stdout)["failures"] == []


def test_strict_mode_raises_the_first_failure(tmp_path: Path):
    install(tmp_path, "aaa-broken", BROKEN["raises"][0])
    done = akbench(tmp_path, "agent", "list", AKBENCH_STRICT="1")
    assert done.returncode != 0
    assert "RuntimeError: boom" in done.stderr


def test_a_broken_command_of_an_extension_leaves_help_working_and_is_named(tmp_path: Path):
    install(tmp_path, "zzz-good", GOOD)
    entry_points = tmp_path / "zzz_good-1.2.3.dist-info" / "entry_points.txt"
    entry_points.write_text("[akbench.commands]\nshiny = not_there:command\n")
    assert "shiny" in akbench(tmp_path, "--help").stdout
    done = akbench(tmp_path, "shiny")
    assert done.returncode == 3
    assert "command 'shiny' of zzz-good 1.2.3 cannot be loaded" in done.stderr


HEAVY = ("sqlmodel", "sqlalchemy", "docker", "dulwich", "pydantic", "rich", "jinja2", "pluggy", "structlog", "ruamel")


def test_help_loads_no_extension_and_no_heavy_module(tmp_path: Path):
    install(tmp_path, "zzz-good", GOOD)
    code = (
        "import sys\nfrom akbench.cli import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(json.loads(done.stderr.strip().splitlines()[-1].replace("'", '"')))
    assert not loaded & {*HEAVY, "zzz_good_hooks", "akbench.discovery"}


def test_hook_modules_of_the_core_are_light():
    code = "import sys, akbench.builtin.hooks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(loaded) & (set(HEAVY) - {"pluggy"})
