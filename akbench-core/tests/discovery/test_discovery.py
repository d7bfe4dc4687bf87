"""Finding extensions: a broken one is named with its cause and stops no other."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from made_extensions import GOOD, agent_descriptor, akbench, install, install_agent

from akbench import spec
from akbench.foreign import loading

BROKEN = {
    "import error": ("import does_not_exist_anywhere", "does_not_exist_anywhere"),
    "syntax error": ("def (", "SyntaxError"),
    "unknown hook": (GOOD.replace("register_agents", "register_agnets"), "unknown hook"),
    "bad signature": (GOOD.replace("agents()", "agents(b, a)"), "without arguments; here it wants b, a"),
    "wrong record": (GOOD.replace("AgentRecord(", "dict("), "expected AgentRecord"),
    "wrong api": (GOOD.replace('summary="a test"', 'summary="a test", api=99'), "API version 99"),
    "raises": (GOOD.replace("return [", "raise RuntimeError('boom'); return ["), "boom"),
    "exits": ("import sys; sys.exit(7)", "SystemExit: 7"),
    "exits in a hook": (GOOD.replace("return [", "raise SystemExit(9); return ["), "SystemExit: 9"),
    "raises no Exception": ("class Odd(BaseException): pass\nraise Odd('x')", "Odd: x"),
    "raises what cannot be told": (
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
        "usable: E",
    ),
    "tells a novel": ("raise RuntimeError('so it\\nbegan ' * 1000)", "RuntimeError: so it began so it"),
    "raises late": (GOOD.replace("return [", "yield (").replace("]", "); raise ValueError('late')"), "late"),
    "a bad id": (GOOD.replace('"{name}-adapter"', '"../x y"'), "'../x y' is no adapter id"),
    "a number as id": (GOOD.replace('"{name}-adapter"', "3"), "3 is no adapter id"),
    "a bad target": (GOOD.replace("nowhere:Nothing", "nowhere"), "is not written as package.module:Name"),
    "a text as descriptors": (
        GOOD.replace('summary="a test"', 'summary="a test", descriptors="abc"'),
        "descriptors 'abc' are not a list",
    ),
    "a package that exits": (
        GOOD.replace('summary="a test"', 'summary="a test", descriptors=("exiting:x.yaml",)'),
        "its descriptors cannot be read: SystemExit: 5",
    ),
    "duplicate": (GOOD.replace('"{name}-adapter"', '"command"'), "already registered by akbench-core"),
    "bad descriptor": (
        GOOD.replace('summary="a test"', 'summary="a test", descriptors=("akbench.builtin:nowhere.yaml",)'),
        "nowhere.yaml",
    ),
    "a descriptor with a fault": (
        GOOD.replace('summary="a test"', 'summary="a test", descriptors=("faulty:agent.yaml",)'),
        "faulty:agent.yaml:6:19: agent.execution_type",
    ),
    "a descriptor that is no text": (
        GOOD.replace('summary="a test"', 'summary="a test", descriptors=("faulty:bytes.yaml",)'),
        "faulty:bytes.yaml:1:5: not UTF-8",
    ),
    "two descriptors of one id": (
        GOOD.replace('summary="a test"', 'summary="a test", descriptors=("faulty:one.yaml", "faulty:two.yaml")'),
        "faulty:two.yaml:2:5: agent 'same' is described by faulty:one.yaml, too",
    ),
    "leaves at once": ("import os; os._exit(7)", "SystemExit: 7"),
    "closes the output": ("import sys; sys.stdout.close(); sys.stderr.close(); raise OSError('x')", "OSError: x"),
    "returns nothing": (GOOD.replace("return [", "x = ["), "akbench_register_agents returned None"),
    "an API version in quotes": (GOOD.replace('summary="a test"', 'summary="a test", api="1"'), "API version '1'"),
    "a number as summary": (GOOD.replace('"a test"', "5"), "summary 5 of"),
    "no descriptors": (GOOD.replace('summary="a test"', 'summary="a test", descriptors=None'), "None are not a list"),
    "registers twice": (GOOD.replace("return [", "return 2 * ["), "adapter '{name}-adapter' is registered twice"),
}


@pytest.fixture(scope="module")
def beside_all(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is listed where every broken extension is installed at once."""
    site = tmp_path_factory.mktemp("site")
    (site / "exiting.py").write_text("raise SystemExit(5)")
    (site / "faulty").mkdir()
    (site / "faulty" / "__init__.py").write_text("")
    (site / "faulty" / "agent.yaml").write_text(agent_descriptor("faulty").replace(": process", ": telepathy"))
    (site / "faulty" / "bytes.yaml").write_bytes(b"id: \xff")
    for name in ("one", "two"):
        (site / "faulty" / f"{name}.yaml").write_text(agent_descriptor("same"))
    for case, (source, _) in BROKEN.items():
        install(site, named(case), source)
    install_agent(site, "zzz-good")
    done = akbench(site, "agent", "list", "--json", AKBENCH_CACHE=str(site / "cache"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def named(case: str) -> str:
    return f"broken-{case.replace(' ', '-')}"


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.replace(" ", "_"))
def test_a_broken_extension_is_named_with_its_cause(beside_all: dict[str, Any], case: str):
    (failure,) = [each for each in beside_all["failures"] if f" of {named(case)} 1.2.3 is not usable: " in each]
    assert BROKEN[case][1].replace("{name}", named(case)) in failure
    assert "\n" not in failure
    assert len(failure) < 500


def test_all_others_work_beside_the_broken_ones(beside_all: dict[str, Any]):
    assert {"oracle", "noop", "command", "zzz-good"} <= {agent["id"] for agent in beside_all["agents"]}
    assert len(beside_all["failures"]) == len(BROKEN)


def test_what_an_extension_prints_does_not_get_into_the_output(tmp_path: Path):
    install(tmp_path, "loud", "print('HELLO')\n" + GOOD)
    done = akbench(tmp_path, "agent", "list", "--json")
    assert json.loads(done.stdout)["failures"] == []
    assert "HELLO" in done.stderr


def test_an_entry_point_that_names_no_module_is_named(tmp_path: Path):
    install(tmp_path, "odd", GOOD)
    (tmp_path / "odd-1.2.3.dist-info" / "entry_points.txt").write_text("[akbench]\nodd = 5 5:\n")
    assert "of odd 1.2.3 is not usable: ValueError: its entry point '5 5:' names no module" in (
        akbench(tmp_path, "agent", "list").stderr
    )


def test_an_interruption_and_a_crash_name_the_extension_that_was_loaded(tmp_path: Path):
    install(tmp_path, "endless", "raise KeyboardInterrupt")
    done = akbench(tmp_path, "agent", "list")
    assert done.returncode == 130
    assert "interrupted while extension 'endless' of endless 1.2.3 was loaded; AKBENCH_DISABLE=endless" in done.stderr
    (tmp_path / "endless_hooks.py").write_text("import ctypes; ctypes.string_at(0)")
    done = akbench(tmp_path, "agent", "list")
    assert done.returncode < 0
    assert "endless_hooks.py" in done.stderr


def test_a_slow_extension_is_named_while_it_is_waited_for(capsys: pytest.CaptureFixture[str], monkeypatch: Any):
    monkeypatch.setattr("akbench.foreign._PATIENCE", 0.01)
    with loading("slow", "slow 1.0"):
        time.sleep(0.3)
    assert "waiting: extension 'slow' of slow 1.0 is still being loaded" in capsys.readouterr().err


def test_damaged_metadata_hides_no_other_extension_and_is_named(tmp_path: Path):
    install(tmp_path, "broken", "raise RuntimeError('boom')")
    install(tmp_path, "damaged", GOOD)
    install(tmp_path, "mangled", "raise RuntimeError('bang')")
    install(tmp_path, "zzz-good", GOOD)
    (tmp_path / "broken-1.2.3.dist-info" / "METADATA").unlink()
    (tmp_path / "damaged-1.2.3.dist-info" / "entry_points.txt").write_bytes(b"[akbench]\n\xff = x\n")
    (tmp_path / "mangled-1.2.3.dist-info" / "METADATA").write_bytes(b"Metadata-Version: 2.1\nName: \xff\n")
    done = akbench(tmp_path, "extension", "list", "--json")
    assert done.returncode == 0, done.stderr
    found = {each["name"]: each for each in json.loads(done.stdout)["extensions"]}
    causes = {name: found[name]["cause"] for name in ("broken", "damaged", "mangled", "zzz-good")}
    assert causes["broken"] == "RuntimeError: boom"
    assert causes["damaged"].startswith("its metadata cannot be read: UnicodeDecodeError")
    assert causes["mangled"] == "RuntimeError: bang"
    assert causes["zzz-good"] is None
    assert {found[name]["distribution"] for name in causes} == {"broken", "damaged", "mangled", "zzz-good"}
    assert {found[name]["version"] for name in causes} == {"1.2.3"}


def test_an_adapter_that_exits_where_it_is_probed_is_named_and_the_others_are_shown(tmp_path: Path):
    source = GOOD.replace("nowhere:Nothing", "leaving:Leaving").replace(
        'summary="a test"', 'summary="a test", descriptors=("leaving_data:agent.yaml",)'
    )
    install(tmp_path, "leaving", source)
    (tmp_path / "leaving.py").write_text(
        "from akbench.builtin.agents import DoNothing\n"
        "class Leaving(DoNothing):\n    def probe(self, context): raise SystemExit(4)\n"
    )
    (tmp_path / "leaving_data").mkdir()
    (tmp_path / "leaving_data" / "__init__.py").write_text("")
    (tmp_path / "leaving_data" / "agent.yaml").write_text(agent_descriptor("leaving"))
    done = akbench(tmp_path, "agent", "inspect", "leaving", "--json")
    assert done.returncode == 0, done.stderr
    (problem,) = json.loads(done.stdout)["problems"]
    assert "adapter 'leaving-adapter' of leaving 1.2.3 cannot be probed: SystemExit: 4" in problem["message"]


def test_an_extension_can_be_left_out_by_name(tmp_path: Path):
    install(tmp_path, "aaa-broken", BROKEN["raises"][0])
    done = akbench(tmp_path, "agent", "list", "--json", AKBENCH_DISABLE="aaa-broken")
    assert json.loads(done.stdout)["failures"] == []


def test_strict_mode_raises_the_first_failure(tmp_path: Path):
    install(tmp_path, "aaa-broken", BROKEN["raises"][0])
    done = akbench(tmp_path, "agent", "list", AKBENCH_STRICT="1")
    assert done.returncode != 0
    assert "RuntimeError: boom" in done.stderr


def test_strict_mode_says_of_an_extension_that_exits_what_it_did(tmp_path: Path):
    install(tmp_path, "aaa-broken", "raise SystemExit(7)")
    done = akbench(tmp_path, "agent", "list", AKBENCH_STRICT="1")
    assert done.returncode != 0
    assert "it cannot be loaded: SystemExit: 7" in done.stderr


def test_a_broken_command_of_an_extension_leaves_help_working_and_is_named(tmp_path: Path):
    install(tmp_path, "zzz-good", GOOD)
    entry_points = tmp_path / "zzz_good-1.2.3.dist-info" / "entry_points.txt"
    entry_points.write_text("[akbench.commands]\nshiny = not_there:command\n")
    assert "shiny" in akbench(tmp_path, "--help").stdout
    done = akbench(tmp_path, "shiny")
    assert done.returncode == 3
    assert "command 'shiny' of zzz-good 1.2.3 cannot be loaded" in done.stderr


COMMANDS = """
import click
raise SystemExit("help must not import it")
@click.command()
@click.option("--times", help="No line of the command.")
def first(times):
    \"\"\"Do the first thing. And some more of it.\"\"\"
@click.command("second", short_help="Do the second thing.")
def second():
    \"\"\"Another text.\"\"\"
third = click.Command("third")
"""


def test_help_tells_the_line_of_each_command_of_an_extension_without_importing_it(tmp_path: Path):
    install(tmp_path, "zzz-good", GOOD)
    (tmp_path / "shiny.py").write_text(COMMANDS)
    info = tmp_path / "zzz_good-1.2.3.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zzz-good\nVersion: 1.2.3\nSummary: All of it\n")
    names = ("first", "second", "third")
    (info / "entry_points.txt").write_text("[akbench.commands]\n" + "".join(f"{n} = shiny:{n}\n" for n in names))
    lines = {" ".join(line.split()) for line in akbench(tmp_path, "--help").stdout.splitlines()}
    assert lines >= {
        "first Do the first thing. (zzz-good 1.2.3)",
        "second Do the second thing. (zzz-good 1.2.3)",
        "third All of it (zzz-good 1.2.3)",
    }


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


def test_hook_modules_load_no_part_of_the_contract_that_they_do_not_name():
    code = (
        "import sys, akbench.builtin.hooks; print(*[name for name in sys.modules if name.startswith('akbench.spec.')])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["akbench.spec.hooks"]


def test_every_promised_name_of_the_contract_is_there_and_no_other():
    assert [name for name in spec.__all__ if not hasattr(spec, name)] == []
    assert set(spec.__all__) <= set(dir(spec))
    with pytest.raises(AttributeError, match="no attribute 'AgentRekord'"):
        spec.AgentRekord  # noqa: B018 - the access is what is tested
