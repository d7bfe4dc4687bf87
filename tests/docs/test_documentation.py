"""The documentation says nothing that is not there."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from akbench.descriptors.document import parse
from akbench.descriptors.kinds import KINDS
from akbench.descriptors.snapshot import faults_of
from akbench.discovery import RECORDS
from akbench.spec import hooks

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "akbench*/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)
DESCRIPTOR = re.compile(r"^```yaml\n(schema_version: .*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(page: Path):
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def generator(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_reference_is_what_the_commands_say(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert (ROOT / "docs" / "CLI.md").read_text() == generator("generate_cli").page()


def test_the_tables_of_the_descriptor_pages_are_what_the_models_say():
    pages = generator("generate_descriptors").pages()
    assert len(pages) == 4
    for page, text in pages.items():
        assert page.read_text() == text, page.name


def test_the_hook_reference_is_what_the_hookspecs_say():
    assert (ROOT / "docs" / "HOOKS.md").read_text() == generator("generate_hooks").page()


def test_the_tables_of_the_contract_tests_are_what_their_docstrings_say():
    assert (ROOT / "docs" / "CONTRACT_TESTS.md").read_text() == generator("generate_contract_tests").page()


def test_the_table_of_adversaries_is_current():
    assert (ROOT / "docs" / "ISOLATION_AND_SECURITY.md").read_text() == generator("generate_adversaries").page()


def test_every_hook_that_is_called_is_in_the_reference_with_its_arguments():
    text = (ROOT / "docs" / "HOOKS.md").read_text()
    documented = re.findall(r"^## `(akbench_\w+)\(([\w, ]*)\)`$", text, re.MULTILINE)
    assert set(RECORDS) <= {name for name, _ in documented}
    specified = {name: each for name, each in vars(hooks).items() if name.startswith("akbench_")}
    assert {name: tuple(filter(None, arguments.split(", "))) for name, arguments in documented} == {
        name: each.__code__.co_varnames[: each.__code__.co_argcount] for name, each in specified.items()
    }


def test_every_descriptor_in_the_documentation_is_right():
    shown = [(page, parse(text, page.name)) for page in PAGES for text in DESCRIPTOR.findall(page.read_text())]
    descriptors = [(page, document) for page, document in shown if set(document.data) & set(KINDS)]
    assert {"DIMENSION_DESCRIPTORS.md", "CATEGORY_SYSTEM.md"} <= {page.name for page, _ in descriptors}
    assert [fault for _, document in descriptors for fault in faults_of(document)] == []


def test_every_page_is_reached_from_the_readme():
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        for target in LINK.findall(page.read_text()):
            linked = (page.parent / target).resolve()
            if "://" not in target and linked.exists():
                waiting.append(linked / "README.md" if (linked / "README.md").exists() else linked)
    assert [page for page in PAGES if page.resolve() not in {each.resolve() for each in seen}] == []
