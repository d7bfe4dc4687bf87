"""Writes the tables of CONTRACT_TESTS.md from the tests' docstrings. With --check: fails if they are out of date."""

import inspect
import re
import sys
from pathlib import Path

from akbench.testing import AgentContract, EvaluatorContract, PluginContract, RuntimeContract, SandboxContract

PAGE = Path(__file__).with_name("CONTRACT_TESTS.md")
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
CONTRACTS = {
    "agent": AgentContract,
    "runtime": RuntimeContract,
    "plugin": PluginContract,
    "evaluator": EvaluatorContract,
    "sandbox": SandboxContract,
}


def page() -> str:
    """The page with all tables made anew."""
    return BLOCK.sub(_filled, PAGE.read_text())


def _filled(block: re.Match[str]) -> str:
    return f"{block[1]}\n{table(CONTRACTS[block[2]])}\n\n{block[4]}"


def table(contract: type) -> str:
    """Every test of a contract with what it demands, in the order of the source."""
    tests = [getattr(contract, name) for name in dir(contract) if name.startswith("test_")]
    tests.sort(key=lambda test: (test.__module__ != contract.__module__, test.__code__.co_firstlineno))
    rows = [f"| `{test.__name__}` | {' '.join(str(inspect.getdoc(test)).split())} |" for test in tests]
    return "\n".join(("| test | what it demands |", "|---|---|", *rows))


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    sys.exit(page() != PAGE.read_text())
