"""A sandbox as an environment descriptor sets it up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from akbench.spec import Leftover, ProcessEvidence, Sandbox, SandboxImage, SandboxProbe, SandboxRequest

__all__ = ["EnvironmentSandbox"]


class EnvironmentSandbox(Sandbox):
    """The sandbox `within`, in which every process runs in `image` and has these `bounds`, by their names in `Limits`.

    Wall clocks stay those of the requests. A request that names an image has its own.
    """

    def __init__(self, within: Sandbox, image: str | None, bounds: Mapping[str, int | float]) -> None:
        self._within, self._image, self._bounds = within, image, dict(bounds)
        self.bounded, self.honours = within.bounded, within.honours

    def find_image(self, name: str) -> SandboxImage:
        """As the sandbox does."""
        return self._within.find_image(name)

    def build_image(self, context: Path, dockerfile: str) -> SandboxImage:
        """As the sandbox does."""
        return self._within.build_image(context, dockerfile)

    def probe(self, image: str | None = None) -> SandboxProbe:
        """Try the sandbox, with the environment's image if no other one is named."""
        return self._within.probe(image or self._image)

    def inside(self, name: str, host: Path) -> str:
        """Where the sandbox shows it."""
        return self._within.inside(name, host)

    def program_root(self) -> str | None:
        """Where the sandbox shows programs."""
        return self._within.program_root()

    def model_port(self) -> int:
        """A port that is free in the sandbox."""
        return self._within.model_port()

    def own(self, path: Path) -> None:
        """As the sandbox does."""
        self._within.own(path)

    def run(self, request: SandboxRequest) -> ProcessEvidence:
        """Run the process in the sandbox, in the environment's image and with its bounds."""
        limits = replace(request.limits, **self._bounds)  # type: ignore[arg-type]  # names and types are the descriptor's
        return self._within.run(replace(request, image=request.image or self._image, limits=limits))

    def leftovers(self) -> tuple[Leftover, ...]:
        """The sandbox's."""
        return self._within.leftovers()

    def remove(self, leftover: Leftover) -> None:
        """Have the sandbox remove it."""
        self._within.remove(leftover)
