"""The core knows no agent, router, model or plugin by name."""

import re
from pathlib import Path

import akbench

NAMES = re.compile(
    r"codex|claude|gemini|opencode|aider|goose|llm[-_ ]?router|agentic_knowledge|auto_codex|gpt-|openai\b",
    re.IGNORECASE,
)
SOURCE = Path(akbench.__file__).parent
CONTRACT_KIT = SOURCE / "testing"
"""The scripted model speaks one public API, whose name it has to say."""
STARTER = SOURCE / "cli" / "starter"
"""The commented experiment shows how a provider would be named."""


def test_no_file_of_the_core_names_a_product():
    found = [
        f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"
        for path in sorted(SOURCE.rglob("*"))
        if path.suffix in {".py", ".yaml", ".md"} and CONTRACT_KIT not in path.parents and STARTER not in path.parents
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if NAMES.search(line)
    ]
    assert found == []
