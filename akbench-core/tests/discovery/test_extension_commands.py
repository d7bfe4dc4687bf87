"""``akbench extension``: five broken extensions among good ones are named with their causes; the rest works."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from made_extensions import GOOD, akbench, install, install_agent

from akbench.testing.hook_imports import hook_imports

BROKEN = {
    "broken-descriptor": ("", "unknown key"),
    "broken-exit": ("raise SystemExit(7)", "SystemExit: 7"),
    "broken-hook": (GOOD.replace("register_agents", "register_agnets"), "unknown hook"),
    "broken-import": ("import does_not_exist_anywhere", "does_not_exist_anywhere"),
    "broken-version": (GOOD.replace('summary="a test"', 'summary="a test", api=99'), "API version 99"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name in ("fake-one", "fake-two", "fake-off"):
        install_agent(folder, name)
    for name, (source, _) in BROKEN.items():
        if source:
            install(folder, name, source)
    install_agent(folder, "broken-descriptor")
    descriptor = folder / "broken_descriptor" / "agent.yaml"
    descriptor.write_text(descriptor.read_text().replace("adapter: broken", "adaptor: broken"))
    return folder


@pytest.fixture(scope="module")
def listed(site: Path) -> dict[str, dict[str, object]]:
    done = akbench(site, "extension", "list", "--json", AKBENCH_DISABLE="fake-off")
    assert done.returncode == 0, done.stderr
    return {each["name"]: each for each in json.loads(done.stdout)["extensions"]}


def test_the_broken_ones_are_named_with_distribution_version_and_cause(listed):
    broken = {name: each for name, each in listed.items() if each["state"] == "failed"}
    assert set(broken) == set(BROKEN)
    for name, each in broken.items():
        assert (each["distribution"], each["version"]) == (name, "1.2.3")
    causes = {name: each["cause"] for name, each in broken.items()}
    assert "unknown key 'adaptor'; did you mean 'adapter'?" in causes.pop("broken-descriptor")
    assert {name: BROKEN[name][1] in cause for name, cause in causes.items()} == dict.fromkeys(causes, True)


def test_the_others_are_listed_with_what_they_bring(listed):
    assert listed["fake-one"]["state"] == "ok"
    assert listed["fake-one"]["brings"] == {"agent": ["fake-one-adapter"]}
    assert {"agent", "sandbox", "metric"} <= set(listed["akbench-core"]["brings"])
    assert listed["fake-off"]["state"] == "disabled"
    assert listed["fake-off"]["brings"] == {}


def test_agents_of_the_others_are_listed_beside_five_broken_extensions(site: Path):
    done = akbench(site, "agent", "list")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("fake-one", "fake-two", "oracle"))
    assert [name for name in BROKEN if f"of {name} 1.2.3 is not usable" not in done.stderr] == []


def test_show_tells_records_descriptors_hooks_and_the_missing_verdict(site: Path, tmp_path: Path):
    done = akbench(site, "extension", "show", "fake-one", "--json", AKBENCH_STATE=str(tmp_path))
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["api"] == [1]
    assert shown["records"][0]["target"] == "fake_one.adapter:Agent"
    assert [(each["kind"], each["id"]) for each in shown["descriptors"]] == [("agent", "fake-one")]
    assert shown["hooks"]["light"] is True
    assert shown["verdicts"] == [{"kind": "agent", "adapter": "fake-one-adapter", "verdict": None}]
    assert "not tested with the installed versions" in akbench(site, "extension", "show", "fake-one").stdout


def test_check_is_content_with_a_good_extension(site: Path):
    done = akbench(site, "extension", "check", "fake-two", "--no-contract")
    assert done.returncode == 0, done.stderr
    assert "fake_two.adapter:Agent can be imported" in done.stdout


def test_check_tries_an_agent_and_keeps_its_verdict(site: Path, tmp_path: Path):
    state = {"AKBENCH_STATE": str(tmp_path / "state")}
    done = akbench(site, "extension", "check", "fake-two", "--json", **state)
    assert done.returncode == 0, done.stdout + done.stderr
    (contract,) = [each for each in json.loads(done.stdout)["findings"] if each["what"].startswith("contract")]
    assert (contract["what"], contract["ok"]) == ("contract of agent fake-two-adapter", True)
    (kept,) = json.loads(akbench(site, "extension", "show", "fake-two", "--json", **state).stdout)["verdicts"]
    assert kept["verdict"]["is_pass"]
    assert (kept["verdict"]["passed"], kept["verdict"]["failed"]) == (20, [])


def test_check_names_the_contract_test_that_an_agent_fails(tmp_path: Path):
    install_agent(tmp_path, "liar")
    adapter = tmp_path / "liar" / "adapter.py"
    adapter.write_text(
        adapter.read_text().replace(": pass", ":")
        + "    def interpret(self, evidence):\n"
        + "        return AgentOutcome(status=AgentStatus.COMPLETED)\n"
        + "from akbench.spec import AgentOutcome, AgentStatus\n"
    )
    done = akbench(tmp_path, "extension", "check", "liar", "--json", AKBENCH_STATE=str(tmp_path / "state"))
    assert done.returncode == 1, done.stderr
    (wrong,) = [each for each in json.loads(done.stdout)["findings"] if not each["ok"]]
    assert wrong["what"] == "contract of agent liar-adapter"
    assert "test_a_broken_program_has_completed_nothing" in wrong["detail"]


def test_check_names_every_fault_and_ends_with_one(site: Path):
    done = akbench(site, "extension", "check", "broken-descriptor", "--json")
    assert done.returncode == 1, done.stderr
    wrong = {each["what"]: each["detail"] for each in json.loads(done.stdout)["findings"] if not each["ok"]}
    assert set(wrong) == {"registration", "descriptor agent.yaml"}
    assert "broken_descriptor:agent.yaml:5:3: unknown key 'adaptor'" in wrong["descriptor agent.yaml"]
    assert "missing key 'agent.adapter'" in wrong["descriptor agent.yaml"]


def test_check_finds_that_nothing_is_registered(tmp_path: Path):
    install(tmp_path, "hollow", "")
    done = akbench(tmp_path, "extension", "check", "hollow", "--json")
    assert done.returncode == 1
    (wrong,) = [each for each in json.loads(done.stdout)["findings"] if not each["ok"]]
    assert "registers nothing: hollow_hooks implements no hook" in wrong["detail"]


def test_a_name_that_disables_nothing_and_the_way_past_a_broken_one_are_said(site: Path):
    done = akbench(site, "extension", "list", AKBENCH_DISABLE="fake-of")
    assert "AKBENCH_DISABLE names 'fake-of', and no extension of that name is installed" in done.stderr
    assert "mend: AKBENCH_DISABLE=broken-import" in done.stdout
    assert max(len(line) for line in done.stdout.partition("failed   broken-descriptor")[2].splitlines()) <= 100


def test_check_finds_an_adapter_that_cannot_be_imported_and_heavy_hooks(tmp_path: Path):
    install(tmp_path, "heavy", "import ruamel.yaml, akbench.discovery\n" + GOOD)
    done = akbench(tmp_path, "extension", "check", "heavy", "--json")
    assert done.returncode == 1
    wrong = {each["what"]: each["detail"] for each in json.loads(done.stdout)["findings"] if not each["ok"]}
    assert "at discovery time: ruamel" in wrong["hooks"]
    assert "more of AK-Bench than akbench.spec: akbench.discovery" in wrong["hooks"]
    assert "ModuleNotFoundError" in wrong["agent heavy-adapter"]


def test_an_unknown_extension_is_bad_input_with_a_suggestion_also_as_json(site: Path):
    done = akbench(site, "extension", "show", "fake-onee", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "error": {"message": "unknown extension 'fake-onee'; did you mean 'fake-one'?", "place": None, "exit_code": 2}
    }
    assert "error: unknown extension 'fake-onee'" in done.stderr


def test_an_error_tells_its_place_apart_as_json(tmp_path: Path):
    done = akbench(tmp_path, "agent", "list", "--json", "--project", "nowhere")
    error = json.loads(done.stdout)["error"]
    assert (error["place"], error["exit_code"]) == ("nowhere", 2)
    assert error["message"].startswith("no such folder")


def test_a_usage_error_is_an_object_where_json_is_asked_for(tmp_path: Path):
    done = akbench(tmp_path, "descriptor", "list", "--kind", "planet", "--json")
    assert done.returncode == 2
    assert "'planet' is not one of" in json.loads(done.stdout)["error"]["message"]


def test_hooks_that_import_their_adapter_are_not_light(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    install_agent(tmp_path, "eager")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert hook_imports("eager_hooks", ["eager.adapter:Agent"]).is_light
    hooks = tmp_path / "eager_hooks.py"
    hooks.write_text("import eager.adapter\n" + hooks.read_text())
    found = hook_imports("eager_hooks", ["eager.adapter:Agent"])
    assert found.adapters == ("eager.adapter",)
    assert "akbench.builtin.agents" in found.of_core


def test_hooks_that_never_end_are_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "endless.py").write_text("import time; time.sleep(600)")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("akbench.testing.hook_imports._LONGEST_SECONDS", 1)
    assert hook_imports("endless").error == "not done after 1 seconds"


NOT_NEEDED = ("sqlmodel", "sqlalchemy", "alembic", "docker", "dulwich", "jinja2", "requests", "structlog", "asyncio")


def test_listing_agents_loads_nothing_that_it_does_not_need(site: Path):
    code = (
        "import sys\nfrom akbench.cli import cli\n"
        "cli.main(['agent', 'list'], standalone_mode=False)\n"
        f"print('loaded:', *[name for name in {NOT_NEEDED} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=site)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"
