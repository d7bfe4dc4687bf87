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
    from akbench.testing.contract.evaluator import EvaluatorContract as EvaluatorContract
    from akbench.testing.contract.plugin import PluginContract as PluginContract
    from akbench.testing.contract.runtime import RuntimeContract as RuntimeContract
    from akbench.testing.contract.runtime import RuntimeLimits as RuntimeLimits
    from akbench.testing.contract.sandbox import SandboxContract as SandboxContract

_CONTRACTS = {
    "AgentContract": "akbench.testing.contract.agent",
    "AgentLimits": "akbench.testing.contract.agent_stage",
    "EvaluatorContract": "akbench.testing.contract.evaluator",
    "PluginContract": "akbench.testing.contract.plugin",
    "RuntimeContract": "akbench.testing.contract.runtime",
    "RuntimeLimits": "akbench.testing.contract.runtime",
    "SandboxContract": "akbench.testing.contract.sandbox",
}

__all__ = [
    "Action",
    "AgentContract",
    "AgentLimits",
    "EvaluatorContract",
    "Fault",
    "PluginContract",
    "RequestRecord",
    "RuntimeContract",
    "RuntimeLimits",
    "SandboxContract",
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
