"""Registers the agent."""

from akbench.spec import AgentRecord, hookimpl


@hookimpl
def akbench_register_agents():
    return [
        AgentRecord(
            id="tracer",
            target="tracer_agent:Tracer",
            summary="tells what it did",
            descriptors=("tracer_data:tracer.yaml",),
        )
    ]
