"""The built-in agents, sandboxes, dimension, metrics and categories."""

from __future__ import annotations

from akbench.spec import (
    AgentRecord,
    DescriptorRecord,
    DimensionRecord,
    MetricRecord,
    SandboxRecord,
    hookimpl,
)

DESCRIPTORS = "akbench.builtin:descriptors"
CATEGORIES = (
    "bug_fix",
    "new_feature",
    "refactoring",
    "performance",
    "testing",
    "security",
    "debugging",
    "code_review",
    "architecture",
)
METRICS = (
    "task_success_rate",
    "hidden_test_pass_rate",
    "execution_time",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "model_requests",
    "tool_calls",
    "total_cost",
)


@hookimpl
def akbench_register_agents() -> tuple[AgentRecord, ...]:
    """Two controls and the generic command agent."""
    return (
        AgentRecord(
            id="reference_solution",
            target="akbench.builtin.agents:ReferenceSolution",
            summary="applies the task's reference solution",
            descriptors=(f"{DESCRIPTORS}/oracle.yaml",),
        ),
        AgentRecord(
            id="do_nothing",
            target="akbench.builtin.agents:DoNothing",
            summary="ends at once without touching anything",
            descriptors=(f"{DESCRIPTORS}/noop.yaml",),
        ),
        AgentRecord(
            id="command",
            target="akbench.builtin.agents:Command",
            summary="runs any command line given as a template",
            descriptors=(f"{DESCRIPTORS}/command.yaml",),
        ),
    )


@hookimpl
def akbench_register_sandboxes() -> tuple[SandboxRecord, ...]:
    """Each with its default environment, which has the sandbox's own id."""
    return (
        SandboxRecord(
            id="bubblewrap",
            target="akbench.sandbox.bubblewrap:BubblewrapSandbox",
            summary="Linux namespaces without a daemon: no network, no host files",
            descriptors=(f"{DESCRIPTORS}/environment_bubblewrap.yaml",),
        ),
        SandboxRecord(
            id="local",
            target="akbench.sandbox.local:LocalSandbox",
            summary="no confinement; only the processes are swept up",
            descriptors=(f"{DESCRIPTORS}/environment_local.yaml",),
        ),
    )


@hookimpl
def akbench_register_dimensions() -> tuple[DimensionRecord, ...]:
    """The choice of the agent, and the two settings that most agents have in common."""
    names = ("agent", "model", "reasoning_effort")
    return tuple(DimensionRecord(descriptor=f"{DESCRIPTORS}/dimension_{name}.yaml") for name in names)


@hookimpl
def akbench_register_metrics() -> tuple[MetricRecord, ...]:
    """The metrics of quality and consumption."""
    return tuple(
        MetricRecord(
            id=name,
            target=f"akbench.metrics.builtin:{name}",
            summary=name.replace("_", " "),
            descriptors=(f"{DESCRIPTORS}/metric_{name}.yaml",),
        )
        for name in METRICS
    )


@hookimpl
def akbench_register_descriptors() -> tuple[DescriptorRecord, ...]:
    """The categories of tasks."""
    return tuple(DescriptorRecord(descriptor=f"{DESCRIPTORS}/category_{name}.yaml") for name in CATEGORIES)
