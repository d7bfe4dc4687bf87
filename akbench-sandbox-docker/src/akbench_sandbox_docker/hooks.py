"""What this distribution brings: the sandbox ``docker`` and the environment of the same name."""

from __future__ import annotations

from akbench.spec import SandboxRecord, hookimpl


@hookimpl
def akbench_register_sandboxes() -> tuple[SandboxRecord, ...]:
    """The sandbox and its default environment."""
    return (
        SandboxRecord(
            id="docker",
            target="akbench_sandbox_docker.sandbox:DockerSandbox",
            summary="a container without network for each process tree; memory and processors are bounded too",
            descriptors=("akbench_sandbox_docker:descriptors/docker.yaml",),
        ),
    )
