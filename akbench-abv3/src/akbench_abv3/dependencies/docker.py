"""Whether a Docker engine answers, and where."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akbench_abv3.completed import DOCKER_SOCKET, DOCKER_TIMEOUT_SECONDS, DOCKER_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DockerAnswer", "ask_docker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerAnswer:
    """The engine's address, or the reason why there is none."""

    host: str | None = None
    reason: str = ""


def ask_docker(environment: Mapping[str, str]) -> DockerAnswer:
    """Ask the engine for its version, waiting at most ten seconds."""
    host = environment.get(DOCKER_VARIABLE) or _of_context(environment) or _of_socket()
    if host is None:
        return DockerAnswer(reason="no Docker found (no DOCKER_HOST, no context, no socket)")
    asked = _docker(("version", "--format", "{{.Server.Version}}"), {**environment, DOCKER_VARIABLE: host})
    if isinstance(asked, str):
        return DockerAnswer(reason=asked)
    if asked.returncode != 0 or not asked.stdout.strip():
        first = (asked.stderr.strip().splitlines() or ["no answer"])[0]
        return DockerAnswer(reason=f"the Docker engine at {host} does not answer: {first}")
    return DockerAnswer(host=host)


def _of_context(environment: Mapping[str, str]) -> str | None:
    asked = _docker(("context", "inspect", "--format", "{{.Endpoints.docker.Host}}"), environment)
    if isinstance(asked, str) or asked.returncode != 0:
        return None
    return asked.stdout.strip() or None


def _of_socket() -> str | None:
    return f"unix://{DOCKER_SOCKET}" if os.path.exists(DOCKER_SOCKET) else None  # noqa: PTH110


def _docker(arguments: tuple[str, ...], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str] | str:
    try:
        return subprocess.run(
            ("docker", *arguments),
            env=dict(environment),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=DOCKER_TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return "the docker command is not installed"
    except (subprocess.TimeoutExpired, OSError) as error:
        return f"docker did not answer: {type(error).__name__}"
