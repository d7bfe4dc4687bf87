"""The kit for testing agents without a model, and the contract tests of adapters.

The contract classes need pytest (``akbench-core[testing]``) and are imported on first use. The pytest fixtures are in
`akbench.testing.fixtures`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from akbench.testing.script import Action, Fault, Script, Step, TokenUsage, parse_scripts, read_scripts
from akbench.testing.scripted_model import RequestRecord, ScriptedModel

if TYPE_CHECKING:
    from akbench.testing.contract.agent import AgentContract as AgentContract
    from akbench.testing.contract.agent_stage import AgentLimits as AgentLimits

_CONTRACTS = {
    "AgentContract": "akbench.testing.contract.agent",
    "AgentLimits": "akbench.testing.contract.agent_stage",
}

__all__ = [
    "Action",
    "AgentContract",
    "AgentLimits",
    "Fault",
    "RequestRecord",
    "Script",
    "ScriptedModel",
    "Step",
    "TokenUsage",
    "parse_scripts",
    "read_scripts",
]


def __getattr__(name: str) -> Any:
    if name not in _CONTRACTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_CONTRACTS[name]), name)
