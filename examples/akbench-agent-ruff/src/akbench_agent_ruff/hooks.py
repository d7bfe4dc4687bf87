"""What this distribution registers with AK-Bench. Imported at every start: import `akbench.spec` only."""

from __future__ import annotations

from akbench.spec import AgentRecord, hookimpl


@hookimpl
def akbench_register_agents() -> tuple[AgentRecord, ...]:
    """The agent `ruff`."""
    return (
        AgentRecord(
            id="ruff_check",
            target="akbench_agent_ruff.adapter:RuffAgent",
            summary="runs ruff check --fix",
            descriptors=("akbench_agent_ruff:descriptors/ruff.yaml",),
        ),
    )
