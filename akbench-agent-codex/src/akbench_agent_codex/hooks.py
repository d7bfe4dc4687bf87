"""What this distribution registers with AK-Bench; light, as discovery imports it."""

from __future__ import annotations

from akbench.spec import AgentRecord, hookimpl

DESCRIPTORS = "akbench_agent_codex:descriptors"


@hookimpl
def akbench_register_agents() -> tuple[AgentRecord, ...]:
    """The agent `codex`."""
    return (
        AgentRecord(
            id="codex_cli",
            target="akbench_agent_codex.adapter:CodexAgent",
            summary="runs the Codex CLI (codex exec)",
            descriptors=(f"{DESCRIPTORS}/codex.yaml",),
        ),
    )
