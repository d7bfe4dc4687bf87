"""The contract between AK-Bench and its extensions. Everything in `__all__` is promised; nothing else is.

A module of the contract is imported when a name of it is first asked for: discovery needs records, not adapters.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from akbench.spec.agent import (
        AgentEvidence,
        AgentOutcome,
        AgentRequest,
        AgentStatus,
        ModelAccess,
        ProcessAgent,
        ProcessSession,
        SessionAgent,
        SessionStatus,
        ToolCall,
        TraceEvent,
    )
    from akbench.spec.dataset_import import (
        GitRepository,
        ImageFolder,
        ImportedDataset,
        ImportedImage,
        ImportedTask,
        SolutionScript,
    )
    from akbench.spec.errors import AkbenchError, ExtensionError, HostError, InputError, PlanRejectedError
    from akbench.spec.evaluator import (
        EvaluationEvidence,
        EvaluationInvocation,
        EvaluationRequest,
        Evaluator,
        Judgement,
        Outcome,
        TestResult,
        TestRole,
        TreeKind,
    )
    from akbench.spec.hooks import (
        API_VERSION,
        AgentRecord,
        DatasetImporterRecord,
        DescriptorRecord,
        DimensionRecord,
        EvaluatorRecord,
        ExporterRecord,
        ImporterRecord,
        MetricRecord,
        PluginRecord,
        Record,
        RuntimeRecord,
        SandboxRecord,
        hookimpl,
    )
    from akbench.spec.measure import (
        CAPABILITIES,
        Capability,
        ConfigState,
        JsonValue,
        Reading,
        Support,
        Usage,
        VerificationStatus,
        unavailable,
    )
    from akbench.spec.metric import RunFacts
    from akbench.spec.plugin import Plugin, PluginEvidence, PluginFinding
    from akbench.spec.probe import Probe, ProbeContext, Problem
    from akbench.spec.process import Artifact, Host, Invocation, Mount, ProcessEvidence, RunningProcess
    from akbench.spec.runtime import Health, ProviderAccess, Runtime, RuntimeEvent, RuntimeRequest, RuntimeState
    from akbench.spec.sandbox import (
        TASK_IMAGES,
        Bind,
        Leftover,
        Limits,
        Sandbox,
        SandboxImage,
        SandboxProbe,
        SandboxRequest,
    )

__all__ = [
    "API_VERSION",
    "CAPABILITIES",
    "TASK_IMAGES",
    "AgentEvidence",
    "AgentOutcome",
    "AgentRecord",
    "AgentRequest",
    "AgentStatus",
    "AkbenchError",
    "Artifact",
    "Bind",
    "Capability",
    "ConfigState",
    "DatasetImporterRecord",
    "DescriptorRecord",
    "DimensionRecord",
    "EvaluationEvidence",
    "EvaluationInvocation",
    "EvaluationRequest",
    "Evaluator",
    "EvaluatorRecord",
    "ExporterRecord",
    "ExtensionError",
    "GitRepository",
    "Health",
    "Host",
    "HostError",
    "ImageFolder",
    "ImportedDataset",
    "ImportedImage",
    "ImportedTask",
    "ImporterRecord",
    "InputError",
    "Invocation",
    "JsonValue",
    "Judgement",
    "Leftover",
    "Limits",
    "MetricRecord",
    "ModelAccess",
    "Mount",
    "Outcome",
    "PlanRejectedError",
    "Plugin",
    "PluginEvidence",
    "PluginFinding",
    "PluginRecord",
    "Probe",
    "ProbeContext",
    "Problem",
    "ProcessAgent",
    "ProcessEvidence",
    "ProcessSession",
    "ProviderAccess",
    "Reading",
    "Record",
    "RunFacts",
    "RunningProcess",
    "Runtime",
    "RuntimeEvent",
    "RuntimeRecord",
    "RuntimeRequest",
    "RuntimeState",
    "Sandbox",
    "SandboxImage",
    "SandboxProbe",
    "SandboxRecord",
    "SandboxRequest",
    "SessionAgent",
    "SessionStatus",
    "SolutionScript",
    "Support",
    "TestResult",
    "TestRole",
    "ToolCall",
    "TraceEvent",
    "TreeKind",
    "Usage",
    "VerificationStatus",
    "hookimpl",
    "unavailable",
]

_MODULES = (
    "hooks",
    "errors",
    "measure",
    "probe",
    "process",
    "agent",
    "evaluator",
    "dataset_import",
    "metric",
    "runtime",
    "plugin",
    "sandbox",
)
"""Where the names are, in the order in which they are looked for; what hook modules need comes first."""

if not TYPE_CHECKING:  # a type checker sees the imports above, and misses no name that is not there

    def __getattr__(name: str) -> Any:
        for module in _MODULES if name in __all__ else ():
            found = import_module(f"{__name__}.{module}")
            if name in found.__all__:
                globals()[name] = getattr(found, name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
