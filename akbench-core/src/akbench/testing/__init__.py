"""The kit for testing agents without a model. Its pytest fixtures are in `akbench.testing.fixtures`."""

from __future__ import annotations

from akbench.testing.script import Action, Fault, Script, Step, TokenUsage, parse_scripts, read_scripts
from akbench.testing.scripted_model import RequestRecord, ScriptedModel

__all__ = [
    "Action",
    "Fault",
    "RequestRecord",
    "Script",
    "ScriptedModel",
    "Step",
    "TokenUsage",
    "parse_scripts",
    "read_scripts",
]
