"""What dead harnesses left at the engine: containers that were never started or never removed, and networks."""

from __future__ import annotations

import docker
import docker.errors
import requests

from akbench.ownership import Owner
from akbench.spec import Leftover
from akbench_sandbox_docker.engine import LABEL, OWNER, connected

__all__ = ["find", "remove"]

_CONTAINER = "container"
_NETWORK = "network"


def find() -> tuple[Leftover, ...]:
    """All of it whose owner is gone. Raises `HostError` where the engine does not tell."""
    ours = {"label": f"{LABEL}=1"}
    with connected() as api:
        containers = [(each["Id"], each.get("Labels")) for each in api.containers(all=True, filters=ours)]
        networks = [(each["Id"], each.get("Labels")) for each in api.networks(filters=ours)]
    return (
        *(Leftover(kind=_CONTAINER, name=name) for name, labels in containers if _is_abandoned(labels)),
        *(Leftover(kind=_NETWORK, name=name) for name, labels in networks if _is_abandoned(labels)),
    )


def _is_abandoned(labels: dict[str, str] | None) -> bool:
    owner = Owner.parse((labels or {}).get(OWNER, ""))
    return owner is not None and owner.is_gone()


def remove(leftover: Leftover) -> None:
    """Remove one of these; no error if it is gone by now."""
    with connected() as api:
        try:
            if leftover.kind == _NETWORK:
                api.remove_network(leftover.name)
            else:
                api.remove_container(leftover.name, force=True, v=True)
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as error:
            if error.status_code != requests.codes.conflict:  # the engine is removing it
                raise
