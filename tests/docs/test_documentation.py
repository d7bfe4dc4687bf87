"""The documentation says nothing that is not there."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "akbench*/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(page: Path):
    targets = [target for target in LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_command_reference_is_what_the_commands_say(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    spec = importlib.util.spec_from_file_location("generate_cli", ROOT / "docs" / "generate_cli.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert (ROOT / "docs" / "CLI.md").read_text() == generator.page()


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
